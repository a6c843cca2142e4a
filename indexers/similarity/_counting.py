"""Nearest documents by an integer distance: distances of a few queries, then a counting sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from indexers.kernels import threads
from indexers.types import I32, U8, Nearest, Status

HELD = 16_000_000
"""Distances held at a time by each thread (2 bytes each)."""


def nearest_by_distance(
    values: Any,
    status: U8,
    query_values: Any,
    query_status: U8,
    *,
    k: int,
    exclude: I32,
    by_bits: bool,
    most: int,
) -> Nearest:
    """The k nearest with the whole tie class of the k-th; similarity = most − distance.

    Args:
        values: (n, width), uint64 packed codes or uint32 rows.
        status: uint8 (n,); only documents that are OK are answers.
        query_values: (queries, width) of the same type.
        query_status: uint8 (queries,); a query that is not OK is not valid.
        k: at least 1.
        exclude: int32 (queries,), a document that is no answer, or -1.
        by_bits: the distance counts differing bits; else differing columns.
        most: the greatest possible distance.
    """
    from indexers.kernels.hamming import distances, nearest_by_counting

    columns = np.ascontiguousarray(values.T)
    unusable = np.flatnonzero(status != Status.OK)
    chunk = max(1, min(64, HELD // max(1, len(values))))
    nobody = (np.empty(0, np.int32), np.empty(0, np.int32), most)

    def answer(lo: int) -> list[tuple[I32, I32, int]]:
        hi = min(lo + chunk, len(query_values))
        rows = distances(columns, query_values, lo, hi, by_bits)
        rows[:, unusable] = most + 1
        held = np.flatnonzero((exclude[lo:hi] >= 0) & (exclude[lo:hi] < len(values)))
        rows[held, exclude[lo + held]] = most + 1
        return [
            nearest_by_counting(rows[query - lo], k, most)
            if query_status[query] == Status.OK
            else nobody
            for query in range(lo, hi)
        ]

    chunks = threads.mapped(answer, range(0, len(query_values), chunk))
    answers = [answer for chunk_answers in chunks for answer in chunk_answers]
    indptr = np.zeros(len(answers) + 1, np.int64)
    np.cumsum([len(documents) for documents, _, _ in answers], out=indptr[1:])
    documents = np.concatenate([nobody[0], *(documents for documents, _, _ in answers)])
    found = np.concatenate([nobody[1], *(found for _, found, _ in answers)])
    kth = np.array([most - distance for _, _, distance in answers], np.float64)
    return Nearest(
        indptr, documents, (most - found).astype(np.float64), kth, query_status == Status.OK
    )
