"""What measuring a setting gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.settings import Setting


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting measured: one row of a study.

    Attributes:
        key: 16 hex digits, the hash of what was measured.
        setting: what was measured.
        baseline: part of every study, not of the sweep.
        status: `ok`, `failed` or `skipped`.
        error: why it failed, one line; None where ok.
        quality: measure name -> mean, None where no query carries it.
        measure_n: measure name -> number of queries in the mean.
        latency_ms: mean, p50, p90, p95, p99, max, n; a percentile is None where the sample
            cannot carry it, and where it is infinite. None for a failed trial.
        upper_ms: statistic -> one-sided 95 % upper bound; None where there is none or where
            it is infinite.
        service_ms: like latency_ms, from the actual start.
        encode_ms: mean time to fingerprint one query; None for kinds of texts.
        rate_per_s: achieved open-loop rate.
        qps: closed-loop capacity.
        errors: requests that failed or timed out.
        samples: latencies measured in the open loop, failed ones included.
        timeout_s: the limit beyond which a request counted as failed.
        build_s: time to build the index that served the trial.
        index_bytes: its size, replicas apart: without the tokens of other hash lengths where the
            engine tells the size of fields (`field_bytes`), else of the whole index that the
            trial shares with others, in Elasticsearch with what it keeps for recovery alone.
        flags: `client-bound`, `saturated`, `noisy`, `drift`, `cold`, `short-sample`, `errors`,
            `asked-without-load`, `unanswered`, `unstable-answers`, `indexing-slow`. Those that
            depend on the limit are added when it is known.
        null_ms: the null backend's statistics at the same rate: "latency" and "service",
            each statistic -> ms.
        short: queries that got fewer answers than the cut-off.
        cold_ms: latency of the first request after opening.
        tied_share: share of the answers whose code distance (with rerank `none`, number of
            tables) another answer to the query has; None for kinds of texts.
        remarks: what else was seen, one line each: error texts, duplicate answers.
        self_agreement: share of the answers to repeated queries that are the same as the query's
            first; None where none was asked twice.
        indexed_per_s: documents indexed again a second meanwhile; None for a quiet trial.
        server: of an engine's nodes: `heap_used_percent` of the fullest after the load, `gc_ms`,
            `gc_count` and `breaker_trips` during it, whatever caused them; empty where it does
            not tell.
        field_bytes: field -> bytes in the index that served the trial, where the engine tells.
        selectivity: share of the documents that pass the setting's filter; None without one.
        backend_version: of the library or server that answered; None where it was not told.
    """

    key: str
    setting: Setting
    baseline: bool
    status: str
    error: str | None = None
    quality: dict[str, float | None] = field(default_factory=dict)
    measure_n: dict[str, int] = field(default_factory=dict)
    latency_ms: dict[str, float | None] | None = None
    upper_ms: dict[str, float | None] = field(default_factory=dict)
    service_ms: dict[str, float | None] | None = None
    encode_ms: float | None = None
    rate_per_s: float | None = None
    qps: float | None = None
    errors: int = 0
    samples: int = 0
    timeout_s: float | None = None
    build_s: float | None = None
    index_bytes: int | None = None
    flags: tuple[str, ...] = ()
    null_ms: dict[str, dict[str, float | None]] = field(default_factory=dict)
    short: int = 0
    cold_ms: float | None = None
    tied_share: float | None = None
    remarks: tuple[str, ...] = ()
    self_agreement: float | None = None
    indexed_per_s: float | None = None
    server: dict[str, float] = field(default_factory=dict)
    field_bytes: dict[str, int] = field(default_factory=dict)
    selectivity: float | None = None
    backend_version: str | None = None

    @property
    def index_bytes_of(self) -> str | None:
        """Of what `index_bytes` is the size: of this setting's `fields`, or of the `index` that
        it shares with other settings. Only sizes of the same can be compared."""
        if self.index_bytes is None:
            return None
        return "fields" if self.field_bytes else "index"


Summary = dict[str, Any]
"""`summary.json`, as described in the documentation of a run's files."""
