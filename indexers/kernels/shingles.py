"""UTF-8 to code points, and code points to vocabulary ids of character n-grams."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.kernels.mix import GAMMA, mix
from indexers.types import I32, I64, U8, U32, U64

_0, _ONE, _21, _60, _63 = np.uint64(0), np.uint64(1), np.uint64(21), np.uint64(60), np.uint64(63)
_32 = np.uint64(32)


@njit(cache=True, nogil=True)
def decode(data: U8, starts: I64, lo: int, hi: int, units: U32, lengths: I64) -> None:
    """Code points of documents lo to hi, ASCII folded on the way.

    Folding is normalisation restricted to ASCII: A-Z to a-z, runs of white space to one
    space, trimmed. It changes nothing in a text that is normalised already.

    Args:
        data: uint8, the documents' UTF-8 one after the other.
        starts: int64 (n + 1,), byte offsets.
        lo: first document.
        hi: one past the last.
        units: uint32 (bytes,), receives document i's code points from starts[i] on.
        lengths: int64 (n,), receives their number.
    """
    for i in range(lo, hi):
        at, end, out = starts[i], starts[i + 1], starts[i]
        pending = False
        while at < end:
            unit = np.uint32(data[at])
            at += 1
            if unit >= 0xF0:
                unit = np.uint32(
                    (unit & 0x07) << 18
                    | np.uint32(data[at] & 0x3F) << 12
                    | np.uint32(data[at + 1] & 0x3F) << 6
                    | np.uint32(data[at + 2] & 0x3F)
                )
                at += 3
            elif unit >= 0xE0:
                unit = np.uint32(
                    (unit & 0x0F) << 12
                    | np.uint32(data[at] & 0x3F) << 6
                    | np.uint32(data[at + 1] & 0x3F)
                )
                at += 2
            elif unit >= 0x80:
                unit = np.uint32((unit & 0x1F) << 6 | np.uint32(data[at] & 0x3F))
                at += 1
            elif unit == 32 or 9 <= unit <= 13 or 28 <= unit <= 31:
                pending = out > starts[i]
                continue
            elif 65 <= unit <= 90:
                unit = np.uint32(unit + 32)
            if pending:
                units[out] = 32
                out += 1
                pending = False
            units[out] = unit
            out += 1
        lengths[i] = out - starts[i]


@njit(cache=True, nogil=True)
def _key(units: U32, at: int, count: int, size: int) -> np.uint64:
    """Key of a shingle: exact up to three code points, else 64 bits of splitmix64 steps."""
    key = np.uint64(0)
    if size <= 3:
        for j in range(count):
            key = key << _21 | np.uint64(units[at + j])
        if count < size:
            key |= _ONE << _63 | np.uint64(count) << _60
        return key
    for j in range(count):
        key = mix(key + (GAMMA + np.uint64(units[at + j])))
    return key


@njit(cache=True, nogil=True)
def find_slot(keys: U64, ids: I32, key: np.uint64) -> np.uint64:
    """Where the key is in the table, or the free slot where it belongs."""
    mask = np.uint64(len(ids) - 1)
    slot = (key ^ key >> _32) * GAMMA >> _32 & mask
    while keys[slot] != key and ids[slot] >= 0:
        slot = (slot + _ONE) & mask
    return slot


@njit(cache=True, nogil=True)
def find(
    units: U32,
    starts: I64,
    lengths: I64,
    lo: int,
    hi: int,
    size: int,
    keys: U64,
    ids: I32,
    offsets: I64,
    tokens: I32,
    misses: I64,
) -> None:
    """Vocabulary ids of the shingles of documents lo to hi; -1 where unknown.

    Args:
        units: from `decode`.
        starts: from `decode`.
        lengths: from `decode`.
        lo: first document.
        hi: one past the last.
        size: code points a shingle.
        keys: uint64 (slots,), the table; slots is a power of two.
        ids: int32 (slots,), -1 where free.
        offsets: int64 (n + 1,), where each document's tokens go.
        tokens: int32, receives the ids.
        misses: int64 (n,), receives the number of unknown shingles.
    """
    whole = (_ONE << np.uint64(21 * min(size, 3))) - _ONE
    for i in range(lo, hi):
        missed = 0
        count = min(size, lengths[i])
        key = _0
        for j in range(offsets[i + 1] - offsets[i]):
            at = starts[i] + j
            if j == 0 or size > 3:
                key = _key(units, at, count, size)
            else:  # drop the first code point, take in the next
                key = (key << _21 | np.uint64(units[at + size - 1])) & whole
            found = ids[find_slot(keys, ids, key)]
            tokens[offsets[i] + j] = found
            missed += found < 0
        misses[i] = missed


@njit(cache=True, nogil=True)
def learn(
    units: U32,
    starts: I64,
    lengths: I64,
    todo: I64,
    size: int,
    keys: U64,
    ids: I32,
    offsets: I64,
    tokens: I32,
    letters: U32,
    bounds: I64,
    known: int,
) -> tuple[int, int]:
    """Give ids to unknown shingles by first appearance, until the table is half full.

    Args:
        units: from `decode`.
        starts: from `decode`.
        lengths: from `decode`.
        todo: int64, documents with unknown shingles, ascending.
        size: code points a shingle.
        keys: the table, changed in place.
        ids: the table, changed in place.
        offsets: as in `find`.
        tokens: from `find`, completed in place.
        letters: uint32, receives the code points of new shingles one after the other; has room
            for `size` of each id.
        bounds: int64 (slots / 2 + 1,); id i's are letters[bounds[i]] to letters[bounds[i + 1]].
        known: ids given so far.

    Returns:
        How many of `todo` are done, and ids given so far; call again with a larger table.
    """
    for position in range(len(todo)):
        i = todo[position]
        count = min(size, lengths[i])
        for token in range(offsets[i], offsets[i + 1]):
            if tokens[token] >= 0:
                continue
            at = starts[i] + token - offsets[i]
            key = _key(units, at, count, size)
            slot = find_slot(keys, ids, key)
            if ids[slot] < 0:
                if known + 1 == len(bounds):
                    return position, known
                keys[slot] = key
                ids[slot] = known
                end = bounds[known]
                for j in range(count):
                    letters[end + j] = units[at + j]
                known += 1
                bounds[known] = end + count
            tokens[token] = ids[slot]
    return len(todo), known


@njit(cache=True, nogil=True)
def rehash(old_keys: U64, old_ids: I32, keys: U64, ids: I32) -> None:
    """Move every entry of the old table to the new, empty one."""
    for old in range(len(old_ids)):
        if old_ids[old] >= 0:
            slot = find_slot(keys, ids, old_keys[old])
            keys[slot] = old_keys[old]
            ids[slot] = old_ids[old]
