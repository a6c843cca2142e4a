"""Hashes of the n-grams of CTPH digests."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.kernels.mix import GAMMA, mix
from indexers.types import I64, U8, U64

_8, _10 = np.uint64(8), np.uint64(10)
_COLON, _ZERO = np.uint8(ord(":")), np.uint8(ord("0"))


@njit(cache=True, nogil=True)
def gram_hashes(
    digests: U8, indptr: I64, size: int, start: np.uint64, offsets: I64, hashes: U64
) -> None:
    """Hashes of the n-grams of both parts of each digest, in order.

    An n-gram of a part of block size b hashes to mix(mix(start + gamma * b) + w), w the number
    that its bytes spell, most significant first. A part shorter than n is one n-gram.

    Args:
        digests: uint8, `size:part:part` one after the other; digest i is indptr[i] to
            indptr[i + 1], or has no byte.
        indptr: int64 (n + 1,).
        size: characters an n-gram, 1 to 7.
        start: seeded.
        offsets: int64 (n + 1,), receives where each digest's hashes are; offsets[0] is 0.
        hashes: uint64, as long as `digests`; receives them.
    """
    out = 0
    for i in range(len(indptr) - 1):
        at, end = indptr[i], indptr[i + 1]
        block = np.uint64(0)
        while at < end and digests[at] != _COLON:
            block = block * _10 + np.uint64(digests[at] - _ZERO)
            at += 1
        while at < end:  # on the colon before a part
            at += 1
            first, state = at, mix(start + GAMMA * block)
            while at < end and digests[at] != _COLON:
                at += 1
            width = min(size, at - first)
            for gram in range(at - first - width + 1 if width else 0):
                spelt = np.uint64(0)
                for j in range(first + gram, first + gram + width):
                    spelt = spelt << _8 | np.uint64(digests[j])
                hashes[out] = mix(state + spelt)
                out += 1
            block += block
        offsets[i + 1] = out
