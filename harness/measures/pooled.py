"""Measures of whole rankings by score, in expectation over their ties.

A pool is what one query ranks: its judged candidates, or all documents. Candidates of one score
are one class whose orders are equally likely (`ties`); those without a score come last, as one
class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.measures import ranking, ties
from harness.measures.answers import pair_rows
from indexers.types import F64, I64, Bool, Nearest

AVERAGE_PRECISION = "MAP"
NDCG = "nDCG"
NDCG_20 = "nDCG@20"
NDCG_JK2 = "nDCG(discount=jk2)%20"
CUTOFFS = (5, 10, 15, 20, 25)
_DEPTH, _PERCENT = 20, 20


def pooled_names(cutoffs: Sequence[int] = CUTOFFS) -> tuple[str, ...]:
    """Names of all measures, in the order of reports."""
    cut = [f"{name}@{cutoff}" for name in ("P", "R", "F1") for cutoff in cutoffs]
    return (AVERAGE_PRECISION, NDCG_20, NDCG_JK2, NDCG, *cut)


@dataclass(frozen=True, slots=True)
class Pooled:
    """Measures of each pool.

    Attributes:
        per_query: name -> float64 (rows,) in [0, 1]; 0 where nothing is relevant, which for
            MAP is the sum of precisions divided by max(1, relevant).
        tied: float64 (rows,), share of the candidates whose score another one has too.
        constant: bool (rows,), whether all candidates that have a score have the same.
        unscored: int64 (rows,), candidates without a score.
    """

    per_query: dict[str, F64]
    tied: F64
    constant: Bool
    unscored: I64


def pooled(
    indptr: I64,
    scores: F64,
    gains: F64,
    *,
    relevant_from: float,
    cutoffs: Sequence[int] = CUTOFFS,
) -> Pooled:
    """Measure rankings of pools.

    MAP is AP divided by the relevant candidates; nDCG's ideal is the pool's; `%20` cuts at a
    fifth of the pool, rounded down, and `jk2` is the discount of Järvelin and Kekäläinen (2002)
    with base 2; P, R and F1 as in `ranking`.

    Args:
        indptr: int64 (rows + 1,); row r's candidates are indptr[r] to indptr[r + 1], not none.
        scores: float64 (pairs,), higher ranks first; NaN for none.
        gains: float64 (pairs,), at least 0.
        relevant_from: binary measures count gains from here.
        cutoffs: of P, R and F1; a pool that is smaller is filled up with nothing.
    """
    rows, sizes = pair_rows(indptr), np.diff(indptr)
    values = np.where(np.isnan(scores), -np.inf, scores)
    order = np.lexsort((-values, rows))
    worth, hit = gains[order], (gains >= relevant_from)[order]
    ranked = ties.tied_ranking(_as_nearest(indptr, values[order]), int(sizes.max()), sizes)
    relevant = np.bincount(rows, hit, len(sizes)).astype(np.int64)
    total = np.bincount(rows, worth, len(sizes)).astype(np.float64)
    expected = ties.class_values(ranked, worth, total).mean
    hits = ties.class_values(ranked, hit, relevant)
    ideal = np.zeros(expected.shape)
    best = np.lexsort((-gains, rows))
    ideal[rows, np.arange(len(rows)) - indptr[rows]] = gains[best]
    cut = ranking.pool_cut(sizes, _PERCENT)
    found = {
        # K is the greatest pool, so that AP(norm=min) divides by all relevant candidates
        AVERAGE_PRECISION: ties.expected_average_precision(ranked, hits, relevant),
        NDCG_20: ranking.ndcg(expected[:, :_DEPTH], ideal),
        NDCG_JK2: ranking.ndcg(expected, ideal, discount="jk2", cut=cut),
        NDCG: ranking.ndcg(expected, ideal),
        **_at_cutoffs(hits.mean, relevant, cutoffs),
    }
    in_order = pooled_names(cutoffs)
    return Pooled(
        {name: np.clip(np.nan_to_num(found[name]), 0.0, 1.0) for name in in_order},
        _tied(ranked, sizes),
        _constant(indptr, values),
        np.bincount(rows, np.isnan(scores), len(sizes)).astype(np.int64),
    )


def concatenated(parts: Sequence[Pooled]) -> Pooled:
    """Measures of blocks of rows as one."""
    return Pooled(
        {
            name: np.concatenate([part.per_query[name] for part in parts])
            for name in parts[0].per_query
        },
        np.concatenate([part.tied for part in parts]),
        np.concatenate([part.constant for part in parts]),
        np.concatenate([part.unscored for part in parts]),
    )


def _as_nearest(indptr: I64, falling: F64) -> Nearest:
    """The whole ranking, its documents named by their places."""
    rows = len(indptr) - 1
    return Nearest(
        indptr,
        np.arange(len(falling), dtype=np.int32),
        falling,
        falling[indptr[1:] - 1],
        np.ones(rows, np.bool_),
    )


def _at_cutoffs(chance: F64, relevant: I64, cutoffs: Sequence[int]) -> dict[str, F64]:
    found = {}
    for cutoff in cutoffs:
        hits = chance[:, :cutoff]
        missing = max(cutoff - hits.shape[1], 0)
        hits = np.pad(hits, ((0, 0), (0, missing)))
        found[f"P@{cutoff}"] = ranking.precision(hits, relevant)
        found[f"R@{cutoff}"] = ranking.recall(hits, relevant)
        found[f"F1@{cutoff}"] = ranking.f1(hits, relevant)
    return found


def _tied(ranked: ties.TiedRanking, sizes: I64) -> F64:
    shared = ranked.size[ranked.pair_class] > 1
    return ranking.divide(np.bincount(ranked.rows, shared, len(sizes)), sizes)


def _constant(indptr: I64, values: F64) -> Bool:
    greatest = np.maximum.reduceat(values, indptr[:-1])
    least = np.minimum.reduceat(np.where(np.isneginf(values), np.inf, values), indptr[:-1])
    return greatest <= least
