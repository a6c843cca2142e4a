"""Hash curves by rank where documents of one distance are ranked by id."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.measures.curves import DistanceCounts
from harness.measures.curves_counting import (
    Coded,
    PairRelevance,
    Relevance,
    in_pieces,
    others_listed,
)
from harness.measures.ranking import divide
from indexers.codes import code_words
from indexers.types import F64, I64, U64, Progress, Status, no_progress


def found_by_id(
    coded: Coded,
    relevance: Relevance,
    counts: DistanceCounts,
    ranks: I64,
    progress: Progress = no_progress,
) -> tuple[F64, F64]:
    """Relevant documents among the first k, and AP, with ties broken by document.

    Args:
        coded: as for `count_distances`.
        relevance: as for `count_distances`.
        counts: what `count_distances` gave for them.
        ranks: int64 (ranks,), from 1, ascending.
        progress: called with the number of queries done since the last call.

    Returns:
        float64 (queries, ranks), and float64 (queries,): the sum of the precision at each
        relevant document's rank / relevant documents, NaN where there are none.
    """
    held = np.flatnonzero(coded.status == Status.OK)
    place = np.full(len(coded.status) + 1, -1, np.int64)  # the last one stands for ordinal -1
    place[held] = np.arange(len(held))
    columns = np.ascontiguousarray(code_words(coded.codes)[held].T)
    query_words = code_words(coded.query_codes)
    own = place[coded.query_self]
    listed = _lister(coded, relevance)
    found = np.zeros((len(own), len(ranks)))
    sums = np.zeros(len(own))

    def piece(row: int) -> int:
        if coded.query_status[row] == Status.OK:
            ordinals = place[listed(row)]
            ordinals = ordinals[ordinals >= 0]
            at = _ranks(columns, query_words[row], own[row], ordinals, counts.documents[row])
            found[row] = np.searchsorted(at, ranks, "right")
            sums[row] = (np.arange(1, len(at) + 1) / at).sum()
        return 1

    in_pieces(range(len(own)), piece, progress)
    return found, divide(sums, counts.wanted)


def _lister(coded: Coded, relevance: Relevance) -> Callable[[int], I64]:
    """Gives the relevant documents of a query, ascending, its own left out."""
    if isinstance(relevance, PairRelevance):
        indptr, documents = others_listed(coded, relevance)
        return lambda row: documents[indptr[row] : indptr[row + 1]].astype(np.int64)
    order = np.argsort(relevance.documents, kind="stable")
    labels = relevance.documents[order]
    first = np.searchsorted(labels, relevance.queries, "left")
    stop = np.searchsorted(labels, relevance.queries, "right")

    def listed(row: int) -> I64:
        same = order[first[row] : stop[row]]
        others: I64 = same[same != coded.query_self[row]]
        return others

    return listed


def _ranks(columns: U64, query: U64, own: int, ordinals: I64, sizes: I64) -> I64:
    """Ranks, ascending from 1, of some documents among all by (distance, document)."""
    from indexers.kernels.curves import rank_by_id

    ranks = np.zeros(len(ordinals), np.int64)
    rank_by_id(columns, query, own, ordinals, np.cumsum(sizes) - sizes, ranks)
    return np.sort(ranks)
