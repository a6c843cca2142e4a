"""Bit streams of shingles, and their majority in a document, 64 bits at a time."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.kernels.lanes import (
    CARRY,
    PLANES,
    add_eight_by_2,
    add_eight_by_8,
    ripple_by_2,
    ripple_by_8,
)
from indexers.kernels.mix import GAMMA, mix
from indexers.types import I64, U8, U32, U64

LANES = 8
"""Words of a shingle that are added at once; 2 where there are no more."""
_TILE = 16  # documents whose keys are written together: a cache line of each table
_ROWS = PLANES + 48  # counters of 48 bits

_0, _1, _63, _64 = np.uint64(0), np.uint64(1), np.uint64(63), np.uint64(64)


@njit(cache=True, nogil=True)
def stream_words(digests: U64, needed: I64, out: U64) -> None:
    """Write the needed bits of each shingle's stream, one after the other.

    Word w of a stream with digest (d0, d1) is d0, d1 for w = 0, 1, then
    mix(mix(d0 + w * gamma) ^ d1) modulo 2^64: splitmix64 keyed by the digest.

    Args:
        digests: uint64 (shingles, 2).
        needed: int64 (bits,), places in the stream, ascending; from the most significant bit.
        out: uint64 (shingles, at least ceil(bits / 64)), zeroed.
    """
    for shingle in range(len(digests)):
        block = -1
        word = _0
        for i in range(len(needed)):
            if needed[i] >> 6 != block:
                block = int(needed[i] >> 6)
                word = digests[shingle, block & 1]
                if block > 1:
                    state = mix(digests[shingle, 0] + np.uint64(block) * GAMMA)
                    word = mix(state ^ digests[shingle, 1])
            bit = word >> (_63 - np.uint64(needed[i] & 63)) & _1
            out[shingle, i >> 6] |= bit << (_63 - np.uint64(i & 63))


@njit(cache=True, nogil=True)
def _add(words: U64, tokens: U32, column: int, plane: int, lanes: int, state: U64) -> None:
    """Add 2^plane for every token to the counters of the places that its words set."""
    state[: 3 * lanes] = _0
    for at in range(0, len(tokens), 8):
        row = PLANES + plane + 3
        if lanes == 2:
            add_eight_by_2(words, tokens, at, column, state)
            while ripple_by_2(state, CARRY, row):
                row += 1
        else:
            add_eight_by_8(words, tokens, at, column, state)
            while ripple_by_8(state, CARRY, row):
                row += 1
    for source in range(3):
        row = PLANES + plane + source
        if lanes == 2:
            while ripple_by_2(state, source, row):
                row += 1
        else:
            while ripple_by_8(state, source, row):
                row += 1


@njit(cache=True, nogil=True)
def _above(state: U64, total: int, planes: int, lanes: int, bits: U64) -> None:
    """Write the places whose counter is above half of the total, word by word."""
    half = total >> 1
    for lane in range(lanes):
        more, equal = _0, ~_0
        for plane in range(planes - 1, -1, -1):
            counted = state[(PLANES + plane) * lanes + lane]
            if half >> plane & 1:
                equal &= counted
            else:
                more |= equal & counted
                equal &= ~counted
        bits[lane] = more


@njit(cache=True, nogil=True)
def _by_plane(tokens: U32, weights: U8, filler: int, lists: U32, sizes: I64) -> int:
    """Sort tokens by the bits of their weights; gives the sum of the weights.

    Args:
        tokens: uint32, of one document.
        weights: uint8 (shingles,), or (0,) where all weigh 1.
        filler: a token whose words are 0, to fill lists up to a multiple of 8.
        lists: uint32 (8, len(tokens) + 8 at least); list p receives the tokens whose weight
            has bit p.
        sizes: int64 (8,), receives their lengths.
    """
    sizes[:] = 0
    total = len(tokens)
    if len(weights) == 0:
        lists[0, : len(tokens)] = tokens
        sizes[0] = len(tokens)
    else:
        total = 0
        for token in tokens:
            weight = int(weights[token])
            total += weight
            for plane in range(8):
                lists[plane, sizes[plane]] = token
                sizes[plane] += weight >> plane & 1
    for plane in range(8):
        while sizes[plane] & 7:
            lists[plane, sizes[plane]] = filler
            sizes[plane] += 1
    return total


@njit(cache=True, nogil=True)
def _write_keys(
    bits: U64, first: int, stop: int, key_places: I64, hash_length: int, keys: U32
) -> None:
    """Keys of documents first to stop, whose bits are the first rows of `bits`."""
    for table in range(len(key_places)):
        word, shift = key_places[table] >> 6, np.uint64(key_places[table] & 63)
        for i in range(first, stop):
            value = bits[i - first, word] << shift
            if shift:
                value |= bits[i - first, word + 1] >> (_64 - shift)
            top = value >> np.uint64(64 - hash_length) << np.uint64(32 - hash_length)
            keys[table, 0, i] = np.uint32(top)


@njit(cache=True, nogil=True)
def hash_documents(
    tokens: U32,
    offsets: I64,
    lo: int,
    hi: int,
    words: U64,
    weights: U8,
    key_places: I64,
    hash_length: int,
    codes: U8,
    keys: U32,
) -> None:
    """Codes and table keys of documents lo to hi; those without tokens get zeros.

    Args:
        tokens: uint32, shingle ids.
        offsets: int64 (n + 1,).
        lo: first document.
        hi: one past the last.
        words: uint64 (more than shingles, 2 or a multiple of LANES), from `stream_words`; the
            code's bits come first, and the last row is 0.
        weights: uint8 (shingles,), or (0,) where all weigh 1.
        key_places: int64 (num_tables,), place among the needed bits of each key's first bit.
        hash_length: bits of a key, at most 32.
        codes: uint8 (n, bits / 8), written.
        keys: uint32 (num_tables, 1, n), written.
    """
    width = words.shape[1]
    lanes = min(width, LANES)
    longest = 0
    for i in range(lo, hi):
        longest = max(longest, offsets[i + 1] - offsets[i])
    lists, sizes = np.empty((8, longest + 8), np.uint32), np.empty(8, np.int64)
    state = np.empty(_ROWS * lanes, np.uint64)
    # one word more, so that a key may straddle the last
    bits = np.zeros((_TILE, width + 1), np.uint64)
    for first in range(lo, hi, _TILE):
        stop = min(first + _TILE, hi)
        for i in range(first, stop):
            mine = bits[i - first]
            total = _by_plane(
                tokens[offsets[i] : offsets[i + 1]], weights, len(words) - 1, lists, sizes
            )
            planes = 0
            while total >> planes:
                planes += 1
            # a ripple may look one row further, and adders leave up to three rows of zeros
            used = lanes * min(PLANES + planes + 4, _ROWS)
            for column in range(0, width, lanes):
                state[:used] = _0
                for plane in range(8):
                    if sizes[plane]:
                        _add(words, lists[plane, : sizes[plane]], column, plane, lanes, state)
                _above(state, total, planes, lanes, mine[column : column + lanes])
            for byte in range(codes.shape[1]):
                shift = np.uint64(56 - 8 * (byte & 7))
                codes[i, byte] = mine[byte >> 3] >> shift & np.uint64(255)
        _write_keys(bits, first, stop, key_places, hash_length, keys)
