"""Sorted LSH tables: sorting keys, and one whole query without the interpreter lock."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from indexers.kernels.hamming import popcount
from indexers.types import F64, I32, U32, U64


@njit(cache=True, nogil=True)
def sort_table(words: U32) -> I32:
    """The stable order of one table's keys, compared word by word, first word first.

    A radix sort from the last word's lowest digit up, 11 bits a pass: equal keys stay in
    the order of their positions.

    Args:
        words: uint32 (words, n).

    Returns:
        int32 (n,), positions by rising key.
    """
    n = words.shape[1]
    order = np.arange(n).astype(np.int32)
    spare = np.empty(n, np.int32)
    start = np.empty(2048, np.int64)
    for word in range(words.shape[0] - 1, -1, -1):
        column = words[word]
        for shift in (0, 11, 22):
            start[:] = 0
            for i in range(n):
                start[(column[i] >> np.uint32(shift)) & np.uint32(2047)] += 1
            if n > 0 and start[(column[0] >> np.uint32(shift)) & np.uint32(2047)] == n:
                continue  # one digit for all: the pass would change nothing
            total = 0
            for digit in range(2048):
                count = start[digit]
                start[digit] = total
                total += count
            for i in range(n):
                digit = (column[order[i]] >> np.uint32(shift)) & np.uint32(2047)
                spare[start[digit]] = order[i]
                start[digit] += 1
            order, spare = spare, order
    return order


@njit(cache=True, nogil=True)
def _first_at_least(column: U32, low: int, high: int, shift: int, value: int) -> int:
    """First position in [low, high) whose word without its last `shift` bits is >= value."""
    while low < high:
        middle = (low + high) >> 1
        if int(column[middle] >> np.uint32(shift)) < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _candidates(
    keys: U32, order: I32, key: U32, tables: int, words: int, shift: int, n: int
) -> U64:
    """The documents that share the key's prefix in any of the first tables, as a bit set.

    A bit a document, made afresh for each query: no state is shared between threads, and
    walking it afterwards visits the codes in the order in which they lie in memory.
    """
    seen = np.zeros((n + 63) >> 6, np.uint64)
    for table in range(tables):
        low, high = 0, keys.shape[2]
        for word in range(words):
            drop = shift if word == words - 1 else 0
            column = keys[table, word]
            value = int(key[table, word] >> np.uint32(drop))
            low = _first_at_least(column, low, high, drop, value)
            high = _first_at_least(column, low, high, drop, value + 1)
        for i in range(low, high):
            document = int(order[table, i])
            seen[document >> 6] |= np.uint64(1) << np.uint64(document & 63)
    return seen


@njit(cache=True, nogil=True)
def _keep(ordinals: I32, distances: I32, size: int, document: int, distance: int) -> int:
    """Insert into the k best so far, given by rising (distance, ordinal); gives their number.

    Documents come in rising order, so one that ties with the last of a full list loses.
    """
    if size == len(ordinals):
        size -= 1
    i = size
    while i > 0 and distances[i - 1] > distance:
        ordinals[i] = ordinals[i - 1]
        distances[i] = distances[i - 1]
        i -= 1
    ordinals[i] = document
    distances[i] = distance
    return size + 1


@njit(cache=True, nogil=True)
def search_tables(
    keys: U32,
    order: I32,
    values: Any,
    query_keys: U32,
    query_values: Any,
    passing: U64,
    query: int,
    tables: int,
    words: int,
    shift: int,
    k: int,
    by_bits: bool,
    most: int,
) -> tuple[I32, F64]:
    """Answer one query: candidates of the first tables, re-ranked, the k best.

    Args:
        keys: uint32 (tables, words, n), each table's keys in sorted order.
        order: int32 (tables, n), the document of each key.
        values: (documents, width), what re-ranking compares: uint64, packed codes; or
            uint32, signature rows.
        query_keys: uint32 (queries, tables, words).
        query_values: (queries, width), of the same type.
        passing: uint64, a bit a document that may be answered; empty for all.
        query: row of the query.
        tables: the first tables to look in.
        words: words of the key that must agree.
        shift: bits of the last of these words that need not.
        k: answers wanted.
        by_bits: distance is the number of differing bits; else that of differing columns.
        most: the score of an equal code; a score is this less the distance.

    Returns:
        int32 (m,) documents and float64 (m,) scores, by (score falling, document rising).
    """
    seen = _candidates(keys, order, query_keys[query], tables, words, shift, values.shape[0])
    if len(passing) > 0:
        seen &= passing
    wanted = query_values[query]
    size = 0
    k = min(k, values.shape[0])
    ordinals = np.empty(k, np.int32)
    distances = np.empty(k, np.int32)
    for block in range(len(seen)):
        rest = seen[block]
        while rest != np.uint64(0):
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            document = (block << 6) + popcount(lowest - np.uint64(1))
            row = values[document]
            distance = 0
            if by_bits:
                for i in range(len(wanted)):
                    distance += popcount(np.uint64(row[i] ^ wanted[i]))
            else:
                for i in range(len(wanted)):
                    distance += row[i] != wanted[i]
            if size < k or distance < distances[k - 1]:
                size = _keep(ordinals, distances, size, document, distance)
    return ordinals[:size], (most - distances[:size]).astype(np.float64)
