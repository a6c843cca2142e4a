"""The bootstrap kernel of `recorder`, apart from it so that numba is imported only when needed."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.kernels.mix import GAMMA, mix
from indexers.types import F64, I64, U64


@njit(cache=True, nogil=True)
def resample(
    sorted_ms: F64, cluster: I64, size: I64, percent: I64, seed: U64, resamples: int
) -> F64:
    """Statistics of samples whose clusters were drawn with replacement.

    Draw i of resample r takes the top 32 bits of the output number r·clusters + i of splitmix64,
    times the number of clusters, shifted right by 32.

    Args:
        sorted_ms: float64 (n,), ascending; infinite ones last.
        cluster: int64 (n,), cluster of each sample.
        size: int64 (clusters,), samples of each cluster.
        percent: int64 (p,), ascending.
        seed: uint64 (1,).
        resamples: how many.

    Returns:
        float64 (p + 1, resamples), the percentiles by nearest rank, then the mean.
    """
    clusters = len(size)
    out = np.empty((len(percent) + 1, resamples))
    rank = np.empty(len(percent), np.int64)
    state = seed[0]
    for r in range(resamples):
        times = np.zeros(clusters, np.int64)
        total = 0
        for _ in range(clusters):
            state += GAMMA
            z = mix(state) >> np.uint64(32)
            drawn = np.int64((z * np.uint64(clusters)) >> np.uint64(32))
            times[drawn] += 1
            total += size[drawn]
        for p in range(len(percent)):
            rank[p] = (percent[p] * total + 99) // 100
        below = 0
        p = 0
        weighed = 0.0
        for i in range(len(sorted_ms)):
            weight = times[cluster[i]]
            if weight == 0:  # also keeps 0 · ∞ out of the sum
                continue
            below += weight
            weighed += weight * sorted_ms[i]
            while p < len(percent) and below >= rank[p]:
                out[p, r] = sorted_ms[i]
                p += 1
        out[len(percent), r] = weighed / total
    return out
