"""The trials that no other trial beats. Pure array functions."""

from __future__ import annotations

import numpy as np

from indexers.types import F64, Bool


def pareto(quality: F64, latency_ms: F64) -> Bool:
    """Which points are on the front of (quality up, latency down).

    A point is dominated where another is at least as good on both and better on one; equal
    points stay together.

    Args:
        quality: float64 (n,), finite.
        latency_ms: float64 (n,), finite.

    Returns:
        bool (n,).
    """
    order = np.lexsort((-quality, latency_ms))
    mask = np.zeros(len(quality), dtype=bool)
    best = -np.inf
    best_at = np.nan
    for index in order:
        if quality[index] > best:
            best, best_at = quality[index], latency_ms[index]
            mask[index] = True
        elif quality[index] == best and latency_ms[index] == best_at:
            mask[index] = True
    return mask
