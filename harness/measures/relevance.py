"""Judgments made ready to score many runs with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.collection.types import Judgments
from harness.measures.answers import find, pair_keys, pair_rows
from harness.measures.names import JUDGED, MEASURES, NDCG
from indexers.errors import SettingError
from indexers.types import F64, I32, I64, Bool


def default_relevant_from(judgments: Judgments) -> float:
    """The label that binary measures count from: 2 where any label reaches 2, else 1."""
    return 2.0 if len(judgments.gains) and float(judgments.gains.max()) >= 2 else 1.0


def carried_measures(judgments: Judgments | None, relevant_from: float | None) -> list[str]:
    """Names, without cut-off, of the measures that some query carries.

    nDCG needs a gain above 0, binary measures a label from `relevant_from` on; the measures
    against neighbours need no judgments.
    """
    neighbours = [name for name in MEASURES if name not in JUDGED]
    if judgments is None or not len(judgments.gains):
        return neighbours
    since = default_relevant_from(judgments) if relevant_from is None else relevant_from
    greatest = float(judgments.gains.max())
    judged = [name for name in JUDGED if greatest >= since or (name == NDCG and greatest > 0)]
    return [*judged, *neighbours]


@dataclass(frozen=True, slots=True)
class Relevance:
    """Judgments as a sorted table, a query's own document left out.

    Attributes:
        keys: int64 (pairs,), ascending, see `answers.pair_keys`.
        gains: float64 (pairs,).
        n_documents: in the corpus.
        relevant_from: binary measures count gains from here.
        relevant: int64 (queries,), relevant documents of each query.
        total_gain: float64 (queries,).
        ideal: float64 (queries, K), each query's largest gains, falling, padded with 0.
    """

    keys: I64
    gains: F64
    n_documents: int
    relevant_from: float
    relevant: I64
    total_gain: F64
    ideal: F64

    def look_up(self, rows: I64, documents: I32) -> tuple[F64, Bool]:
        """Gains of (query row, ordinal) pairs, 0 where unjudged, and which are judged.

        Args:
            rows: int64, broadcast against `documents`.
            documents: int32, ordinals, -1 where there is none.
        """
        wanted = pair_keys(rows, documents, self.n_documents)
        at, found = find(self.keys, wanted)
        found &= documents >= 0
        gains = np.zeros(wanted.shape)
        gains[found] = self.gains[at[found]]
        return gains, found

    def is_relevant(self, gains: F64) -> Bool:
        """Which gains binary measures count."""
        return gains >= self.relevant_from


def prepare_relevance(
    judgments: Judgments,
    *,
    cutoff: int,
    n_documents: int,
    query_self: I32,
    relevant_from: float | None = None,
) -> Relevance:
    """Make judgments ready.

    Args:
        judgments: graded, of as many queries as `query_self` has.
        cutoff: K, how deep the ideal ranking is kept.
        n_documents: in the corpus.
        query_self: int32 (queries,); a judgment of a query's own document does not count, since
            that document is not among the answers.
        relevant_from: None for `default_relevant_from`.

    Raises:
        SettingError: `relevant_from` is not above 0.
    """
    if relevant_from is None:
        relevant_from = default_relevant_from(judgments)
    if not relevant_from > 0:
        raise SettingError(
            f"relevant-from is {relevant_from:g}: it must be above 0, since documents without "
            f"a judgment have gain 0 and are not relevant"
        )
    rows = pair_rows(judgments.indptr)
    kept = judgments.documents != query_self[rows]
    rows, documents, gains = rows[kept], judgments.documents[kept], judgments.gains[kept]
    queries = len(query_self)
    return Relevance(
        keys=pair_keys(rows, documents, n_documents),
        gains=gains,
        n_documents=n_documents,
        relevant_from=relevant_from,
        relevant=np.bincount(rows[gains >= relevant_from], minlength=queries),
        total_gain=np.bincount(rows, weights=gains, minlength=queries).astype(np.float64),
        ideal=_largest(rows, gains, queries, cutoff),
    )


def _largest(rows: I64, gains: F64, queries: int, cutoff: int) -> F64:
    """The `cutoff` largest gains of each row, falling; `rows` ascend."""
    order = np.lexsort((-gains, rows))
    start = np.searchsorted(rows, np.arange(queries))
    rank = np.arange(len(rows)) - start[rows]
    top = rank < cutoff
    ideal = np.zeros((queries, cutoff))
    ideal[rows[top], rank[top]] = gains[order][top]
    return ideal
