"""Confidence intervals."""

import numpy as np
import pytest

from harness.bench import bootstrap
from harness.bench.bootstrap import draws, interval

MASK = 2**64 - 1


def splitmix(seed, count):
    """The published generator, in plain Python."""
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def test_draws_are_those_of_the_generator():
    wanted = [((value >> 32) * 7) >> 32 for value in splitmix(123, 21)]
    (drawn,) = draws(123, [7], 0, 3)
    assert drawn.ravel().tolist() == wanted


def test_groups_share_one_stream():
    top = [value >> 32 for value in splitmix(5, 10)]
    two, three = draws(5, [2, 3], 1, 1)
    assert two.tolist() == [[(top[place] * 2) >> 32 for place in (5, 6)]]
    assert three.tolist() == [[(top[place] * 3) >> 32 for place in (7, 8, 9)]]


def test_an_interval_holds_the_mean_of_a_normal_sample():
    values = np.random.default_rng(3).normal(0.5, 0.1, 400)
    low, high = interval([values], seed=1, resamples=1000)
    assert low < values.mean() < high
    # ± 1.96 standard errors
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.1)
    assert interval([values], seed=1, resamples=1000) == (low, high)


def test_groups_count_alike():
    low, high = interval([np.zeros(3), np.ones(500)], seed=1, resamples=100)
    assert low == high == 0.5


def test_nothing_to_resample():
    assert interval([], seed=1, resamples=10) == (None, None)
    assert interval([np.ones(3)], seed=1, resamples=0) == (None, None)
    assert interval([np.full(4, 0.25)], seed=1, resamples=1) == (0.25, 0.25)


def test_groups_are_drawn_apart():
    values = np.random.default_rng(3).random(200)
    low, high = interval([values, 1 - values], seed=1, resamples=2000)
    # two means that know nothing of each other: half their common variance
    wanted = 2 * 1.96 * np.sqrt(2 * values.var() / len(values)) / 2
    assert high - low == pytest.approx(wanted, rel=0.1)
    assert low < 0.5 < high


def test_blocks_of_resamples_change_nothing(monkeypatch):
    groups = [np.random.default_rng(n).random(10 + n) for n in range(3)]
    whole = interval(groups, seed=9, resamples=500)
    asked = []

    def counted(seed, sizes, first, count):
        asked.append(count * sum(sizes))
        return draws(seed, sizes, first, count)

    monkeypatch.setattr(bootstrap, "HELD_DRAWS", 100)
    monkeypatch.setattr(bootstrap, "draws", counted)
    assert interval(groups, seed=9, resamples=500) == whole
    assert max(asked) <= 100
    assert sum(asked) == 500 * 33
