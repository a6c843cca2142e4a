"""What load is asked for, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from indexers.index_types import BackendConfig, IndexHandle, SearchParams
from indexers.manifest import Parameter
from indexers.types import F64, I32, U8

NOT_ASKED = 0
UNDER_LOAD = 1
WITHOUT_LOAD = 2
UNANSWERED = 3


@dataclass(frozen=True, slots=True)
class LoadProfile:
    """The load of one trial.

    Attributes:
        rate_per_s: requests a second that the open-loop schedule sends, > 0.
        samples: measured requests.
        burst_s: length of the closed-loop burst that gives the capacity; 0 leaves it out.
        users: concurrent users of the burst, at least 1.
        seed: of the order in which queries are asked.
        timeout_s: a request longer than this counts as infinite latency.
        warmup_min: requests before measuring starts, at least.
        warmup_max_s: warm-up ends after this, settled or not.
        backlog_limit_s: a later start than this, or a longer drain, ends the trial as saturated.
        every_query: raise `samples` to one per runnable query, however long that takes.
        zipf_exponent: of the law by which queries are drawn; None to ask each as often as any
            other.
    """

    rate_per_s: float
    samples: int = 1000
    burst_s: float = 0.5
    users: int = 4
    seed: int = 123
    timeout_s: float = 1.0
    warmup_min: int = 200
    warmup_max_s: float = 10.0
    backlog_limit_s: float = 2.0
    every_query: bool = True
    zipf_exponent: float | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """One setting of a built index, as the load process opens it.

    Attributes:
        config: of the backend.
        handle: the built index.
        params: search parameters; `params.k` answers are kept per query.
        queries: folder of stored query fingerprints and texts (`indexers.store`).
        made_by: what must have made those fingerprints, since it made the index's
            (`indexers.store.hash_parameters`); empty for texts.
        ids: file of document ids by ordinal (`indexers.store.save_ids`).
        runnable: int32 (m,), rows of the queries that may be asked.
    """

    config: BackendConfig
    handle: IndexHandle
    params: SearchParams
    queries: Path
    ids: Path
    runnable: I32
    made_by: Mapping[str, Parameter] = field(default_factory=dict)

    @property
    def engine(self) -> str:
        """Name of the backend."""
        return self.handle.spec.backend


@dataclass(frozen=True, slots=True)
class AttachedIndex:
    """An index of someone else's, as the load process asks it; it is only ever searched.

    Attributes:
        engine: name of the engine.
        config: where its server is.
        index: its name.
        bodies: a search request each, as JSON; empty for a query that cannot be asked.
        ids: file of document ids by ordinal (`indexers.store.save_ids`), by which answers are
            judged; None where they are only counted.
        id_field: that holds a document's id; None for `_id`.
        k: answers kept per query; 0 where they are only counted.
    """

    engine: str
    config: BackendConfig
    index: str
    bodies: tuple[bytes, ...]
    ids: Path | None = None
    id_field: str | None = None
    k: int = 0

    @property
    def runnable(self) -> I32:
        """int32 (m,), every body that is not empty."""
        return np.flatnonzero([bool(body) for body in self.bodies]).astype(np.int32)


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What the load process saw.

    Attributes:
        latency_ms: float64 (n,), from the intended start to the answer, in schedule order;
            infinite for errors and timeouts.
        service_ms: float64 (n,), from the actual start; infinite likewise.
        query: int32 (n,), row of the query that each sample asked.
        answers: int32 (queries, k), first answer of each query, ordinals, padded with -1.
        state: uint8 (queries,), NOT_ASKED, UNDER_LOAD, WITHOUT_LOAD or UNANSWERED.
        rate_per_s: achieved open-loop rate.
        qps: closed-loop capacity; None without a burst.
        errors: samples and burst requests that failed or timed out.
        error_texts: a few of their messages, each different.
        duplicates: answers given twice within one reply, dropped.
        short: first answers with fewer than k documents.
        saturated: the backlog ran past its limit.
        unsettled: warm-up ended without two windows agreeing.
        cold_ms: latency of the very first request after opening; None where none was made.
        repeats: answers to a query that had been answered before, in any phase.
        agreeing: of them, those with the same documents in the same order as the query's first.
        unknown: documents in first answers of an attached index that the corpus has not.
    """

    latency_ms: F64
    service_ms: F64
    query: I32
    answers: I32
    state: U8
    rate_per_s: float
    qps: float | None
    errors: int
    error_texts: tuple[str, ...] = field(default=())
    duplicates: int = 0
    short: int = 0
    saturated: bool = False
    unsettled: bool = False
    cold_ms: float | None = None
    repeats: int = 0
    agreeing: int = 0
    unknown: int = 0
