"""Dense similarity matrices, and the greatest values of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from indexers.kernels.hamming import popcount
from indexers.types import F32, F64, I32, I64

TILE = 1024
"""Documents at a time: their counters stay in the first-level cache."""


@njit(cache=True, nogil=True)
def tabled_distances(
    columns: Any, queries: Any, lo: int, hi: int, by_bits: bool, table: F64, result: F64
) -> None:
    """Write table[distance] of every document to queries lo to hi.

    Args:
        columns: (width, n): uint64, words of packed codes, or uint32, rows of signatures.
        queries: (queries, width) of the same type.
        lo: first query.
        hi: one past the last.
        by_bits: the distance is the number of differing bits; else that of differing words.
        table: float64 (greatest distance + 1,).
        result: float64 (queries, n), rows lo to hi are written.
    """
    width, n = columns.shape
    counts = np.empty(TILE, np.uint16)
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        for query in range(lo, hi):
            counts[:size] = 0
            for word in range(width):
                column = columns[word, start : start + size]
                wanted = queries[query, word]
                if by_bits:
                    for i in range(size):
                        counts[i] += np.uint16(popcount(np.uint64(column[i] ^ wanted)))
                else:
                    for i in range(size):
                        counts[i] += np.uint16(column[i] != wanted)
            row = result[query, start : start + size]
            for i in range(size):
                row[i] = table[counts[i]]


@njit(cache=True, nogil=True)
def manhattan(columns: F32, queries: F32, lo: int, hi: int, result: F64) -> None:
    """Write 1 / (1 + sum of absolute differences), summed in the order of the places.

    Args:
        columns: float32 (D, n).
        queries: float32 (queries, D).
        lo: first query.
        hi: one past the last.
        result: float64 (queries, n), rows lo to hi are written.
    """
    width, n = columns.shape
    sums = np.empty(TILE, np.float64)
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        for query in range(lo, hi):
            sums[:size] = 0.0
            for place in range(width):
                column = columns[place, start : start + size]
                wanted = np.float64(queries[query, place])
                for i in range(size):
                    sums[i] += abs(np.float64(column[i]) - wanted)
            row = result[query, start : start + size]
            for i in range(size):
                row[i] = 1.0 / (1.0 + sums[i])


@njit(cache=True, nogil=True)
def greatest(
    matrix: F64, lo: int, hi: int, first: int, exclude: I32, floor: float, best: F64, held: I64
) -> tuple[I64, I32, F64]:
    """Documents of a block that may be among the nearest of queries lo to hi.

    Args:
        matrix: float64 (queries, n), similarities to the block's documents; NaN where a
            document is no answer.
        lo: first query.
        hi: one past the last.
        first: ordinal of the block's first document.
        exclude: int32 (queries,), an ordinal that is never given, or -1.
        floor: documents at it are counted, but never given.
        best: float64 (queries, k), the k greatest similarities so far, falling; updated.
        held: int64 (queries,), how many documents could be answers so far; updated.

    Returns:
        int64 (hi - lo,) number of documents for each query; int32 ordinals, rising within a
        query; float64 similarities, at least the k-th best so far.
    """
    n = matrix.shape[1]
    k = best.shape[1]
    found = np.zeros(hi - lo, np.int64)
    ordinals = np.empty((hi - lo) * n, np.int32)
    similarities = np.empty((hi - lo) * n, np.float64)
    total = 0
    for query in range(lo, hi):
        before = total
        bound = best[query, k - 1]
        for document in range(n):
            similarity = matrix[query, document]
            if np.isnan(similarity) or first + document == exclude[query]:
                continue
            held[query] += 1
            if similarity < bound or similarity <= floor:
                continue
            ordinals[total] = first + document
            similarities[total] = similarity
            total += 1
            if similarity > bound:
                i = k - 1
                while i > 0 and best[query, i - 1] < similarity:
                    best[query, i] = best[query, i - 1]
                    i -= 1
                best[query, i] = similarity
                bound = best[query, k - 1]
        found[query - lo] = total - before
    return found, ordinals[:total].copy(), similarities[:total].copy()
