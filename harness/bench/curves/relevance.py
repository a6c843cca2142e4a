"""What is relevant to whom, for hash curves: listed pairs, nearest vectors, or the ball rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.collection.types import Judgments
from harness.measures.curves_counting import PairRelevance
from harness.measures.relevance import default_relevant_from
from indexers.errors import SettingError
from indexers.types import F64, I32, I64, Bool, Nearest, Progress, no_progress

BALL_RANK = 50
TIE = 1e-12
"""Cosines this close are equal: the sums behind them may be taken in another order. Of points at
a distance d that are told apart they are 1e-12 / d nearer or farther."""
_HELD = 8_000_000
"""Distances held at a time."""


def split_rows(rows: int, share: float, seed: int) -> tuple[I64, I64]:
    """Split rows at random into training and query points, both ascending.

    Args:
        rows: how many there are.
        share: of the query points, below 1; or their number, from 1.
        seed: 0 to 2^32 - 1; the same rows on every machine.

    Raises:
        SettingError: either side would be empty.
    """
    asked = max(1, round(share * rows)) if 0 < share < 1 else share
    if not 1 <= asked < rows or asked != int(asked):
        raise SettingError(
            f"split {share:g}: leaves no points on one side of {rows} rows; give a share between "
            f"0 and 1, or a number of query points from 1 to {rows - 1}"
        )
    order = np.random.RandomState(seed).permutation(rows).astype(np.int64)
    cut = int(asked)
    return np.sort(order[cut:]), np.sort(order[:cut])


def judged_pairs(judgments: Judgments, relevant_from: float | None) -> PairRelevance:
    """The judged pairs whose gain is `relevant_from` or more (None: 2 where any gain is, else 1).

    Raises:
        SettingError: `relevant_from` is not above 0, or no pair is relevant.
    """
    since = default_relevant_from(judgments) if relevant_from is None else relevant_from
    if not since > 0:
        raise SettingError(f"relevant-from is {since:g}: it must be above 0")
    kept = judgments.gains >= since
    if not kept.any():
        raise SettingError(
            f"no judgment reaches {since:g}, so nothing is relevant; lower --relevant-from"
        )
    running = np.concatenate([[0], np.cumsum(kept)])
    return PairRelevance(running[judgments.indptr], judgments.documents[kept])


def nearest_pairs(nearest: Nearest) -> PairRelevance:
    """Exact neighbours with their ties as pairs."""
    rows = np.repeat(np.arange(len(nearest.indptr) - 1), np.diff(nearest.indptr))
    order = np.lexsort((nearest.documents, rows))
    return PairRelevance(nearest.indptr, nearest.documents[order])


def listed_pairs(ids: I64) -> PairRelevance:
    """Row numbers listed for each query, int64 (queries, K), -1 for none, repeats dropped."""
    ordered = np.sort(ids, axis=1)
    new = ordered >= 0
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return _of_mask_rows([(ordered[new].astype(np.int32), np.count_nonzero(new, axis=1))])


def by_cosine(
    documents: F64, queries: F64, k: int, progress: Progress = no_progress
) -> PairRelevance:
    """The k nearest documents of each query by cosine, with all that tie with the k-th.

    A vector of zeros is no one's neighbour and has none.

    Args:
        documents: float64 (n, D).
        queries: float64 (queries, D).
        k: from 1; all documents where there are fewer.
        progress: called with the number of queries done since the last call.

    Raises:
        SettingError: k is below 1.
    """
    if k < 1:
        raise SettingError(f"k is {k}: give the number of neighbours, from 1")
    units, there = _units(documents)
    asked, asking = _units(queries)
    units, ordinals = units[there], np.flatnonzero(there)
    k = min(k, len(units))
    parts = []
    for block in _blocks(len(asked), len(units)):
        cosines = asked[block] @ units.T
        kth = np.partition(cosines, len(units) - k, axis=1)[:, [len(units) - k]]
        near = (cosines >= kth - TIE) & asking[block, None]
        parts.append(_listed(near, ordinals))
        progress(len(near))
    return _of_mask_rows(parts)


@dataclass(frozen=True, slots=True)
class Ball:
    """The Hamming-ball rule applied.

    Attributes:
        radius: Dball, the distance that near means.
        pairs: training points strictly closer to each query point.
    """

    radius: float
    pairs: PairRelevance


def by_ball(
    training: F64, queries: F64, rank: int = BALL_RANK, progress: Progress = no_progress
) -> Ball:
    """Which training points are near each query point, as papers on hash codes define it.

    All points are centred by their common mean and normalised to unit length. Dball is the mean
    over the training points of the `rank`-th smallest entry of their row of Euclidean distances
    to the training points, the point itself (distance 0) included. Near is strictly closer than
    Dball, by more than rounding: the cosine of a point at distance d is 1 - d² / 2, and has to be
    greater by more than `TIE`. A point that is the mean itself has no direction: it is left out.

    Args:
        training: float64 (n, D).
        queries: float64 (queries, D).
        rank: 1 to n.
        progress: called with the number of points done since the last call, of both sides.

    Raises:
        SettingError: there are fewer training points than `rank`.
    """
    centre = (training.sum(axis=0) + queries.sum(axis=0)) / (len(training) + len(queries))
    units, there = _units(training - centre)
    asked, asking = _units(queries - centre)
    units, ordinals = units[there], np.flatnonzero(there)
    if not 1 <= rank <= len(units):
        raise SettingError(
            f"the ball rule takes the {rank}th smallest distance, and {len(units)} training "
            f"points have one; give more vectors, or a --ball-rank from 1 to {len(units)}"
        )
    total = 0.0
    for block in _blocks(len(units), len(units)):
        distances = _distances(units[block], units)
        distances[np.arange(len(distances)), np.arange(len(units))[block]] = 0.0
        total += float(np.partition(distances, rank - 1, axis=1)[:, rank - 1].sum())
        progress(len(distances))
    radius = total / len(units)
    beyond = 1 - radius * radius / 2 + TIE
    parts = []
    for block in _blocks(len(asked), len(units)):
        near = (asked[block] @ units.T > beyond) & asking[block, None]
        parts.append(_listed(near, ordinals))
        progress(len(near))
    return Ball(radius, _of_mask_rows(parts))


def _units(vectors: F64) -> tuple[F64, Bool]:
    """Vectors of unit length, and which have a direction at all."""
    lengths = np.sqrt((vectors * vectors).sum(axis=1))
    # centring leaves rounding noise where a point is the mean
    there = lengths > 1e-12 * max(1.0, float(lengths.max(initial=0.0)))
    return vectors / np.where(there, lengths, 1.0)[:, None], there


def _distances(some: F64, others: F64) -> F64:
    """Euclidean distances of unit vectors."""
    result: F64 = np.sqrt(np.maximum(2 - 2 * (some @ others.T), 0.0))
    return result


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _HELD // max(1, columns))
    return (slice(start, start + step) for start in range(0, rows, step))


def _listed(near: Bool, ordinals: I64) -> tuple[I32, I64]:
    """The ordinals marked in each row, and how many each row has."""
    columns = np.nonzero(near)[1]
    return ordinals[columns].astype(np.int32), np.count_nonzero(near, axis=1).astype(np.int64)


def _of_mask_rows(parts: list[tuple[I32, I64]]) -> PairRelevance:
    counts = np.concatenate([np.zeros(1, np.int64), *(sizes for _, sizes in parts)])
    documents = [np.empty(0, np.int32), *(documents for documents, _ in parts)]
    return PairRelevance(np.cumsum(counts), np.concatenate(documents))
