"""Replays by Zipf's law: how often each query is asked, and that a seed repeats it."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from loadtest.profile import LoadProfile
from loadtest.schedule import Replay, query_cycle, zipf_draws, zipf_shares

RUNNABLE = np.array([3, 4, 7, 11, 12, 20, 21, 30], dtype=np.int32)


def profile(exponent=None, seed=123):
    return LoadProfile(rate_per_s=100.0, seed=seed, zipf_exponent=exponent)


def test_shares_of_four_ranks():
    # 1, 1/2, 1/3, 1/4 over their sum 25/12
    assert zipf_shares(4, 1.0) == pytest.approx([0.48, 0.24, 0.16, 0.12], abs=1e-12)
    # 1, 1/4, 1/9 over their sum 49/36
    assert zipf_shares(3, 2.0) == pytest.approx([36 / 49, 9 / 49, 4 / 49], abs=1e-12)
    assert zipf_shares(3, 0.0) == pytest.approx([1 / 3] * 3, abs=1e-12)


@pytest.mark.parametrize("exponent", [0.0, 0.7, 1.0, 1.5])
def test_frequencies_follow_the_law(exponent):
    n = 40_000
    drawn = Counter(islice(zipf_draws(RUNNABLE, exponent, seed=9), n))
    weights = [1 / rank**exponent for rank in range(1, len(RUNNABLE) + 1)]
    expected = [n * weight / sum(weights) for weight in weights]
    found = [drawn[query] for query in RUNNABLE.tolist()]
    chi_square = sum((f - e) ** 2 / e for f, e in zip(found, expected, strict=True))
    assert chi_square < 24.32  # 99.9 % point at 7 degrees of freedom
    assert sum(found) == n


def test_the_most_frequent_query_is_the_first_of_the_seeded_order():
    for seed in (1, 2, 3):
        order = query_cycle(RUNNABLE, seed)
        asked = Counter(Replay(RUNNABLE, profile(1.5, seed)).measured(4000).tolist())
        assert [query for query, _ in asked.most_common(2)] == order[:2].tolist()


def test_a_seed_repeats_and_another_does_not():
    one = Replay(RUNNABLE, profile(1.0)).measured(5000)
    assert one.dtype == np.int32
    assert np.array_equal(one, Replay(RUNNABLE, profile(1.0)).measured(5000))
    assert np.array_equal(one[:100], Replay(RUNNABLE, profile(1.0)).measured(100))
    assert not np.array_equal(one, Replay(RUNNABLE, profile(1.0, seed=5)).measured(5000))


def test_every_phase_draws_on_its_own():
    replay = Replay(RUNNABLE, profile(1.0))
    phases = [
        list(islice(replay.warm_up(), 200)),
        replay.measured(200).tolist(),
        list(islice(replay.burst(0), 200)),
    ]
    assert len({tuple(phase) for phase in phases}) == 3
    assert {query for phase in phases for query in phase} <= set(RUNNABLE.tolist())


def test_asked_alike_is_the_cycle_backwards_then_forwards_then_on():
    replay, order = Replay(RUNNABLE, profile()), query_cycle(RUNNABLE, 123).tolist()
    assert list(islice(replay.warm_up(), 10)) == [*order[::-1], *order[::-1][:2]]
    assert replay.measured(10).tolist() == [*order, *order[:2]]
    assert list(islice(replay.burst(10), 8)) == [*order[2:], *order[:2]]


def test_one_query_is_asked_again_and_again():
    assert Replay(RUNNABLE[:1], profile(1.0)).measured(3).tolist() == [3, 3, 3]


def test_a_trial_asks_by_the_law_and_the_rest_afterwards(runner, target, expected):
    load = LoadProfile(
        rate_per_s=1000, samples=400, burst_s=0.1, warmup_min=20, zipf_exponent=6.0, timeout_s=1.0
    )
    result = runner.run(target(k=3), load)
    order = query_cycle(np.arange(10, dtype=np.int32), load.seed)
    asked = Counter(result.query.tolist())
    assert asked[order[0]] > 380  # 1 / ζ(6) = 98 % of 400
    assert np.array_equal(result.query, Replay(np.arange(10, dtype=np.int32), load).measured(400))
    assert [row.tolist() for row in result.answers] == [expected(q, 3) for q in range(10)]
    without = np.flatnonzero(result.state == 2).tolist()
    assert without == sorted(set(range(10)) - set(asked))
    assert without
