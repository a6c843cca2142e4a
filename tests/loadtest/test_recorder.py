from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadtest.recorder import carries, nearest_rank, statistics, upper_bounds

INF = math.inf


@pytest.mark.parametrize(("percent", "least"), [(99, 300), (95, 60), (90, 30), (50, 6)], ids=str)
def test_sample_needed_by_a_percentile(percent: int, least: int) -> None:
    assert carries(percent, least)
    assert not carries(percent, least - 1)


@pytest.mark.parametrize(
    ("values", "percent", "value"),
    [
        ([7.0], 99, 7.0),
        ([1.0, 2.0, 3.0, 4.0], 50, 2.0),  # half of the sample is at or below 2
        ([1.0, 2.0, 3.0, 4.0, 5.0], 50, 3.0),  # 2 has only two fifths
        (list(range(1, 21)), 95, 19),  # 0.95 · 20 = 19 exactly, though not in floating point
        (list(range(1, 101)), 99, 99),
        (list(range(1, 102)), 99, 100),
    ],
)
def test_nearest_rank(values: list[float], percent: int, value: float) -> None:
    assert nearest_rank(np.array(values, dtype=float), percent) == value


def test_statistics_by_hand() -> None:
    told = statistics(np.arange(300.0, 0.0, -1.0))
    assert told == {
        "mean": 150.5,
        "p50": 150.0,
        "p90": 270.0,
        "p95": 285.0,
        "p99": 297.0,
        "max": 300.0,
        "n": 300,
    }


def test_what_a_sample_cannot_tell_is_null() -> None:
    assert statistics(np.array([])) == dict.fromkeys(
        ("mean", "p50", "p90", "p95", "p99", "max")
    ) | {"n": 0}
    told = statistics(np.ones(299))
    assert told["p99"] is None
    assert told["p95"] == 1.0


def test_failures_are_infinite_and_null() -> None:
    told = statistics(np.array([1.0] * 297 + [INF] * 3))
    assert told["p99"] == 1.0  # 297 of 300 are at or below it
    assert told["max"] is None
    assert told["mean"] is None
    assert statistics(np.array([1.0] * 296 + [INF] * 4))["p99"] is None


def draws(seed: int, queries: int, resamples: int) -> list[list[int]]:
    """Which queries each resample draws, in plain integers: splitmix64, top half times queries."""
    state, outputs = seed % 2**64, []
    for _ in range(queries * resamples):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        outputs.append((z ^ (z >> 31)) >> 32)
    rows = [output * queries >> 32 for output in outputs]
    return [rows[r * queries : (r + 1) * queries] for r in range(resamples)]


def bound_by_hand(latency, query, percent, seed, resamples) -> float:
    """Draws whole queries, writes their samples out, and counts."""
    names = sorted(set(query))
    found = []
    for rows in draws(seed, len(names), resamples):
        drawn = sorted(
            x for r in rows for x, q in zip(latency, query, strict=True) if q == names[r]
        )
        if percent is None:
            found.append(sum(drawn) / len(drawn))
        else:
            found.append(next(x for i, x in enumerate(drawn, 1) if 100 * i >= percent * len(drawn)))
    return sorted(found)[math.ceil(0.95 * resamples) - 1]


@settings(max_examples=15, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=60, max_size=80),
    seed=st.integers(-5, 2**64 + 5),
    failing=st.integers(0, 3),
)
def test_upper_bounds_against_counting(sizes: list[int], seed: int, failing: int) -> None:
    query = np.repeat(np.arange(len(sizes)) * 7, sizes).astype(np.int32)
    rng = np.random.default_rng(len(query))
    latency = rng.integers(1, 50, len(query)).astype(float)
    latency[rng.permutation(len(query))[:failing]] = INF
    shuffled = rng.permutation(len(query))
    latency, query = latency[shuffled], query[shuffled]
    told = upper_bounds(latency, query, seed=seed, resamples=20)
    for name, percent in {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "mean": None}.items():
        least = {"p99": 300, "p95": 60, "p90": 30, "p50": 6, "mean": 1}[name]
        wanted = bound_by_hand(latency.tolist(), query.tolist(), percent, seed, 20)
        if len(query) < least or math.isinf(wanted):
            assert told[name] is None
        else:
            assert told[name] == pytest.approx(wanted, rel=1e-12)


def test_bounds_of_a_constant_are_the_constant() -> None:
    told = upper_bounds(np.full(300, 4.0), np.arange(300, dtype=np.int32), seed=1)
    assert told == {"p50": 4.0, "p90": 4.0, "p95": 4.0, "p99": 4.0, "mean": 4.0}


def test_samples_of_one_query_hang_together() -> None:
    # One query of three is slow whenever it is asked. With samples drawn singly the median
    # would stay at 1; drawn by query, two of three draws are the slow one in 7 of 27 resamples.
    query = np.tile(np.arange(3, dtype=np.int32), 100)
    latency = np.where(query == 2, 9.0, 1.0)
    assert upper_bounds(latency, query, seed=3)["p50"] == 9.0


def test_no_samples_no_bounds() -> None:
    told = upper_bounds(np.array([]), np.array([], dtype=np.int32), seed=1)
    assert told == dict.fromkeys(("p50", "p90", "p95", "p99", "mean"))
