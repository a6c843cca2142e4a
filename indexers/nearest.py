"""Searches by the matrix of any similarity, in blocks of documents that fit in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indexers.kernels import threads
from indexers.listing import Found, joined, listed
from indexers.protocols import Similarity
from indexers.types import (
    F64,
    I32,
    Fingerprints,
    Form,
    Nearest,
    Progress,
    Status,
    no_progress,
)

HELD = 16_000_000
"""Similarities held at a time (8 bytes each)."""
MOST_DOCUMENTS = 65_536
"""Documents a block, however few the queries."""


def least(similarity: Similarity, form: Form) -> float:
    """The similarity of documents that have nothing in common with a query, −inf without one.

    Documents at it are counted, but never listed, as `Nearest` tells.
    """
    return similarity.least.get(form, -np.inf)


def nearest_by_matrix(
    similarity: Similarity,
    form: Form,
    queries: Fingerprints,
    documents: Fingerprints,
    *,
    k: int,
    exclude: I32,
    progress: Progress = no_progress,
) -> Nearest:
    """The k nearest documents of each query with all that tie with the k-th.

    Documents without a similarity (NaN) are never listed, nor are those at the `least` one.

    Args:
        similarity: any.
        form: that it is to compare.
        queries: a query that is not OK is not valid.
        documents: by ordinal.
        k: at least 1.
        exclude: int32 (queries,), ordinal of the document that is the query itself, or -1.
        progress: told of documents done.

    Returns:
        The nearest; `kth` of a query without any is the least similarity, 0 where there is none.

    Raises:
        SettingError: as `similarity.matrix`.
    """
    floor = least(similarity, form)
    best = np.full((len(queries), k), floor)
    held = np.zeros(len(queries), np.int64)
    block = max(1, min(MOST_DOCUMENTS, HELD // max(1, len(queries))))
    parts: list[Found] = []
    asked = only(queries, form)
    for first in range(0, len(documents), block):
        held_documents = only(documents, form, first, min(first + block, len(documents)))
        matrix = similarity.matrix(asked, held_documents, form)
        parts += _greatest(matrix, first, np.asarray(exclude, np.int32), floor, best, held)
        progress(len(held_documents))
    found = joined(parts)
    kth = best[np.arange(len(queries)), np.clip(np.minimum(held, k) - 1, 0, None)]
    keep = found.similarity >= kth[found.queries]
    kth = np.where(np.isfinite(kth), kth, 0.0)
    return listed(found, keep, kth, queries.status == Status.OK)


def _greatest(
    matrix: F64, first: int, exclude: I32, floor: float, best: F64, held: NDArray[np.int64]
) -> list[Found]:
    from indexers.kernels.similarity import greatest

    parts: dict[int, Found] = {}

    def work(lo: int, hi: int) -> None:
        found, ordinals, similarities = greatest(matrix, lo, hi, first, exclude, floor, best, held)
        queries = np.repeat(np.arange(lo, hi, dtype=np.int32), found)
        parts[lo] = Found(queries, ordinals, similarities)

    threads.over_pairs(len(matrix), matrix.shape[1], work)
    return [parts[lo] for lo in sorted(parts)]


def scores_by_matrix(
    similarity: Similarity,
    form: Form,
    queries: Fingerprints,
    documents: Fingerprints,
    answers: I32,
) -> F64:
    """Similarity of each query to its answers: float64 (queries, m), NaN where there is none.

    Args:
        similarity: any.
        form: that it is to compare.
        queries: of the answers' rows.
        documents: by ordinal.
        answers: int32 (queries, m), ordinals, padded with -1.

    Raises:
        SettingError: as `similarity.matrix`.
    """
    result = np.full(answers.shape, np.nan)
    documents = only(documents, form)
    for row in range(len(answers)):
        columns = np.flatnonzero(answers[row] >= 0)
        if len(columns):
            answered = documents.take(answers[row, columns].astype(np.int64))
            result[row, columns] = similarity.matrix(
                only(queries, form, row, row + 1), answered, form
            )[0]
    return result


def only(
    fingerprints: Fingerprints, form: Form, lo: int = 0, hi: int | None = None
) -> Fingerprints:
    """Rows lo to hi with nothing but one form, without a copy."""
    hi = len(fingerprints) if hi is None else hi
    rows = slice(lo, hi)
    codes = fingerprints.codes[rows]
    signatures, vectors = fingerprints.signatures, fingerprints.vectors
    hashes, strings = fingerprints.hashes, fingerprints.strings
    return Fingerprints(
        fingerprints.status[rows],
        codes if form == "bits" else codes[:, :0],
        np.zeros((0, 0, hi - lo), np.uint32),
        fingerprints.atom,
        signatures[rows] if form == "signature" and signatures is not None else None,
        hashes.part(lo, hi) if form == "sequence" and hashes is not None else None,
        strings.part(lo, hi) if form == "string" and strings is not None else None,
        vectors[rows] if form == "vector" and vectors is not None else None,
    )
