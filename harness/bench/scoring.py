"""Rankings of pools, or of all documents, by a similarity of fingerprints."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from harness.collection.pools import Pools
from harness.measures.pooled import CUTOFFS, Pooled, concatenated, pooled
from indexers.protocols import Similarity
from indexers.types import F64, I64, Fingerprints, Form

Protocol: TypeAlias = Literal["pool", "corpus"]

KEPT_SCORES = 2**20
_BLOCK_SCORES = 2**20
"""Scores in memory at once under the protocol `corpus`."""


@dataclass(frozen=True, slots=True)
class Task:
    """What every family and similarity is asked to rank.

    Attributes:
        pools: queries, candidates and gains.
        protocol: `pool` ranks the judged candidates, `corpus` all documents, unjudged ones with
            gain 0; the query itself is left out of both.
        relevant_from: binary measures count gains from here.
        cutoffs: of P, R and F1.
    """

    pools: Pools
    protocol: Protocol
    relevant_from: float
    cutoffs: Sequence[int] = CUTOFFS


@dataclass(frozen=True, slots=True)
class Scored:
    """A task ranked by one similarity.

    Attributes:
        pooled: the measures of each row.
        scores: for each row float64 (candidates,), as `matrix` gave them; none where they are
            more than `KEPT_SCORES`.
        seconds: spent in the similarity.
    """

    pooled: Pooled
    scores: tuple[F64, ...]
    seconds: float


def score(
    task: Task, similarity: Similarity, form: Form, documents: Fingerprints, queries: Fingerprints
) -> Scored:
    """Rank every row of the task.

    Args:
        task: what is ranked.
        similarity: how; fitted first where it has to be.
        form: in which fingerprints are compared.
        documents: of all documents of the corpus.
        queries: of all its queries.
    """
    rank = _score_pools if task.protocol == "pool" else _score_corpus
    return rank(task, similarity.fitted(documents), form, documents, queries)


def _score_pools(
    task: Task, similarity: Similarity, form: Form, documents: Fingerprints, queries: Fingerprints
) -> Scored:
    pools = task.pools
    scores = np.empty(len(pools.candidates))
    seconds = 0.0
    for row, query in enumerate(pools.queries):
        pairs = slice(pools.indptr[row], pools.indptr[row + 1])
        asked = queries.take(np.array([query], np.int64))
        offered = documents.take(pools.candidates[pairs].astype(np.int64))
        started = time.perf_counter()
        scores[pairs] = similarity.matrix(asked, offered, form)[0]
        seconds += time.perf_counter() - started
    found = _measured(task, pools.indptr, scores, pools.gains)
    kept = np.split(scores, pools.indptr[1:-1]) if len(scores) <= KEPT_SCORES else []
    return Scored(found, tuple(kept), seconds)


def _score_corpus(
    task: Task, similarity: Similarity, form: Form, documents: Fingerprints, queries: Fingerprints
) -> Scored:
    n = len(documents)
    step = max(1, _BLOCK_SCORES // max(n, 1))
    parts: list[Pooled] = []
    ranked: list[F64] = []
    seconds = 0.0
    for start in range(0, len(task.pools), step):
        rows = np.arange(start, min(start + step, len(task.pools)), dtype=np.int64)
        asked = queries.take(task.pools.queries[rows])
        started = time.perf_counter()
        scores = similarity.matrix(asked, documents, form)
        seconds += time.perf_counter() - started
        kept = np.ones(scores.shape, np.bool_)
        own = task.pools.corpus.query_self[task.pools.queries[rows]]
        kept[np.flatnonzero(own >= 0), own[own >= 0]] = False
        indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
        if n * len(task.pools) <= KEPT_SCORES:
            ranked += list(scores)
        parts.append(_measured(task, indptr, scores[kept], _gains(task.pools, rows, n)[kept]))
    found = concatenated(parts)
    return Scored(found, tuple(ranked), seconds)


def _gains(pools: Pools, rows: I64, n: int) -> F64:
    """float64 (rows, n): gains of all documents, 0 where unjudged."""
    gains = np.zeros((len(rows), n))
    for place, row in enumerate(rows):
        pairs = slice(pools.indptr[row], pools.indptr[row + 1])
        gains[place, pools.candidates[pairs]] = pools.gains[pairs]
    return gains


def _measured(task: Task, indptr: I64, scores: F64, gains: F64) -> Pooled:
    return pooled(indptr, scores, gains, relevant_from=task.relevant_from, cutoffs=task.cutoffs)
