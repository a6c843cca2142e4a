"""Expected measures of a ranking whose ties are broken at random.

A constant scorer must not look perfect because its input was in a lucky order: documents of
one similarity are one class, and each order within it is equally likely. Closed forms:

- the expected gain, and the probability of a hit, at a position is the class's mean; recall,
  precision, F1 and DCG are linear in them;
- expected precision at a tied position: McSherry and Najork, "Computing information retrieval
  performance measures efficiently in the presence of tied scores", ECIR 2008;
- Success: 1 − the hypergeometric probability of no hit among the K drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.measures.answers import pair_rows
from harness.measures.ranking import normalise_precisions
from indexers.types import F64, I32, I64, Bool, Nearest


@dataclass(frozen=True, slots=True)
class TiedRanking:
    """A ranking to rank K as tie classes; the documents that are not listed are the last class.

    Class c is one of the listed ones for c < classes; then come one class of unlisted documents
    a query, and one empty class.

    Attributes:
        rows: int64 (pairs,), query row of each listed document.
        documents: int32 (pairs,), their ordinals.
        pair_class: int64 (pairs,), the class of each listed document.
        class_row: int64 (classes,), the query row of each listed class.
        size: int64 (classes + queries + 1,), documents in each class.
        start: int64 (classes + queries + 1,), documents ahead of each class.
        at: int64 (queries, K), the class at each rank.
    """

    rows: I64
    documents: I32
    pair_class: I64
    class_row: I64
    size: I64
    start: I64
    at: I64

    @property
    def place(self) -> I64:
        """int64 (queries, K): how many documents of its class stand ahead of each rank."""
        place = np.arange(self.at.shape[1]) - self.start[self.at]
        return np.where(self.size[self.at] > 0, place, 0)

    def tied_share(self) -> float | None:
        """Share of the first K ranks held by a class of several documents.

        Returns:
            Mean over the queries that rank anything; None where there are none.
        """
        size = self.size[self.at]
        filled = np.count_nonzero(size, axis=1)
        some = filled > 0
        if not some.any():
            return None
        return float(np.mean(np.count_nonzero(size[some] > 1, axis=1) / filled[some]))


def tied_ranking(nearest: Nearest, cutoff: int, returnable: I64) -> TiedRanking:
    """Tie classes of a ranking.

    Args:
        nearest: documents by falling similarity with the whole tie class of the K-th. Where it
            lists fewer than K, all other documents share the least similarity.
        cutoff: K.
        returnable: int64 (queries,), documents in the corpus less the query itself.

    Returns:
        The ranking; queries without features rank nothing.
    """
    rows = pair_rows(nearest.indptr)
    queries = len(returnable)
    listed = np.diff(nearest.indptr)
    place = np.arange(len(rows)) - nearest.indptr[rows]
    new = place == 0
    new[1:] |= nearest.similarity[1:] != nearest.similarity[:-1]
    pair_class = np.cumsum(new) - 1
    classes = int(np.count_nonzero(new))
    rest = np.where(nearest.valid, np.maximum(returnable - listed, 0), 0)
    size = np.concatenate([np.bincount(pair_class, minlength=classes), rest, [0]])
    start = np.concatenate([place[new], listed, [0]])
    at = _class_at(pair_class, nearest, cutoff, listed + rest, classes)
    return TiedRanking(
        rows, nearest.documents, pair_class, rows[new], size, start, at.reshape(queries, cutoff)
    )


def _class_at(pair_class: I64, nearest: Nearest, cutoff: int, ranked: I64, classes: int) -> I64:
    """The class at each rank: listed, else unlisted, else the empty one."""
    queries = len(ranked)
    rank = np.arange(cutoff)
    pair = nearest.indptr[:-1, None] + rank
    at = np.full((queries, cutoff), classes + queries, dtype=np.int64)
    unlisted = (rank < ranked[:, None]) & nearest.valid[:, None]
    at[unlisted] = np.broadcast_to(classes + np.arange(queries)[:, None], at.shape)[unlisted]
    listed = (pair < nearest.indptr[1:, None]) & nearest.valid[:, None]
    at[listed] = pair_class[pair[listed]]
    return at


@dataclass(frozen=True, slots=True)
class ClassValues:
    """What a document is worth (gain, relevance, membership), summed over tie classes.

    Attributes:
        within: float64 (queries, K), the sum over the class at each rank.
        ahead: float64 (queries, K), the sum over the classes ahead of it.
        mean: float64 (queries, K), the expected value at each rank, 0 where nothing stands.
    """

    within: F64
    ahead: F64
    mean: F64


def class_values(ranking: TiedRanking, values: F64 | Bool, totals: F64 | I64) -> ClassValues:
    """Sum values over tie classes.

    Args:
        ranking: the tie classes.
        values: float64 or bool (pairs,), of the listed documents.
        totals: (queries,), over all documents of a query; what is not listed is the last
            class's.
    """
    classes, queries = len(ranking.class_row), len(totals)
    within = np.bincount(ranking.pair_class, values, classes).astype(np.float64)
    listed = np.bincount(ranking.class_row, weights=within, minlength=queries)
    first = np.searchsorted(ranking.class_row, np.arange(queries))
    running = np.concatenate([[0.0], np.cumsum(within)])
    ahead = running[:-1] - running[first][ranking.class_row]
    # float sums may differ in the last digit where nothing is left
    rest = np.where(totals - listed > 1e-9, totals - listed, 0.0)
    within = np.concatenate([within, rest, [0.0]])
    ahead = np.concatenate([ahead, listed, [0.0]])
    size = np.maximum(ranking.size, 1)
    return ClassValues(within[ranking.at], ahead[ranking.at], (within / size)[ranking.at])


def expected_average_precision(ranking: TiedRanking, hits: ClassValues, relevant: I64) -> F64:
    """Expected AP(norm=min)@K, float64 (queries,), NaN where nothing is relevant.

    At the i-th (from 0) of the m positions of a class with r relevant documents, j of K, the
    chance of a hit is r / m, and given it, each of the i documents before it in the class is
    relevant with chance (r − 1) / (m − 1).
    """
    place, size = ranking.place, ranking.size[ranking.at]
    before = place * np.maximum(hits.within - 1, 0) / np.maximum(size - 1, 1)
    ranks = np.arange(1, ranking.at.shape[1] + 1)
    total = (hits.mean * (hits.ahead + 1 + before) / ranks).sum(axis=1)
    return normalise_precisions(total, relevant, ranking.at.shape[1])


def expected_success(ranking: TiedRanking, hits: ClassValues, relevant: I64) -> F64:
    """Probability that one of the first K is relevant, NaN where nothing is."""
    place, size = ranking.place, ranking.size[ranking.at]
    misses = np.maximum(size - hits.within - place, 0)
    # drawn without replacement: the chance to miss again, given misses so far
    again = np.where(size > 0, misses / np.maximum(size - place, 1), 1.0)
    return np.where(relevant > 0, 1 - again.prod(axis=1), np.nan)


def ranked_by_id(nearest: Nearest, cutoff: int, n_documents: int, query_self: I32) -> I32:
    """The first K of a ranking with ties broken by id, unlisted documents last.

    Returns:
        int32 (queries, K), ordinals, padded with -1; nothing for queries without features.
    """
    queries = len(query_self)
    answers = np.full((queries, cutoff), -1, dtype=np.int32)
    for row in np.flatnonzero(nearest.valid):
        listed = nearest.documents[nearest.indptr[row] : nearest.indptr[row + 1]]
        best = listed[:cutoff]
        if len(best) < cutoff:
            # of the first cutoff + 1 ordinals at most len(best) + 1 are listed or the query
            low = np.arange(min(n_documents, cutoff + 1), dtype=np.int32)
            taken = np.append(listed, query_self[row])
            best = np.append(best, np.setdiff1d(low, taken))[:cutoff]
        answers[row, : len(best)] = best
    return answers
