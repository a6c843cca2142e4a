"""Words of decoded texts, and word n-grams as vocabulary ids."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.kernels.mix import GAMMA, MIX_1, mix
from indexers.kernels.shingles import find_slot
from indexers.types import I32, I64, U8, U32, U64

_32 = np.uint64(32)


@njit(cache=True, nogil=True)
def split(
    units: U32,
    starts: I64,
    lengths: I64,
    lo: int,
    hi: int,
    is_word: U8,
    ends: I32,
    hashes: U64,
    counts: I64,
) -> None:
    """Reduce documents lo to hi to their words, joined by one space, in place.

    Word j of document i is written to `first_word(starts, i) + j`.

    Args:
        units: code points from `shingles.decode`, overwritten.
        starts: int64 (n + 1,), where each document's code points start.
        lengths: int64 (n,), number of code points.
        lo: first document.
        hi: one past the last.
        is_word: uint8 (0x110000,), 1 for the code points that words are made of.
        ends: int32, receives where each word ends, from the document's start on.
        hashes: uint64, receives a hash of each word.
        counts: int64 (n,), receives the number of words.
    """
    for i in range(lo, hi):
        place, out = first_word(starts, i), starts[i]
        word, key, inside = place, GAMMA, False
        for at in range(starts[i], starts[i] + lengths[i]):
            unit = units[at]
            if is_word[unit]:
                if not inside and word > place:
                    units[out] = 32
                    out += 1
                inside = True
                units[out] = unit
                out += 1
                key = (key ^ np.uint64(unit)) * MIX_1
                key ^= key >> _32
            elif inside:
                ends[word], hashes[word] = out - starts[i], key
                word, key, inside = word + 1, GAMMA, False
        if inside:
            ends[word], hashes[word] = out - starts[i], key
            word += 1
        counts[i] = word - place


@njit(cache=True, nogil=True)
def first_word(starts: I64, document: int) -> int:
    """Place of a document's first word: at most every second code point starts one."""
    return int(starts[document] + document + 1) >> 1


@njit(cache=True, nogil=True)
def _key(hashes: U64, at: int, count: int) -> np.uint64:
    """Key of an n-gram: splitmix64 steps over the hashes of its words."""
    key = np.uint64(0)
    for j in range(count):
        key = mix(key + (GAMMA + hashes[at + j]))
    return key


@njit(cache=True, nogil=True)
def find(
    starts: I64,
    hashes: U64,
    counts: I64,
    lo: int,
    hi: int,
    size: int,
    keys: U64,
    ids: I32,
    offsets: I64,
    tokens: I32,
    misses: I64,
) -> None:
    """Vocabulary ids of the n-grams of documents lo to hi; -1 where unknown.

    Args:
        starts: as in `split`.
        hashes: from `split`.
        counts: from `split`.
        lo: first document.
        hi: one past the last.
        size: words an n-gram.
        keys: uint64 (slots,), the table; slots is a power of two.
        ids: int32 (slots,), -1 where free.
        offsets: int64 (n + 1,), where each document's tokens go.
        tokens: int32, receives the ids.
        misses: int64 (n,), receives the number of unknown n-grams.
    """
    for i in range(lo, hi):
        missed = 0
        count, place = min(size, counts[i]), first_word(starts, i)
        for j in range(offsets[i + 1] - offsets[i]):
            found = ids[find_slot(keys, ids, _key(hashes, place + j, count))]
            tokens[offsets[i] + j] = found
            missed += found < 0
        misses[i] = missed


@njit(cache=True, nogil=True)
def learn(
    units: U32,
    starts: I64,
    ends: I32,
    hashes: U64,
    counts: I64,
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
    """Give ids to unknown n-grams by first appearance, until table or letters are full.

    Args:
        units: from `split`.
        starts: as in `split`.
        ends: from `split`.
        hashes: from `split`.
        counts: from `split`.
        todo: int64, documents with unknown n-grams, ascending.
        size: words an n-gram.
        keys: the table, changed in place.
        ids: the table, changed in place.
        offsets: as in `find`.
        tokens: from `find`, completed in place.
        letters: uint32, receives the code points of new n-grams one after the other.
        bounds: int64 (slots / 2 + 1,); id i's are letters[bounds[i]] to letters[bounds[i + 1]].
        known: ids given so far.

    Returns:
        How many of `todo` are done, and ids given so far; call again with more room.
    """
    for position in range(len(todo)):
        i = todo[position]
        count, place = min(size, counts[i]), first_word(starts, i)
        for token in range(offsets[i], offsets[i + 1]):
            if tokens[token] >= 0:
                continue
            word = place + token - offsets[i]
            key = _key(hashes, word, count)
            slot = find_slot(keys, ids, key)
            if ids[slot] < 0:
                start = starts[i] + (np.int64(ends[word - 1]) + 1 if word > place else 0)
                stop = starts[i] + np.int64(ends[word + count - 1])
                end = bounds[known] + stop - start
                if known + 1 == len(bounds) or end > len(letters):
                    return position, known
                keys[slot] = key
                ids[slot] = known
                letters[bounds[known] : end] = units[start:stop]
                known += 1
                bounds[known] = end
            tokens[token] = ids[slot]
    return len(todo), known
