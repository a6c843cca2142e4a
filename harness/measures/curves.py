"""Hash curves: precision, recall and retrieved share by Hamming radius and by rank.

Every curve is made of two histograms a query: how many documents, and how many relevant ones,
lie at each distance 0 … B. The ball of radius r holds the documents at distance r or less, r
included, so that the ball of radius B holds everything.

- Micro pools (query, document) pairs over queries; macro averages over queries.
- Precision of an empty ball is 0/0. Macro counts it as 0 (`empty="zero"`, as hashing papers do)
  or leaves the query out at that radius (`empty="skip"`). Micro pools it away. Where nothing is
  left, precision is NaN.
- Queries without relevant documents are left out of every curve. A query without a code finds
  nothing at any radius; a relevant document without a code is never found.
- By rank, documents of one distance are one tie class. Expected values hold for every order
  within it alike (McSherry and Najork, ECIR 2008), or ties are broken by document id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.measures.ranking import divide
from indexers.types import F64, I64, Bool

Average: TypeAlias = Literal["micro", "macro"]
Empty: TypeAlias = Literal["zero", "skip"]


@dataclass(frozen=True, slots=True)
class DistanceCounts:
    """How many documents lie at each distance of each query.

    Attributes:
        documents: int64 (queries, B + 1), at distance 0 … B; the query's own is left out.
        relevant: int64 (queries, B + 1), those of them that are relevant.
        wanted: int64 (queries,), relevant documents, with or without a code.
        returnable: int64 (queries,), documents with a code, less the query's own.
    """

    documents: I64
    relevant: I64
    wanted: I64
    returnable: I64

    @property
    def bits(self) -> int:
        """B, the width of the codes."""
        return int(self.documents.shape[1]) - 1

    @property
    def scored(self) -> Bool:
        """bool (queries,): those that have relevant documents."""
        return self.wanted > 0


@dataclass(frozen=True, slots=True)
class RadiusCurve:
    """One value for each radius 0 … B, NaN where undefined.

    Attributes:
        precision: float64 (B + 1,), relevant documents in the ball / documents in it.
        recall: float64 (B + 1,), relevant documents in the ball / relevant documents.
        retrieved: float64 (B + 1,), documents in the ball / documents.
    """

    precision: F64
    recall: F64
    retrieved: F64


@dataclass(frozen=True, slots=True)
class RankCurve:
    """One value for each rank asked for, NaN where no query has relevant documents.

    Attributes:
        ranks: int64 (ranks,), from 1.
        precision: float64 (ranks,), relevant among the first k / k, the same for micro and
            macro, also where fewer than k documents have a code.
        recall: float64 (ranks,), relevant among the first k / relevant documents.
    """

    ranks: I64
    precision: F64
    recall: F64


def by_radius(
    counts: DistanceCounts, *, average: Average = "micro", empty: Empty = "zero"
) -> RadiusCurve:
    """Precision, recall and retrieved share of the balls of radius 0 … B.

    Args:
        counts: of all queries; those without relevant documents are left out.
        average: `micro` sums over queries before it divides, `macro` divides first.
        empty: what an empty ball's precision is for `macro`: 0, or left out.

    Example:
        Codes 0000, 0001, 0111, 1111 with labels 0, 1, 0, 1 and queries 0000 (0) and 1100 (1):
        micro precision 1, .5, .5, .571, .5; macro .5, .25, .5, .583, .5 (`zero`).
    """
    scored = counts.scored
    balls = np.cumsum(counts.documents[scored], axis=1)
    hits = np.cumsum(counts.relevant[scored], axis=1)
    wanted, returnable = counts.wanted[scored, None], counts.returnable[scored, None]
    if average == "micro":
        pooled, found = balls.sum(axis=0), hits.sum(axis=0)
        return RadiusCurve(
            divide(found, pooled), divide(found, wanted.sum()), divide(pooled, returnable.sum())
        )
    precision = divide(hits, balls)
    if empty == "zero":
        precision[balls == 0] = 0.0
    return RadiusCurve(
        mean_defined(precision),
        mean_defined(divide(hits, wanted)),
        mean_defined(divide(balls, returnable)),
    )


def ball_sizes(counts: DistanceCounts) -> F64:
    """Mean number of documents in the ball of each radius, float64 (B + 1,)."""
    return mean_defined(np.cumsum(counts.documents[counts.scored], axis=1).astype(np.float64))


def empty_balls(counts: DistanceCounts) -> I64:
    """Queries whose ball of each radius holds no document, int64 (B + 1,)."""
    balls = np.cumsum(counts.documents[counts.scored], axis=1)
    return np.asarray(np.count_nonzero(balls == 0, axis=0), np.int64)


def precision_within(counts: DistanceCounts, radius: int, *, empty: Empty = "zero") -> float:
    """Mean precision of the balls of one radius, at most B; NaN where undefined."""
    curve = by_radius(counts, average="macro", empty=empty)
    return float(curve.precision[min(radius, counts.bits)])


def expected_found(counts: DistanceCounts, ranks: I64) -> F64:
    """Expected relevant documents among the first k, ties in random order.

    Within a tie class every place holds a relevant document with the class's share of them, so
    that the expectation is linear between the ball sizes.

    Args:
        counts: of all queries.
        ranks: int64 (ranks,), from 1, ascending.

    Returns:
        float64 (queries, ranks).
    """
    start = np.zeros((len(counts.wanted), 1), np.int64)
    balls = np.concatenate([start, np.cumsum(counts.documents, axis=1)], axis=1)
    hits = np.concatenate([start, np.cumsum(counts.relevant, axis=1)], axis=1)
    found = np.empty((len(balls), len(ranks)))
    for row in range(len(balls)):
        new = np.append(True, balls[row, 1:] > balls[row, :-1])  # empty classes hold no place
        found[row] = np.interp(ranks, balls[row, new], hits[row, new])
    return found


def by_rank(found: F64, wanted: I64, ranks: I64, *, average: Average = "micro") -> RankCurve:
    """Precision and recall of the first k answers.

    Args:
        found: float64 (queries, ranks), (expected) relevant documents among the first k.
        wanted: int64 (queries,), relevant documents; queries with none are left out.
        ranks: int64 (ranks,).
        average: of recall: `micro` pools over queries, `macro` averages their recalls.
    """
    found, wanted = found[wanted > 0], wanted[wanted > 0]
    precision = mean_defined(found / ranks)
    if average == "micro":
        return RankCurve(ranks, precision, divide(found.sum(axis=0), wanted.sum()))
    return RankCurve(ranks, precision, mean_defined(found / wanted[:, None]))


def expected_average_precision(counts: DistanceCounts) -> F64:
    """Expected AP over the whole ranking, divided by the relevant documents R.

    Of a class of m documents, r of them relevant, behind s documents with h relevant, place i
    (from 0) adds r/m · (h + 1 + i (r − 1)/(m − 1)) / (s + i + 1). Summed over the class this
    is r/m · ((h + 1) ΔH + (r − 1)/(m − 1) · (m − (s + 1) ΔH)), ΔH = Σ 1/j for j from s + 1 to
    s + m.

    Returns:
        float64 (queries,), NaN where nothing is relevant.
    """
    m, r = counts.documents, counts.relevant
    start, ahead = np.cumsum(m, axis=1) - m, np.cumsum(r, axis=1) - r
    steps = harmonic_between(start, start + m)
    before = np.maximum(r - 1, 0) / np.maximum(m - 1, 1) * (m - (start + 1) * steps)
    sums = r / np.maximum(m, 1) * ((ahead + 1) * steps + before)
    return divide(sums.sum(axis=1), counts.wanted)


_EXACT_UP_TO = 64
_HARMONIC = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, _EXACT_UP_TO + 1))])


def harmonic_between(start: I64, stop: I64) -> F64:
    """Σ 1/j for j from start + 1 to stop, without loss of digits far out.

    Exact sums up to 64, then the difference of the expansions
    H(n) = ln n + γ + 1/2n − 1/12n² + 1/120n⁴ − … (Knuth, TAOCP vol. 1, 1.2.7).

    Args:
        start: int64, at least 0.
        stop: int64 of the same shape, at least start.
    """
    near = _HARMONIC[np.minimum(stop, _EXACT_UP_TO)] - _HARMONIC[np.minimum(start, _EXACT_UP_TO)]
    low = np.maximum(start, _EXACT_UP_TO).astype(np.float64)
    high = np.maximum(stop, _EXACT_UP_TO).astype(np.float64)
    far: F64 = near + np.log1p((high - low) / low) + _expansion(high) - _expansion(low)
    return far


def _expansion(n: F64) -> F64:
    inverse = 1 / n
    square = inverse * inverse
    return inverse / 2 - square * (1 / 12 - square * (1 / 120 - square / 252))


def ranks_to_show(documents: int) -> I64:
    """Ranks 1 to 100, from there 20 a decade, and the last: int64, ascending."""
    if documents <= 100:
        return np.arange(1, documents + 1)
    steps = np.ceil(20 * np.log10(documents / 100)).astype(int)
    far = np.rint(100 * 10 ** (np.arange(1, steps) / 20)).astype(np.int64)
    far = far[far < documents]
    return np.unique(np.concatenate([np.arange(1, 101), far, [documents]]))


def mean_defined(values: NDArray[Any]) -> F64:
    """Mean over the rows that are not NaN, of each column; NaN where there is none."""
    defined = ~np.isnan(values)
    return divide(np.where(defined, values, 0.0).sum(axis=0), np.count_nonzero(defined, axis=0))
