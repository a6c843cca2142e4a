"""Ranking measures over one matrix: row q is a query, column i holds what rank i + 1 brought.

Pure functions of arrays. `hits` may be bool, or float64 in [0, 1] where it is the probability
that the rank holds a relevant document: recall, precision and F1 at a fixed cut-off, and DCG,
are linear in it. A value is NaN where the measure is undefined: no relevant document, or no
positive gain.

Sources: AP and R as in trec_eval (AP there is `norm="R"`); nDCG by Järvelin and Kekäläinen,
ACM TOIS 20(4), 2002, whose own discount is `jk2` (base 2) and whose now usual form is `log2`.
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexers.types import F64, I64, Bool

Norm: TypeAlias = Literal["min", "R", "hits"]
Discount: TypeAlias = Literal["log2", "jk2"]
Ideal: TypeAlias = Literal["judged", "retrieved"]
Found: TypeAlias = Bool | F64


def divide(above: NDArray[Any], below: NDArray[Any]) -> F64:
    """Elementwise quotient, NaN where the divisor is 0."""
    out: F64 = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=out, where=below != 0)
    return out


def recall(hits: Found, relevant: I64) -> F64:
    """R@K: hits / relevant. `hits` is (queries, K), `relevant` int64 (queries,)."""
    return divide(hits.sum(axis=1), relevant)


def precision(hits: Found, relevant: I64) -> F64:
    """P@K: hits / K, also where fewer than K documents were returned."""
    return np.where(relevant > 0, hits.sum(axis=1) / hits.shape[1], np.nan)


def f1(hits: Found, relevant: I64) -> F64:
    """F1@K: the harmonic mean of P@K and R@K, which is 2 · hits / (K + relevant)."""
    return np.where(relevant > 0, 2 * hits.sum(axis=1) / (hits.shape[1] + relevant), np.nan)


def success(hits: Bool, relevant: I64) -> F64:
    """Success@K: 1 where any of the K is relevant, else 0."""
    return np.where(relevant > 0, hits.any(axis=1).astype(np.float64), np.nan)


def average_precision(hits: Bool, relevant: I64, norm: Norm = "min") -> F64:
    """AP@K: the sum of the precision at each hit, divided as `norm` says.

    Args:
        hits: bool (queries, K).
        relevant: int64 (queries,), relevant documents R of each query.
        norm: `min` divides by min(R, K); `R` by R, as trec_eval does; `hits` by the hits
            found, as hashing papers do (0 where there are none).

    Example:
        R = 10, K = 5, hits at ranks 1 and 3: 0.333 (min), 0.167 (R), 0.833 (hits).
    """
    ranks = np.arange(1, hits.shape[1] + 1)
    total = (np.cumsum(hits, axis=1) / ranks * hits).sum(axis=1)
    if norm == "hits":
        found = np.maximum(hits.sum(axis=1), 1)
        return np.where(relevant > 0, total / found, np.nan)
    return normalise_precisions(total, relevant, hits.shape[1], norm)


def normalise_precisions(
    total: F64, relevant: I64, cutoff: int, norm: Literal["min", "R"] = "min"
) -> F64:
    """AP from the sum of precisions at the hits, float64 (queries,)."""
    return divide(total, np.minimum(relevant, cutoff) if norm == "min" else relevant)


def discounts(cutoff: int, discount: Discount = "log2") -> F64:
    """Divisors of ranks 1 … `cutoff`: log2(rank + 1), or for `jk2` 1, then log2(rank)."""
    shift = 1 if discount == "log2" else 0
    # log2(1) = 0 is where `jk2` does not discount; max(1, ·) touches no later rank
    return np.array([max(1.0, math.log2(rank + shift)) for rank in range(1, cutoff + 1)])


def dcg(gains: F64, discount: Discount = "log2", cut: I64 | None = None) -> F64:
    """Σ gain / discount over the columns of `gains` (queries, K), to rank `cut` of each row."""
    weighted = gains / discounts(gains.shape[1], discount)
    if cut is not None:
        weighted = weighted * (np.arange(gains.shape[1]) < cut[:, None])
    return np.asarray(weighted.sum(axis=1), dtype=np.float64)


def ndcg(
    gains: F64,
    judged: F64,
    *,
    ideal: Ideal = "judged",
    discount: Discount = "log2",
    cut: I64 | None = None,
) -> F64:
    """nDCG@K with linear gain.

    Args:
        gains: float64 (queries, K), gain at each rank, 0 where unjudged or nothing stands.
        judged: float64 (queries, J), all judged gains of each query, falling, padded with 0;
            more than K of them are cut.
        ideal: `judged` sorts all judged documents; `retrieved` only the list itself.
        discount: see `discounts`.
        cut: int64 (queries,), a cut of each query's own, at most K; for `%20` it is
            ⌊0.2 · pool⌋, see `pool_cut`.

    Example:
        Gains 0, 3, 1, 0, 0 give 0.6590 with `ideal="retrieved"`.
    """
    best = -np.sort(-gains, axis=1) if ideal == "retrieved" else _width(judged, gains.shape[1])
    values = divide(dcg(gains, discount, cut), dcg(best, discount, cut))
    found = np.where(np.isnan(values), 0.0, values)
    return np.where((judged > 0).any(axis=1), found, np.nan)


def pool_cut(pool: I64, percent: int) -> I64:
    """⌊percent / 100 · pool⌋ for pool sizes int64 (queries,), reckoned in integers."""
    return pool * percent // 100


def _width(values: F64, width: int) -> F64:
    if values.shape[1] >= width:
        return values[:, :width]
    return np.pad(values, ((0, 0), (0, width - values.shape[1])))
