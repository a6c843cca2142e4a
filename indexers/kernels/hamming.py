"""Distances between codes, and the nearest by counting distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from indexers.types import I32

U16: TypeAlias = NDArray[np.uint16]


def _popcount(_: Any, word: Any) -> Any:  # noqa: ARG001  # numba calls it with the word's type
    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


popcount = cast("Callable[[Any], int]", intrinsic(_popcount))
"""Number of set bits of an unsigned 64-bit word, as int64: one instruction."""


@njit(cache=True, nogil=True)
def distances(columns: Any, queries: Any, lo: int, hi: int, by_bits: bool) -> U16:
    """Distance of every document to queries lo to hi, in tiles that stay in the cache.

    Args:
        columns: (width, n): uint64, words of packed codes, or uint32, rows of signatures. A
            document is a column, so that one instruction compares several documents.
        queries: (queries, width) of the same type.
        lo: first query.
        hi: one past the last.
        by_bits: the number of differing bits; else that of differing words.

    Returns:
        uint16 (hi - lo, n).
    """
    width, n = columns.shape
    result = np.zeros((hi - lo, n), np.uint16)
    for start in range(0, n, 1024):
        stop = min(start + 1024, n)
        for query in range(lo, hi):
            row = result[query - lo, start:stop]
            for word in range(width):
                column = columns[word, start:stop]
                wanted = queries[query, word]
                if by_bits:
                    for i in range(len(row)):
                        row[i] += np.uint16(popcount(np.uint64(column[i] ^ wanted)))
                else:
                    for i in range(len(row)):
                        row[i] += np.uint16(column[i] != wanted)
    return result


@njit(cache=True, nogil=True)
def nearest_by_counting(row: U16, k: int, most: int) -> tuple[I32, I32, int]:
    """The k nearest documents with all that tie with the k-th, by a counting sort.

    Args:
        row: uint16 (n,), distances of all documents to one query; above `most` for documents
            that may not be answers.
        k: at least 1.
        most: the greatest possible distance. Documents at it are not listed.

    Returns:
        int32 (m,) documents and distances by (distance, document), and the distance of the
        k-th document, or of the last where there are fewer; `most` where there is none.
    """
    held = np.empty(len(row), np.int32)
    counts = np.zeros(most + 1, np.int64)
    size = total = 0
    bound = most
    for document in range(len(row)):
        distance = int(row[document])
        if distance <= bound:
            held[size] = document
            size += 1
            counts[distance] += 1
            total += 1  # within the bound
            while total - counts[bound] >= k:
                total -= counts[bound]
                bound -= 1
    while total < k and bound > 0 and counts[bound] == 0:
        bound -= 1
    kth = bound if total > 0 else most
    start = 0
    for distance in range(kth + 1):
        count = counts[distance]
        counts[distance] = start  # from here on: where its next document goes
        start += count
    listed = counts[most] if kth == most else start
    documents = np.empty(listed, np.int32)
    found = np.empty(listed, np.int32)
    for document in held[:size]:
        distance = int(row[document])
        if distance <= kth and distance < most:
            documents[counts[distance]] = document
            found[counts[distance]] = distance
            counts[distance] += 1
    return documents, found, kth
