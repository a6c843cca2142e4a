"""Distances counted per query: the histograms that every hash curve is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from indexers.kernels.hamming import popcount

TILE = 8192
"""Documents whose distances to one query are held at a time: they stay in a core's cache."""
BANKS = 4
"""Counters of the same distance, so that equal distances in a row do not wait for each other."""


@njit(cache=True, nogil=True)
def _tile_distances(columns: Any, query: Any, start: int, row: Any) -> None:
    """Distances of documents start, start + 1, … to one query; fills `row`, uint16."""
    row[:] = 0
    for word in range(len(query)):
        column = columns[word, start : start + len(row)]
        wanted = query[word]
        for i in range(len(row)):
            row[i] += np.uint16(popcount(column[i] ^ wanted))


@njit(cache=True, nogil=True)
def count_ranges(
    columns: Any, queries: Any, starts: Any, stops: Any, lo: int, hi: int, counts: Any
) -> None:
    """Add the distances of each query to its range of documents.

    Args:
        columns: uint64 (words, n); a document is a column.
        queries: uint64 (queries, words).
        starts: int64 (queries,), first document of each query's range.
        stops: int64 (queries,), one past the last.
        lo: first query.
        hi: one past the last.
        counts: int64 (queries, bits + 1), added to in rows lo to hi.
    """
    width = counts.shape[1]
    held = np.empty(TILE, np.uint16)
    banks = np.empty((BANKS, width), np.int64)
    for tile in range(0, columns.shape[1], TILE):
        for query in range(lo, hi):
            start = max(tile, starts[query])
            size = min(tile + TILE, stops[query]) - start
            if size <= 0:
                continue
            row = held[:size]
            _tile_distances(columns, queries[query], start, row)
            banks[:] = 0
            whole = size - size % BANKS
            for i in range(0, whole, BANKS):
                for bank in range(BANKS):
                    banks[bank, row[i + bank]] += 1
            for i in range(whole, size):
                banks[0, row[i]] += 1
            for bank in range(BANKS):
                for distance in range(width):
                    counts[query, distance] += banks[bank, distance]


@njit(cache=True, nogil=True)
def rank_by_id(
    columns: Any, query: Any, excluded: int, documents: Any, firsts: Any, ranks: Any
) -> None:
    """Rank, from 1, of each listed document among all by (distance, document).

    Args:
        columns: uint64 (words, n).
        query: uint64 (words,).
        excluded: a document that is not ranked, or -1.
        documents: int64 (m,), ascending.
        firsts: int64 (bits + 1,), documents nearer than each distance; counted up.
        ranks: int64 (m,), filled.
    """
    n = columns.shape[1]
    held = np.empty(TILE, np.uint16)
    listed = 0
    for tile in range(0, n, TILE):
        row = held[: min(TILE, n - tile)]
        _tile_distances(columns, query, tile, row)
        for i in range(len(row)):
            if tile + i == excluded:
                continue
            firsts[row[i]] += 1
            if listed < len(documents) and documents[listed] == tile + i:
                ranks[listed] = firsts[row[i]]
                listed += 1
