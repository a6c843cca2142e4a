"""Answers as a matrix: one row a query, ordinals best first, -1 where there is none."""

from __future__ import annotations

import numpy as np

from indexers.errors import HarnessError
from indexers.types import F64, I32, I64, Bool


def first_seen(answers: I32) -> Bool:
    """Where a row holds a document for the first time; false at padding.

    Args:
        answers: int32 (queries, k), ordinals, -1 where there is none.

    Returns:
        bool, of the same shape.
    """
    order = np.argsort(answers, axis=1, kind="stable")
    ordered = np.take_along_axis(answers, order, axis=1)
    first = ordered >= 0
    first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    seen = np.empty_like(first)
    np.put_along_axis(seen, order, first, axis=1)
    return seen


def check_known(answers: I32, n_documents: int) -> None:
    """Refuse answers that hold an ordinal of no document.

    Raises:
        HarnessError: naming the first row that does.
    """
    if answers.size and int(answers.max()) >= n_documents:
        row = int(np.argmax((answers >= n_documents).any(axis=1)))
        raise HarnessError(
            f"answers to query {row} hold ordinal {int(answers[row].max())}, but the corpus has "
            f"{n_documents} documents: the index belongs to another corpus"
        )


def check_distinct(answers: I32) -> None:
    """Refuse answers that hold a document twice.

    Raises:
        HarnessError: naming the first row that does.
    """
    ordered = np.sort(answers, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        row, column = (int(i) for i in np.argwhere(twice)[0])
        raise HarnessError(
            f"answers to query {row} hold document {int(ordered[row, column])} twice: a run is "
            f"scored only without duplicates, drop the later one"
        )


def drop_self(answers: I32, query_self: I32) -> I32:
    """Take the query's own document out of its answers, else the last answer.

    Args:
        answers: int32 (queries, K + 1), ordinals best first, padded with -1.
        query_self: int32 (queries,), ordinal of the document that is the query, or -1.

    Returns:
        int32 (queries, K).

    Raises:
        HarnessError: a row holds a document twice.
    """
    check_distinct(answers)
    own = (answers == query_self[:, None]) & (answers >= 0)
    order = np.argsort(own, axis=1, kind="stable")[:, :-1]
    return np.take_along_axis(answers, order, axis=1)


def tied_share(scores: F64) -> float | None:
    """Share of answers whose score another answer to the same query has too.

    Args:
        scores: float64 (queries, K), falling within a row, NaN at padding.

    Returns:
        Mean over the queries with answers; None where there are none.
    """
    same = scores[:, 1:] == scores[:, :-1]
    tied = np.zeros(scores.shape, dtype=np.bool_)
    tied[:, 1:] |= same
    tied[:, :-1] |= same
    answered = np.count_nonzero(~np.isnan(scores), axis=1)
    some = answered > 0
    if not some.any():
        return None
    return float(np.mean(np.count_nonzero(tied[some], axis=1) / answered[some]))


def pair_keys(rows: I64, documents: I32, n_documents: int) -> I64:
    """One integer for each (query row, ordinal), ascending by both; padding is to be masked."""
    return rows.astype(np.int64) * n_documents + documents.astype(np.int64)


def pair_rows(indptr: I64) -> I64:
    """The query row of each pair: int64 (pairs,), for offsets int64 (queries + 1,)."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=np.int64), np.diff(indptr))


def find(keys: I64, wanted: I64) -> tuple[I64, Bool]:
    """Where each wanted key stands among ascending `keys`, and whether it is there at all.

    Returns:
        Positions, valid indices wherever `keys` is not empty; and the mask of those found.
    """
    if len(keys) == 0:
        return np.zeros(wanted.shape, dtype=np.int64), np.zeros(wanted.shape, dtype=np.bool_)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted
