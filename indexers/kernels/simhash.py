"""Bit streams of shingles, and their majority in a document, 64 bits at a time."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.types import I64, U8, U32, U64

_27, _30, _31 = np.uint64(27), np.uint64(30), np.uint64(31)
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_0, _1, _63, _64 = np.uint64(0), np.uint64(1), np.uint64(63), np.uint64(64)


@njit(cache=True, nogil=True)
def _mix(state: np.uint64) -> np.uint64:
    state = (state ^ state >> _30) * _MIX_1
    state = (state ^ state >> _27) * _MIX_2
    return state ^ state >> _31


@njit(cache=True, nogil=True)
def stream_words(digests: U64, needed: I64, out: U64) -> None:
    """Write the needed bits of each shingle's stream, one after the other.

    Word w of a stream with digest (d0, d1) is d0, d1 for w = 0, 1, then
    mix(mix(d0 + w * gamma) ^ d1) modulo 2^64: splitmix64 keyed by the digest.

    Args:
        digests: uint64 (shingles, 2).
        needed: int64 (bits,), places in the stream, ascending; from the most significant bit.
        out: uint64 (shingles, ceil(bits / 64)), zeroed.
    """
    for shingle in range(len(digests)):
        block = -1
        word = _0
        for i in range(len(needed)):
            if needed[i] >> 6 != block:
                block = int(needed[i] >> 6)
                word = digests[shingle, block & 1]
                if block > 1:
                    state = _mix(digests[shingle, 0] + np.uint64(block) * _GAMMA)
                    word = _mix(state ^ digests[shingle, 1])
            bit = word >> (_63 - np.uint64(needed[i] & 63)) & _1
            out[shingle, i >> 6] |= bit << (_63 - np.uint64(i & 63))


@njit(cache=True, nogil=True)
def _add(a: np.uint64, b: np.uint64, c: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Sum and carry of three bits, in each of 64 places."""
    half = a ^ b
    return half ^ c, a & b | half & c


@njit(cache=True, nogil=True)
def _count(planes: U64, plane: int, carry: np.uint64) -> None:
    """Add 2^plane to the counters of the places that are set."""
    while carry:
        carried = planes[plane] & carry
        planes[plane] ^= carry
        carry = carried
        plane += 1


@njit(cache=True, nogil=True)
def _majority(tokens: U32, words: U64, column: int, planes: U64) -> np.uint64:
    """Bits of one word that are set in more than half of the tokens.

    64 counters at once, bit p of each in planes[p]; carry-save adders take 8 tokens a pass
    (Harley-Seal, in Warren, Hacker's Delight, 5-1).
    """
    planes[:] = _0
    ones, twos, fours = _0, _0, _0
    whole = len(tokens) & ~7
    for i in range(0, whole, 8):
        ones, twos_a = _add(ones, words[tokens[i], column], words[tokens[i + 1], column])
        ones, twos_b = _add(ones, words[tokens[i + 2], column], words[tokens[i + 3], column])
        twos, fours_a = _add(twos, twos_a, twos_b)
        ones, twos_a = _add(ones, words[tokens[i + 4], column], words[tokens[i + 5], column])
        ones, twos_b = _add(ones, words[tokens[i + 6], column], words[tokens[i + 7], column])
        twos, fours_b = _add(twos, twos_a, twos_b)
        fours, carry = _add(fours, fours_a, fours_b)
        _count(planes, 3, carry)
    planes[0], planes[1], planes[2] = ones, twos, fours
    for i in range(whole, len(tokens)):
        _count(planes, 0, words[tokens[i], column])
    half = len(tokens) >> 1
    more, equal = _0, ~_0
    for plane in range(len(planes) - 1, -1, -1):
        if half >> plane & 1:
            equal &= planes[plane]
        else:
            more |= equal & planes[plane]
            equal &= ~planes[plane]
    return more


@njit(cache=True, nogil=True)
def hash_documents(
    tokens: U32,
    offsets: I64,
    lo: int,
    hi: int,
    words: U64,
    key_places: I64,
    hash_length: int,
    codes: U8,
    keys: U32,
) -> None:
    """Codes and table keys of documents lo to hi; documents without tokens are passed over.

    Args:
        tokens: uint32, shingle ids.
        offsets: int64 (n + 1,).
        lo: first document.
        hi: one past the last.
        words: uint64 (shingles, w), from `stream_words`; the code's bits come first.
        key_places: int64 (num_tables,), place among the needed bits of each key's first bit.
        hash_length: bits of a key, at most 32.
        codes: uint8 (n, bits / 8), written.
        keys: uint32 (num_tables, 1, n), written.
    """
    width = words.shape[1]
    bits = np.zeros(width + 1, np.uint64)  # one more, so that a key may straddle the last word
    planes = np.empty(40, np.uint64)
    for i in range(lo, hi):
        if offsets[i] == offsets[i + 1]:
            continue
        for word in range(width):
            bits[word] = _majority(tokens[offsets[i] : offsets[i + 1]], words, word, planes)
        for byte in range(codes.shape[1]):
            codes[i, byte] = bits[byte >> 3] >> np.uint64(56 - 8 * (byte & 7)) & np.uint64(255)
        for table in range(len(key_places)):
            word, shift = key_places[table] >> 6, np.uint64(key_places[table] & 63)
            value = bits[word] << shift
            if shift:
                value |= bits[word + 1] >> (_64 - shift)
            top = value >> np.uint64(64 - hash_length) << np.uint64(32 - hash_length)
            keys[table, 0, i] = np.uint32(top)
