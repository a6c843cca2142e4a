"""Jaccard similarity of lists of hashes, as sets or multisets.

A multiset is the set of its copies: the i-th copy of a value is an element of its own, so that
the intersection of two such sets has the sum of the smaller counts.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.kernels.jaccard import intersections
from indexers.types import F64, I32, I64, U64

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: multiplicative hashing
_COPY = np.uint64(0xBF58476D1CE4E5B9)


@njit(cache=True, nogil=True)
def _bits_for(size: int) -> int:
    """log2 of the table that holds this many entries at most half full."""
    bits = 4
    while 1 << bits < 2 * size:
        bits += 1
    return bits


@njit(cache=True, nogil=True)
def _start(value: int, copy: int, bits: int) -> np.int64:
    mixed = (np.uint64(value) + np.uint64(copy) * _COPY) * _SPREAD
    return np.int64(mixed >> np.uint64(64 - bits))


@njit(cache=True, nogil=True)
def elements(indptr: I64, values: U64, copies: bool) -> tuple[I64, U64, I32]:
    """The distinct elements of each list, by first appearance.

    Args:
        indptr: int64 (n + 1,), list i's values are indptr[i] to indptr[i + 1].
        values: uint64.
        copies: each copy of a value is an element; else only the first.

    Returns:
        int64 (n + 1,) offsets, uint64 values, and int32 numbers of the copy, from 0.
    """
    n = len(indptr) - 1
    longest = 0
    for i in range(n):
        longest = max(longest, indptr[i + 1] - indptr[i])
    capacity = 1 << _bits_for(longest)
    owner = np.full(capacity, -1, np.int64)  # the list that a slot was written for
    held = np.empty(capacity, np.uint64)
    counts = np.zeros(capacity, np.int32)
    offsets = np.zeros(n + 1, np.int64)
    kept = np.empty(len(values), np.uint64)
    numbers = np.empty(len(values), np.int32)
    size = 0
    for i in range(n):
        bits = _bits_for(indptr[i + 1] - indptr[i])
        for at in range(indptr[i], indptr[i + 1]):
            slot = _start(values[at], 0, bits)
            while owner[slot] == i and held[slot] != values[at]:
                slot = (slot + 1) & ((1 << bits) - 1)
            if owner[slot] != i:
                owner[slot] = i
                held[slot] = values[at]
                counts[slot] = 0
            elif copies:
                counts[slot] += 1
            else:
                continue
            kept[size] = values[at]
            numbers[size] = counts[slot]
            size += 1
        offsets[i + 1] = size
    return offsets, kept[:size].copy(), numbers[:size].copy()


@njit(cache=True, nogil=True)
def learn(values: U64, numbers: I32) -> tuple[I32, I32, I64]:
    """Number elements by first appearance.

    Args:
        values: uint64 (m,), see `elements`.
        numbers: int32 (m,).

    Returns:
        int32 (m,) tokens; int32 hash table of tokens, -1 where empty; int64 (vocabulary,)
        where each token first stands.
    """
    bits = _bits_for(len(values))
    table = np.full(1 << bits, -1, np.int32)
    tokens = np.empty(len(values), np.int32)
    firsts = np.empty(len(values), np.int64)
    size = 0
    for at in range(len(values)):
        slot = _start(values[at], numbers[at], bits)
        while table[slot] >= 0:
            first = firsts[table[slot]]
            if values[first] == values[at] and numbers[first] == numbers[at]:
                break
            slot = (slot + 1) & ((1 << bits) - 1)
        if table[slot] < 0:
            table[slot] = size
            firsts[size] = at
            size += 1
        tokens[at] = table[slot]
    return tokens, table, firsts[:size].copy()


@njit(cache=True, nogil=True)
def find(
    values: U64, numbers: I32, table: I32, known_values: U64, known_numbers: I32, counts: I64
) -> I32:
    """Tokens of elements, `len(known_values)` for the unknown ones.

    Args:
        values: uint64 (m,), see `elements`.
        numbers: int32 (m,).
        table: from `learn`.
        known_values: uint64 (vocabulary,), by token.
        known_numbers: int32 (vocabulary,), by token.
        counts: int64 (vocabulary,), how often each token was found; updated.
    """
    bits = 4
    while 1 << bits < len(table):
        bits += 1
    tokens = np.empty(len(values), np.int32)
    for at in range(len(values)):
        slot = _start(values[at], numbers[at], bits)
        token = table[slot]
        while token >= 0:
            if known_values[token] == values[at] and known_numbers[token] == numbers[at]:
                break
            slot = (slot + 1) & ((1 << bits) - 1)
            token = table[slot]
        if token < 0:
            tokens[at] = len(known_values)
        else:
            tokens[at] = token
            counts[token] += 1
    return tokens


@njit(cache=True, nogil=True)
def jaccard_block(
    offsets: I64,
    tokens: I32,
    lo: int,
    hi: int,
    slots: I32,
    bits: U64,
    starts: I64,
    postings: I32,
    sizes: I64,
    first: int,
    result: F64,
) -> None:
    """Write the Jaccard similarities of queries lo to hi to a block of documents.

    Args:
        offsets: int64 (queries + 1,) of `tokens`.
        tokens: int32, the distinct tokens of each query.
        lo: first query.
        hi: one past the last.
        slots, bits, starts, postings: see `indexers.kernels.jaccard.index_block`.
        sizes: int64 (n,), distinct elements of each document, unknown ones included.
        first: column of the block's first document.
        result: float64 (queries, documents); NaN where both sets are empty.
    """
    common = np.empty(len(sizes), np.int32)
    for query in range(lo, hi):
        mine = tokens[offsets[query] : offsets[query + 1]]
        intersections(mine, slots, bits, starts, postings, common)
        row = result[query, first : first + len(sizes)]
        for document in range(len(sizes)):
            shared = np.float64(common[document])
            union = np.float64(len(mine) + sizes[document]) - shared
            row[document] = shared / union if union > 0 else np.nan
