"""Statistics of raw latencies under one quantile rule.

The p-th percentile of a sample is its smallest value with at least p % of the sample at or below
it (the nearest rank), so that it was really measured and is never above the maximum. A sample
carries it from 3 / (1 − p) values on: then about three lie above it.
"""

from __future__ import annotations

import math

import numpy as np

from indexers.types import F64, I32

PERCENT = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}
"""Percentiles that are told, ascending."""


def carries(percent: int, n: int) -> bool:
    """Whether n values can tell this percentile: 300 for p99, 60, 30, and 6 for p50."""
    return n * (100 - percent) >= 300


def needed(name: str) -> int:
    """How many values this statistic needs, `mean` or a percentile such as `p99`."""
    return 1 if name == "mean" else -(-300 // (100 - PERCENT[name]))


def rank(n: int, percent: int) -> int:
    """Where the percentile stands among n values, ascending, n at least 1: 0 to n − 1."""
    return max(-(-percent * n // 100), 1) - 1  # whole numbers: 0.95 · 20 is not 19


def nearest_rank(sorted_values: F64, percent: int) -> float:
    """The percentile of float64 (n,), ascending, n at least 1."""
    return float(sorted_values[rank(len(sorted_values), percent)])


def finite(value: float) -> float | None:
    """The value, or None for an infinite one, which JSON cannot hold."""
    return value if math.isfinite(value) else None


def statistics(latency_ms: F64) -> dict[str, float | None]:
    """Mean, percentiles, maximum and number of latencies.

    Args:
        latency_ms: float64 (n,); infinite where a request failed.

    Returns:
        mean, p50, p90, p95, p99, max, n. None where the value is infinite, where there is no
        sample, and for percentiles that the sample does not carry.

    >>> statistics(np.array([4.0, 1.0, 3.0, 2.0, 6.0, 5.0]))
    {'mean': 3.5, 'p50': 3.0, 'p90': None, 'p95': None, 'p99': None, 'max': 6.0, 'n': 6}
    """
    n = len(latency_ms)
    values = np.sort(latency_ms)
    told: dict[str, float | None] = {"mean": finite(math.fsum(values) / n) if n else None}
    for name, percent in PERCENT.items():
        told[name] = finite(nearest_rank(values, percent)) if carries(percent, n) else None
    told["max"] = finite(float(values[-1])) if n else None
    told["n"] = n
    return told


def upper_bounds(
    latency_ms: F64,
    query: I32,
    *,
    seed: int,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> dict[str, float | None]:
    """One-sided upper bounds of the statistics, by bootstrap over queries.

    Each resample draws as many queries as there are, with replacement, and takes all samples of
    a drawn query: latencies of one query resemble each other. The bound is the percentile of the
    resampled statistics at the confidence, by the same rule of quantiles (Efron's percentile
    method; Davison and Hinkley, "Bootstrap Methods and their Application", 1997, sections 3.8
    and 5.3). The same seed gives the same bounds everywhere.

    Args:
        latency_ms: float64 (n,); infinite where a request failed.
        query: int32 (n,), query of each sample.
        seed: of the draws.
        resamples: how many, at least 1.
        confidence: in whole per cents, above 0, at most 1.

    Returns:
        p50, p90, p95, p99, mean. None where the bound is infinite, where there is no sample, and
        for percentiles that the sample does not carry: never within a limit.
    """
    from loadtest.resample import resample

    n = len(latency_ms)
    if n == 0:
        return dict.fromkeys([*PERCENT, "mean"])
    order = np.argsort(latency_ms, kind="stable")
    _, cluster, size = np.unique(query, return_inverse=True, return_counts=True)
    percent = np.array(list(PERCENT.values()), dtype=np.int64)
    drawn = resample(
        np.ascontiguousarray(latency_ms[order], dtype=np.float64),
        np.ascontiguousarray(cluster[order], dtype=np.int64),
        size.astype(np.int64),
        percent,
        np.array([seed % 2**64], dtype=np.uint64),
        resamples,
    )
    bounds = [nearest_rank(np.sort(row), round(100 * confidence)) for row in drawn]
    told = dict(zip([*PERCENT, "mean"], map(finite, bounds), strict=True))
    return {name: value if tells(name, n) else None for name, value in told.items()}


def tells(name: str, n: int) -> bool:
    """Whether n values can tell this statistic, `mean` or a percentile such as `p99`."""
    return name == "mean" or carries(PERCENT[name], n)
