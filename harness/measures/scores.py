"""Every measure of a run, query by query.

The truth of a study is made ready once (`prepare_truth`) and scores every trial's answers
(`score_run`); reference rankings are scored in expectation over their ties (`score_nearest`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from harness.collection.types import Judgments, Neighbours
from harness.measures import ann, names, ranking, ties
from harness.measures.answers import check_distinct, check_known, tied_share
from harness.measures.relevance import Relevance
from harness.measures.truth import Empty, Truth, prepare_truth
from indexers.errors import HarnessError
from indexers.types import F64, I32, I64, Nearest

__all__ = [
    "Scores",
    "Truth",
    "prepare_truth",
    "score_answers",
    "score_nearest",
    "score_ranking",
    "score_run",
]


@dataclass(frozen=True, slots=True)
class Scores:
    """Measures of one run.

    Attributes:
        per_query: printed name -> float64 (queries,) in [0, 1], NaN where the query is left
            out; all of `names.measure_names`, NaN throughout where there is no truth for it.
        relevant_from: what binary measures counted from; None without judgments.
        tied_share: share of the ranked scores that another document has too; None where the
            scores are not known.
    """

    per_query: dict[str, F64]
    relevant_from: float | None = None
    tied_share: float | None = None

    def means(self) -> dict[str, float | None]:
        """Mean of each measure over the queries that carry it; None where none does."""
        return {name: _mean(values) for name, values in self.per_query.items()}

    def counts(self) -> dict[str, int]:
        """Number of queries in each mean."""
        return {
            name: int(np.count_nonzero(~np.isnan(values)))
            for name, values in self.per_query.items()
        }


def score_run(
    answers: I32,
    truth: Truth,
    *,
    code_scores: F64 | None = None,
    code_kth: F64 | None = None,
    n_indexed: int | None = None,
) -> Scores:
    """Score answers as returned.

    Args:
        answers: int32 (queries, K), ordinals best first, padded with -1, without the query's
            own document (`answers.drop_self`).
        truth: of the same corpus and cut-off.
        code_scores: float64 (queries, K), code similarity of the answers, NaN at padding.
        code_kth: float64 (queries,), code similarity of the K-th nearest by code, the query's
            own document apart; NaN where the query has no code.
        n_indexed: documents that have a code; None for all that have features.

    Raises:
        HarnessError: a document twice in a row, an unknown one, the query's own, or answers of
            another shape.
    """
    _check_answers(answers, truth)
    values = dict.fromkeys(names.MEASURES, np.full(len(answers), np.nan))
    if truth.relevance is not None:
        values |= _judged(answers, truth.relevance, truth.empty)
    if truth.nearest is not None:
        values[names.ANN_RECALL] = ann.ann_recall(answers, truth.nearest, truth.returnable)
    if code_scores is not None and code_kth is not None:
        coded = truth.usable if n_indexed is None else n_indexed
        returnable = truth.returnable - (truth.usable - coded)
        values[names.CODE_RECALL] = ann.code_recall(code_scores, code_kth, returnable)
    return _scores(values, truth, None if code_scores is None else tied_share(code_scores))


def score_nearest(nearest: Nearest, truth: Truth, *, by_id: bool = False) -> Scores:
    """Score an exact ranking in expectation over its ties, or with ties broken by id.

    Args:
        nearest: documents by falling similarity with the whole tie class of the K-th; where
            fewer than K are listed, all others tie at the least similarity. Queries without
            features answer nothing.
        truth: of the same corpus and cut-off; against the neighbours of the very similarity
            that ranks, `ANNRecall` is 1.
        by_id: break ties by id instead.
    """
    ranked = ties.tied_ranking(nearest, truth.cutoff, truth.returnable)
    if by_id:
        answers = ties.ranked_by_id(nearest, truth.cutoff, truth.n_documents, truth.query_self)
        values = score_run(answers, truth)
        return Scores(values.per_query, values.relevant_from, ranked.tied_share())
    expected = dict.fromkeys(names.MEASURES, np.full(len(truth.query_self), np.nan))
    if truth.relevance is not None:
        expected |= _judged_expected(ranked, truth.relevance, truth.empty)
    if truth.nearest is not None:
        expected[names.ANN_RECALL] = _ann_expected(ranked, truth.nearest, truth.returnable)
    return _scores(expected, truth, ranked.tied_share())


def score_answers(
    answers: I32,
    *,
    judgments: Judgments | None,
    neighbours: Neighbours | None,
    cutoff: int,
    n_documents: int,
    query_self: I32,
    relevant_from: float | None = None,
    code_scores: F64 | None = None,
    code_kth: F64 | None = None,
    n_indexed: int | None = None,
    empty: Empty = "skip",
) -> Scores:
    """`prepare_truth` and `score_run` in one, for a single run; arguments as there."""
    truth = prepare_truth(
        judgments=judgments,
        neighbours=neighbours,
        cutoff=cutoff,
        n_documents=n_documents,
        query_self=query_self,
        relevant_from=relevant_from,
        empty=empty,
    )
    return score_run(
        answers, truth, code_scores=code_scores, code_kth=code_kth, n_indexed=n_indexed
    )


def score_ranking(
    nearest: Nearest,
    *,
    judgments: Judgments | None,
    neighbours: Neighbours | None = None,
    cutoff: int,
    n_documents: int,
    query_self: I32,
    relevant_from: float | None = None,
    by_id: bool = False,
    empty: Empty = "skip",
) -> Scores:
    """`prepare_truth` and `score_nearest` in one; arguments as there."""
    truth = prepare_truth(
        judgments=judgments,
        neighbours=neighbours,
        cutoff=cutoff,
        n_documents=n_documents,
        query_self=query_self,
        relevant_from=relevant_from,
        empty=empty,
    )
    return score_nearest(nearest, truth, by_id=by_id)


def _judged(answers: I32, relevance: Relevance, empty: Empty) -> dict[str, F64]:
    rows = np.arange(len(answers), dtype=np.int64)[:, None]
    gains, _ = relevance.look_up(rows, answers)
    hits, relevant = relevance.is_relevant(gains), relevance.relevant
    values = {
        names.RECALL: ranking.recall(hits, relevant),
        names.PRECISION: ranking.precision(hits, relevant),
        names.F1: ranking.f1(hits, relevant),
        names.AVERAGE_PRECISION: ranking.average_precision(hits, relevant),
        names.NDCG: ranking.ndcg(gains, relevance.ideal),
        names.SUCCESS: ranking.success(hits, relevant),
    }
    return _fill(values, empty)


def _judged_expected(
    ranked: ties.TiedRanking, relevance: Relevance, empty: Empty
) -> dict[str, F64]:
    gains, _ = relevance.look_up(ranked.rows, ranked.documents)
    worth = ties.class_values(ranked, gains, relevance.total_gain)
    relevant = relevance.relevant
    hits = ties.class_values(ranked, relevance.is_relevant(gains), relevant)
    values = {
        names.RECALL: ranking.recall(hits.mean, relevant),
        names.PRECISION: ranking.precision(hits.mean, relevant),
        names.F1: ranking.f1(hits.mean, relevant),
        names.AVERAGE_PRECISION: ties.expected_average_precision(ranked, hits, relevant),
        names.NDCG: ranking.ndcg(worth.mean, relevance.ideal),
        names.SUCCESS: ties.expected_success(ranked, hits, relevant),
    }
    # sums of class means may pass 1 by a last digit
    return _fill({name: np.minimum(v, 1.0) for name, v in values.items()}, empty)


def _ann_expected(ranked: ties.TiedRanking, truth: ann.TrueNearest, returnable: I64) -> F64:
    counts = truth.counts(ranked.rows, ranked.documents)
    totals = np.where(truth.every, returnable, truth.listed)
    found = ties.class_values(ranked, counts, totals).mean.sum(axis=1)
    share = ann.share_found(found, ranked.at.shape[1], returnable)
    return np.where(truth.valid, share, np.nan)


def _fill(values: dict[str, F64], empty: Empty) -> dict[str, F64]:
    if empty == "skip":
        return values
    return {name: np.where(np.isnan(v), 0.0, v) for name, v in values.items()}


def _scores(values: dict[str, F64], truth: Truth, tied: float | None) -> Scores:
    per_query = {names.at(measure, truth.cutoff): v for measure, v in values.items()}
    relevant_from = None if truth.relevance is None else truth.relevance.relevant_from
    return Scores(per_query, relevant_from, tied)


def _mean(values: F64) -> float | None:
    kept = values[~np.isnan(values)]
    # exactly rounded, so that the order of queries does not show in the last digit
    return math.fsum(kept.tolist()) / len(kept) if len(kept) else None


def _check_answers(answers: I32, truth: Truth) -> None:
    wanted = (len(truth.query_self), truth.cutoff)
    if answers.shape != wanted:
        raise HarnessError(f"answers have shape {answers.shape}, not (queries, K) = {wanted}")
    check_known(answers, truth.n_documents)
    check_distinct(answers)
    own = ((answers == truth.query_self[:, None]) & (answers >= 0)).any(axis=1)
    if own.any():
        raise HarnessError(
            f"answers to query {int(np.argmax(own))} hold the query itself: drop it first, "
            f"asking for one more"
        )
