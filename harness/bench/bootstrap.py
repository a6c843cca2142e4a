"""Confidence of a mean over queries: seeded resamples with replacement, the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indexers.atoms import mixed
from indexers.types import F64, I64, U64

LEVEL = 0.95
HELD_DRAWS = 2**18
"""Draws in memory at a time."""
_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def draws(seed: int, sizes: Sequence[int], first: int, count: int) -> list[I64]:
    """Rows drawn with replacement from each of several groups.

    One resample draws from all groups in turn, so that no two groups share a number. Draw j of
    resample i takes the top 32 bits of output number i · sum(sizes) + j + 1 of splitmix64
    (Steele, Lea, Flood 2014) started at `seed`, times the size of its group, shifted right by 32.

    Args:
        seed: of the generator.
        sizes: rows of each group.
        first: number of the first resample, from 0.
        count: of resamples.

    Returns:
        For each group int64 (count, size).
    """
    total = sum(sizes)
    number = np.arange(first * total + 1, (first + count) * total + 1, dtype=np.uint64)
    top: U64 = mixed(np.uint64(seed) + number * _GAMMA) >> np.uint64(32)
    parts = np.split(top.reshape(count, total), np.cumsum(sizes)[:-1], axis=1)
    return [
        ((part * np.uint64(size)) >> np.uint64(32)).astype(np.int64)
        for part, size in zip(parts, sizes, strict=True)
    ]


def interval(
    groups: Sequence[F64], *, seed: int, resamples: int
) -> tuple[float | None, float | None]:
    """The percentile interval of the mean over groups of their means, at `LEVEL`.

    Args:
        groups: each float64 (n,), resampled within itself and apart from the others, such as
            the halves of folds.
        seed: of the draws.
        resamples: how many; 0 for no interval.

    Returns:
        Low and high by nearest rank; None where there is nothing to resample.
    """
    groups = [group for group in groups if len(group)]
    if not groups or resamples < 1:
        return None, None
    sizes = [len(group) for group in groups]
    means = np.zeros(resamples)
    step = max(1, HELD_DRAWS // sum(sizes))
    for first in range(0, resamples, step):
        block = slice(first, min(first + step, resamples))
        drawn = draws(seed, sizes, first, block.stop - first)
        for group, rows in zip(groups, drawn, strict=True):
            means[block] += group[rows].mean(axis=1)
    means = np.sort(means / len(groups))
    outside = (1 - LEVEL) / 2
    low = int(np.floor(outside * resamples))
    return float(means[low]), float(means[resamples - 1 - low])
