"""Seeded random hyperplanes, whole numbers and nearly normal, the same on every machine.

Coordinate c of hyperplane i is 256 · (b − 128) + 2r − 127, where b counts the ones of four
64-bit words and r is the top seven bits of a fifth: a binomial of 256 fair bits smoothed by a
uniform, odd and so never 0, with standard deviation 2051 and excess kurtosis −0.008. The five
words are mix(key(i) + (5c + w + 1) · gamma) modulo 2^64 for w = 0 … 4, where
key(i) = mix(mix(seed + gamma) + (i + 1) · gamma), mix is the finalizer of splitmix64 and gamma
its increment (Steele, Lea, Flood 2014).

A coordinate depends on (seed, i, c) alone. Dot products with `vectors.fixed_point` are below
2^53 in every partial sum (D at most 65,536: the mean of |coordinate| is 1,640), so float64 gives
them exactly, and their signs do not depend on BLAS, threads, blocks or machine.
"""

from __future__ import annotations

import numpy as np

from indexers.atoms import GAMMA, mixed
from indexers.types import F64, I64, U32, U64, Bool

COUNTED_WORDS = 4


def hyperplanes(seed: int, numbers: I64, dimension: int) -> F64:
    """The normals of hyperplanes as columns: float64 (D, m).

    Args:
        seed: 0 to 2^32 - 1.
        numbers: int64 (m,), which hyperplanes, from 0.
        dimension: D.
    """
    start = mixed(np.array([seed], np.uint64) + GAMMA)
    keys: U64 = mixed(start + (numbers.astype(np.uint64) + np.uint64(1)) * GAMMA)
    first = np.arange(dimension, dtype=np.uint64) * np.uint64(COUNTED_WORDS + 1)
    ones = np.zeros((dimension, len(numbers)), np.int64)
    for word in range(COUNTED_WORDS):
        ones += np.bitwise_count(_words(keys, first, word))
    smooth = _words(keys, first, COUNTED_WORDS) >> np.uint64(57)
    return (256 * (ones - 128) + 2 * smooth.astype(np.int64) - 127).astype(np.float64)


def _words(keys: U64, first: U64, word: int) -> U64:
    return mixed(keys + (first[:, None] + np.uint64(word + 1)) * GAMMA)


def packed_keys(bits: Bool, hash_length: int) -> U32:
    """Bits of table keys as words, first bit first, zeros behind: uint32 (...,).

    Args:
        bits: bool (..., a multiple of 8), C order; what follows the key's bits is left out.
        hash_length: bits of a key, at most 32.
    """
    *shape, width = bits.shape
    packed = np.packbits(bits.reshape(-1)).reshape(-1, width // 8)[:, :4]
    padded = np.zeros((len(packed), 4), np.uint8)
    padded[:, : packed.shape[1]] = packed
    mask = np.uint32((0xFFFFFFFF << (32 - hash_length)) & 0xFFFFFFFF)
    words: U32 = padded.view(">u4").astype(np.uint32).reshape(shape) & mask
    return words
