"""The pick is a pure function of stored rows; expectations are worked by hand."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.settings import Setting
from harness.tuning.front import pareto
from harness.tuning.pick import choose
from harness.tuning.sla import Sla, feasible, flags
from harness.tuning.trial import Trial

SLA = Sla(100.0, "p99")
OBJECTIVE = "nDCG@10"


def trial(key, quality, p99, upper=None, *, p50=1.0, size=1000, baseline=False, null=0.0, flag=()):
    setting = Setting("simhash", "tables", "flat" if baseline else "lsh", 5, 8, 128, "code", 3)
    return Trial(
        key=key,
        setting=setting,
        baseline=baseline,
        status="ok",
        quality={OBJECTIVE: quality},
        latency_ms={"p99": p99, "p50": p50},
        service_ms={"p50": p50},
        upper_ms={"p99": p99 if upper is None else upper},
        samples=1000,
        index_bytes=size,
        flags=tuple(flag),
        null_ms={"latency": {"p99": null}, "service": {"p50": null}},
    )


def picked(*trials, tolerance=0.005):
    choice = choose(trials, SLA, OBJECTIVE, tolerance)
    return choice.pick.key if choice.pick else None


def test_the_bound_decides_not_the_estimate():
    assert picked(trial("a", 0.9, 90, upper=110), trial("b", 0.5, 90, upper=100)) == "b"


def test_within_tolerance_the_faster_wins():
    assert picked(trial("a", 0.900, 50), trial("b", 0.896, 20)) == "b"
    assert picked(trial("a", 0.900, 50), trial("b", 0.894, 20)) == "a"


def test_latencies_closer_than_the_clients_own_are_ties():
    slow_but_small = trial("a", 0.9, 21, size=10, null=2)
    assert picked(slow_but_small, trial("b", 0.9, 20, size=900, null=2)) == "a"
    assert picked(replace_null(slow_but_small, 0.5), trial("b", 0.9, 20, size=900, null=0.5)) == "b"


def replace_null(row, null):
    return replace(row, null_ms={"latency": {"p99": null}, "service": {"p50": null}})


def test_then_service_p50_then_size_then_key():
    assert picked(trial("a", 0.9, 20, p50=5), trial("b", 0.9, 20, p50=2)) == "b"
    assert picked(trial("a", 0.9, 20, size=7), trial("b", 0.9, 20, size=6)) == "b"
    assert picked(trial("b", 0.9, 20), trial("a", 0.9, 20)) == "a"


def test_a_baseline_is_picked_only_where_no_swept_setting_is_feasible():
    baseline = trial("base", 0.99, 5, baseline=True)
    choice = choose([baseline, trial("a", 0.5, 50)], SLA, OBJECTIVE, 0.005)
    assert choice.pick.key == "a"
    assert choice.enough.key == "base"
    assert picked(baseline, trial("a", 0.5, 500)) == "base"


def test_a_worse_baseline_is_not_enough():
    choice = choose(
        [trial("base", 0.4, 5, baseline=True), trial("a", 0.5, 50)], SLA, OBJECTIVE, 0.005
    )
    assert choice.enough is None


def test_saturated_failed_and_unbounded_trials_are_never_picked():
    saturated = trial("a", 0.9, 1, flag=["saturated"])
    failed = replace(trial("b", 0.9, 1), status="failed", error="gone")
    unbounded = replace(trial("c", 0.9, 1), upper_ms={"p99": None})
    assert picked(saturated, failed, unbounded) is None
    assert picked(saturated, failed, unbounded, trial("d", 0.1, 1)) == "d"


def test_the_nearest_miss_is_the_one_closest_to_the_limit():
    choice = choose(
        [trial("a", 0.9, 300), trial("b", 0.3, 150), trial("c", 0.5, 120, flag=["saturated"])],
        SLA,
        OBJECTIVE,
        0.005,
    )
    assert choice.pick is None
    assert choice.nearest_miss.key == "b"


def test_the_runner_up_is_what_would_be_picked_without_the_pick():
    rows = [trial("a", 0.9, 20), trial("b", 0.8, 10), trial("c", 0.7, 5)]
    choice = choose(rows, SLA, OBJECTIVE, 0.005)
    assert (choice.pick.key, choice.runner_up.key) == ("a", "b")


def test_the_order_of_rows_does_not_matter():
    rows = [
        trial(k, q, p)
        for k, q, p in [("a", 0.9, 50), ("b", 0.9, 50), ("c", 0.897, 30), ("d", 0.2, 1)]
    ]
    choices = {
        (c.pick.key, c.runner_up.key, c.front)
        for c in (choose(p, SLA, OBJECTIVE, 0.005) for p in itertools.permutations(rows))
    }
    assert choices == {("c", "a", ("d", "c", "a", "b"))}


def test_flags_that_depend_on_the_limit():
    row = trial("a", 0.9, 3.0, null=1.0)
    assert "client-bound" in flags(row, Sla(4.0))
    assert "client-bound" not in flags(row, Sla(5.0))
    assert "short-sample" in flags(replace(row, samples=299), SLA)
    assert "short-sample" not in flags(replace(row, samples=300), SLA)
    assert "noisy" in flags(trial("a", 0.9, 3.0, upper=6.1), SLA)
    assert "noisy" not in flags(trial("a", 0.9, 3.0, upper=6.0), SLA)


@pytest.mark.parametrize(("upper", "expected"), [(100.0, True), (100.1, False)])
def test_the_limit_itself_is_met(upper, expected):
    assert feasible(trial("a", 0.9, 50, upper=upper), SLA) is expected


def test_front_against_a_drawn_table():
    #  quality  .9 |        a(30)      b(40)
    #           .8 |  c(20)
    #           .7 |            d(25)
    #           .5 |  e(10) f(10)
    quality = np.array([0.9, 0.9, 0.8, 0.7, 0.5, 0.5])
    latency = np.array([30.0, 40.0, 20.0, 25.0, 10.0, 10.0])
    assert pareto(quality, latency).tolist() == [True, False, True, False, True, True]


POINT = st.tuples(st.integers(0, 6), st.integers(0, 6))


@given(st.lists(POINT, max_size=30))
def test_front_is_what_the_definition_says(points):
    def dominated(point):
        return any(
            other[0] >= point[0] and other[1] <= point[1] and other != point for other in points
        )

    quality = np.array([p[0] for p in points], dtype=np.float64)
    latency = np.array([p[1] for p in points], dtype=np.float64)
    assert pareto(quality, latency).tolist() == [not dominated(p) for p in points]


def test_sizes_are_held_against_sizes_of_the_same_alone():
    def of_fields(key, size):
        return replace(trial(key, 0.9, 20, size=size), field_bytes={"c": 1})

    # b is the smaller of the whole indexes, d of the fields: the key decides between these
    rows = [trial("a", 0.9, 20, size=9), trial("b", 0.9, 20, size=8)]
    rows += [of_fields("c", 7), of_fields("d", 6)]
    for shuffled in itertools.permutations(rows):
        assert picked(*shuffled) == "b"
    assert picked(*rows[2:]) == "d"
    assert picked(trial("a", 0.9, 20, size=None), of_fields("c", 7)) == "c"
    assert picked(trial("b", 0.9, 20, size=None), trial("a", 0.9, 20, size=None)) == "a"
