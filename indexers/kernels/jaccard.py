"""Intersections of shingle sets: frequent shingles as bits, the rest as postings."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.kernels.hamming import popcount
from indexers.types import F64, I32, I64, U64

FREQUENT = 1024
"""Shingles of a block that get a bit: they make most of all intersections, and counting them
takes 16 instructions a document instead of a memory access each."""


@njit(cache=True, nogil=True)
def distinct(offsets: I64, tokens: I32, vocabulary: int) -> tuple[I64, I32]:
    """The distinct tokens of each text, by first appearance.

    Args:
        offsets: int64 (n + 1,), text i's tokens are offsets[i] to offsets[i + 1].
        tokens: int32, 0 <= token < vocabulary.
        vocabulary: number of different tokens.

    Returns:
        int64 (n + 1,) offsets and int32 tokens.
    """
    n = len(offsets) - 1
    last = np.full(vocabulary, -1, np.int32)
    starts = np.zeros(n + 1, np.int64)
    kept = np.empty(len(tokens), np.int32)
    size = 0
    for text in range(n):
        for i in range(offsets[text], offsets[text + 1]):
            token = tokens[i]
            if last[token] != text:
                last[token] = text
                kept[size] = token
                size += 1
        starts[text + 1] = size
    return starts, kept[:size].copy()


@njit(cache=True, nogil=True)
def index_block(
    offsets: I64, tokens: I32, slots: I32, counts: I64, words: int
) -> tuple[U64, I64, I32]:
    """Make a block of documents searchable by token.

    Args:
        offsets: int64 (n + 1,) of `tokens`.
        tokens: int32, the distinct tokens of each document; those without a slot in `slots`
            are in no query and left out.
        slots: int32 (query vocabulary,), the bit of a frequent token, or -1.
        counts: int64 (query vocabulary,), in how many documents of the block a token is.
        words: how many 64-bit words hold the slots.

    Returns:
        uint64 (n, words) bits; int64 (query vocabulary + 1,) offsets of the postings of
        the other tokens; int32 postings, rising within a token.
    """
    n = len(offsets) - 1
    bits = np.zeros((n, words), np.uint64)
    starts = np.zeros(len(slots) + 1, np.int64)
    for token in range(len(slots)):
        starts[token + 1] = starts[token] + (counts[token] if slots[token] < 0 else 0)
    postings = np.empty(starts[-1], np.int32)
    at = starts[:-1].copy()
    for document in range(n):
        for i in range(offsets[document], offsets[document + 1]):
            token = tokens[i]
            if token >= len(slots):
                continue
            slot = slots[token]
            if slot >= 0:
                bits[document, slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)
            else:
                postings[at[token]] = document
                at[token] += 1
    return bits, starts, postings


@njit(cache=True, nogil=True)
def intersections(
    tokens: I32, slots: I32, bits: U64, starts: I64, postings: I32, common: I32
) -> None:
    """How many of one query's tokens each document of the block has, into `common`."""
    mine = np.zeros(bits.shape[1], np.uint64)
    for token in tokens:
        slot = slots[token]
        if slot >= 0:
            mine[slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)
    for document in range(len(common)):
        count = 0
        for word in range(len(mine)):
            count += popcount(bits[document, word] & mine[word])
        common[document] = count
    for token in tokens:
        for i in range(starts[token], starts[token + 1]):
            common[postings[i]] += 1


@njit(cache=True, nogil=True)
def score_block(
    offsets: I64,
    tokens: I32,
    lo: int,
    hi: int,
    exclude: I32,
    slots: I32,
    bits: U64,
    starts: I64,
    postings: I32,
    sizes: I64,
    first: int,
    minimum: float,
    best: F64,
) -> tuple[I64, I32, F64]:
    """Documents of a block that may be among the nearest of queries lo to hi.

    Args:
        offsets: int64 (queries + 1,) of `tokens`.
        tokens: int32, the distinct tokens of each query.
        lo: first query.
        hi: one past the last.
        exclude: int32 (queries,), an ordinal that is never given, or -1.
        slots: as for `index_block`.
        bits: from `index_block`.
        starts: from `index_block`.
        postings: from `index_block`.
        sizes: int64 (n,), distinct tokens of each document, unknown ones included.
        first: ordinal of the block's first document.
        minimum: least similarity given.
        best: float64 (queries, k), the k greatest similarities so far, falling; updated.

    Returns:
        int64 (hi - lo,) number of documents for each query; int32 ordinals, rising within a
        query; float64 similarities, above 0 and at least `minimum` and the k-th best so far.
    """
    n = len(sizes)
    k = best.shape[1]
    found = np.zeros(hi - lo, np.int64)
    ordinals = np.empty((hi - lo) * n, np.int32)
    similarities = np.empty((hi - lo) * n, np.float64)
    common = np.empty(n, np.int32)
    total = 0
    for query in range(lo, hi):
        mine = tokens[offsets[query] : offsets[query + 1]]
        size = len(mine)
        if size == 0:
            continue
        before = total
        intersections(mine, slots, bits, starts, postings, common)
        bound = max(minimum, best[query, k - 1]) if k > 0 else minimum
        for document in range(n):
            shared = int(common[document])
            # cheap test first, with room for rounding; the division decides
            if shared == 0 or shared * (1 + bound) < bound * (size + sizes[document]) - 1e-3:
                continue
            similarity = shared / (size + sizes[document] - shared)
            if similarity < bound or first + document == exclude[query]:
                continue
            ordinals[total] = first + document
            similarities[total] = similarity
            total += 1
            if k > 0:
                i = k - 1
                while i > 0 and best[query, i - 1] < similarity:
                    best[query, i] = best[query, i - 1]
                    i -= 1
                if similarity > best[query, i]:
                    best[query, i] = similarity
                bound = max(minimum, best[query, k - 1])
        found[query - lo] = total - before
    return found, ordinals[:total].copy(), similarities[:total].copy()
