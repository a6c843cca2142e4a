"""The measured requests of a trial, and the result that is made of them."""

from __future__ import annotations

from dataclasses import dataclass

from indexers.types import F64, I32
from loadtest.asker import Asker
from loadtest.profile import LoadResult


@dataclass(slots=True)
class Samples:
    """The measured requests, in schedule order; n of them were sent."""

    due_s: F64
    query: I32
    latency_s: F64
    service_s: F64
    sent: int = 0
    last_start_s: float = 0.0
    errors: int = 0
    saturated: bool = False


def result_of(
    asker: Asker,
    samples: Samples,
    *,
    qps: float | None,
    burst_errors: int,
    settled: bool,
    cold_ms: float | None,
) -> LoadResult:
    """What the load process tells of a trial; see `LoadResult`."""
    sent, tally = samples.sent, asker.tally
    return LoadResult(
        latency_ms=1e3 * samples.latency_s[:sent],
        service_ms=1e3 * samples.service_s[:sent],
        query=samples.query[:sent],
        answers=tally.answers,
        state=tally.state,
        rate_per_s=sent / (samples.last_start_s + 1 / asker.profile.rate_per_s),
        qps=qps,
        errors=samples.errors + burst_errors,
        error_texts=tuple(tally.texts),
        duplicates=tally.duplicates,
        short=tally.short,
        saturated=samples.saturated,
        unsettled=not settled,
        cold_ms=cold_ms,
        repeats=tally.repeats,
        agreeing=tally.agreeing,
        unknown=tally.unknown,
    )
