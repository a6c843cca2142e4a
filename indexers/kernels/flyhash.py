"""Sparse random projection of shingles, and the units that win."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.kernels.mix import GAMMA, mix
from indexers.types import I64, U8, U32, U64

_32 = np.uint64(32)


@njit(cache=True, nogil=True)
def connect(digests: U64, bits: int, units: U32) -> None:
    """Draw the different units that each shingle excites.

    Draw i of a shingle with digest (d0, d1) is the upper half of mix(mix(d0 + i * gamma) ^ d1)
    modulo 2^64, times bits, shifted right by 32; a unit drawn before is passed over.

    Args:
        digests: uint64 (shingles, 2).
        bits: number of units, at least as many as a shingle excites.
        units: uint32 (shingles, fan-out), written.
    """
    for shingle in range(len(digests)):
        drawn, draw = 0, np.uint64(0)
        while drawn < units.shape[1]:
            state = mix(digests[shingle, 0] + draw * GAMMA)
            value = mix(state ^ digests[shingle, 1]) >> _32
            unit = np.uint32(value * np.uint64(bits) >> _32)
            draw += np.uint64(1)
            units[shingle, drawn] = unit
            new = 1
            for i in range(drawn):
                if units[shingle, i] == unit:
                    new = 0
            drawn += new


@njit(cache=True, nogil=True)
def _threshold(sums: I64, winners: int) -> int:
    """The least threshold of 0 or more that at most `winners` sums are above."""
    low, high = -1, 0
    for total in sums:
        high = max(high, int(total))
    while high - low > 1:
        middle = (low + high) >> 1
        above = 0
        for total in sums:
            above += total > middle
        if above <= winners:
            high = middle
        else:
            low = middle
    return high


@njit(cache=True, nogil=True)
def hash_documents(
    tokens: U32,
    offsets: I64,
    lo: int,
    hi: int,
    units: U32,
    weights: U8,
    winners: int,
    codes: U8,
) -> None:
    """Codes of documents lo to hi: the units with the greatest sums above 0, ties by unit.

    Args:
        tokens: uint32, shingle ids.
        offsets: int64 (n + 1,).
        lo: first document.
        hi: one past the last.
        units: uint32 (shingles, fan-out), from `connect`.
        weights: uint8 (shingles,), or (0,) where all weigh 1.
        winners: units that may win.
        codes: uint8 (n, bits / 8), zeroed; bits are set.
    """
    sums = np.empty(8 * codes.shape[1], np.int64)
    for i in range(lo, hi):
        sums[:] = 0
        for at in range(offsets[i], offsets[i + 1]):
            token = tokens[at]
            weight = np.int64(weights[token]) if len(weights) else 1
            for j in range(units.shape[1]):
                sums[units[token, j]] += weight
        threshold = _threshold(sums, winners)
        left = winners
        for unit in range(len(sums)):
            left -= sums[unit] > threshold
        for unit in range(len(sums)):
            tie = sums[unit] == threshold and threshold > 0 and left > 0
            left -= tie
            if tie or sums[unit] > threshold:
                codes[i, unit >> 3] |= np.uint8(128 >> (unit & 7))
