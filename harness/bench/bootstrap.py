"""Confidence of a mean over queries: seeded resamples with replacement, the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indexers.atoms import mixed
from indexers.types import F64, I64, U64

LEVEL = 0.95
_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def draws(seed: int, resamples: int, rows: int) -> I64:
    """Rows drawn with replacement: int64 (resamples, rows).

    Draw i takes the top 32 bits of output number i of splitmix64 (Steele, Lea, Flood 2014)
    started at `seed`, times `rows`, shifted right by 32.
    """
    number = np.arange(1, resamples * rows + 1, dtype=np.uint64)
    top: U64 = mixed(np.uint64(seed) + number * _GAMMA) >> np.uint64(32)
    drawn = (top * np.uint64(rows)) >> np.uint64(32)
    return drawn.reshape(resamples, rows).astype(np.int64)


def interval(
    groups: Sequence[F64], *, seed: int, resamples: int
) -> tuple[float | None, float | None]:
    """The percentile interval of the mean over groups of their means, at `LEVEL`.

    Args:
        groups: each float64 (n,), resampled within itself, such as the halves of folds.
        seed: of the draws.
        resamples: how many; 0 for no interval.

    Returns:
        Low and high by nearest rank; None where there is nothing to resample.
    """
    groups = [group for group in groups if len(group)]
    if not groups or resamples < 1:
        return None, None
    means = np.zeros(resamples)
    for group in groups:
        means += group[draws(seed, resamples, len(group))].mean(axis=1)
    means = np.sort(means / len(groups))
    outside = (1 - LEVEL) / 2
    low = int(np.floor(outside * resamples))
    return float(means[low]), float(means[resamples - 1 - low])
