"""From what the load process saw to the row that is stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.collection.types import Corpus
from harness.measures.answers import drop_self, tied_share
from harness.measures.scores import Scores, Truth, score_run
from harness.tuning.collisions import table_counts
from harness.tuning.encode import Encoded
from harness.tuning.passing import EVERYTHING, Passing
from harness.tuning.plan import Planned
from harness.tuning.references import exact_scores
from harness.tuning.trial import Trial
from indexers.index_types import IndexHandle
from indexers.reranks import COUNTED
from indexers.types import F64, I32, Status
from loadtest.profile import UNANSWERED, UNDER_LOAD, WITHOUT_LOAD, LoadProfile, LoadResult
from loadtest.recorder import statistics, upper_bounds
from loadtest.writing import Written

REACHED_SHARE = 0.9
"""A trial that fell further behind the rate asked for did not carry it, however short it was."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A row with the samples that it was made from.

    Attributes:
        answers: int32 (queries, K), the very answers that were scored.
        samples: latency_ms, service_ms, query and answers, to be stored with the row.
    """

    trial: Trial
    answers: I32
    samples: dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Scoring:
    """What the answers of a trial are scored against.

    Attributes:
        code_kth: as `references.kth_of`; None where no code is ranked by.
        passing: the documents that the trial's filter lets through.
    """

    corpus: Corpus
    truth: Truth
    encoded: Encoded
    code_kth: F64 | None = None
    passing: Passing = EVERYTHING


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the load of a trial was put on, and what happened there meanwhile.

    Attributes:
        profile: that was asked for.
        null: what the client alone needs.
        drifted: the index changed meanwhile, and not by what was written.
        index_bytes: of the index; None where it is not told.
        handle: None where the index is not ours.
        written: what was indexed meanwhile; None for a quiet trial.
        server: what the load did to the server's memory; None where nothing was told.
        backend_version: of the library or server; None where it does not tell.
    """

    profile: LoadProfile
    null: LoadResult
    drifted: bool
    index_bytes: int | None
    handle: IndexHandle | None = None
    written: Written | None = None
    server: dict[str, float] | None = None
    backend_version: str | None = None


def measured_trial(
    planned: Planned, result: LoadResult, scoring: Scoring, met: Circumstances
) -> Measured:
    """Score the answers and summarise the latencies of one trial."""
    answers = _cut(result.answers, scoring.corpus.query_self, scoring.truth.cutoff)
    trial = Trial(
        key=planned.key,
        setting=planned.point.setting,
        baseline=planned.point.baseline,
        status="ok",
        cold_ms=result.cold_ms,
        encode_ms=scoring.encoded.encode_ms,
        errors=result.errors,
        flags=_flags(result, met),
        qps=result.qps,
        rate_per_s=result.rate_per_s,
        remarks=(*_remarks(result, met.written), *_strangers(answers, scoring.passing)),
        samples=len(result.latency_ms),
        selectivity=scoring.passing.share,
        self_agreement=result.agreeing / result.repeats if result.repeats else None,
        short=_short(answers, result),
    )
    trial = _with_quality(trial, answers, scoring)
    trial = _with_circumstances(_with_latencies(trial, result, met), met)
    samples: dict[str, NDArray[Any]] = {
        "latency_ms": result.latency_ms,
        "service_ms": result.service_ms,
        "query": result.query,
        "answers": answers,
    }
    return Measured(trial, answers, samples)


def _with_quality(trial: Trial, answers: I32, scoring: Scoring) -> Trial:
    scores = _score(answers, scoring)
    tied = scores.tied_share
    if trial.setting.rerank == COUNTED:  # what ties there is not the code
        tied = tied_share(table_counts(scoring.encoded, trial.setting, answers))
    return replace(trial, quality=scores.means(), measure_n=scores.counts(), tied_share=tied)


def _with_latencies(trial: Trial, result: LoadResult, met: Circumstances) -> Trial:
    seed = met.profile.seed
    return replace(
        trial,
        latency_ms=statistics(result.latency_ms),
        upper_ms=upper_bounds(result.latency_ms, result.query, seed=seed),
        service_ms=statistics(result.service_ms),
        null_ms={
            "latency": statistics(met.null.latency_ms),
            "service": statistics(met.null.service_ms),
        },
    )


def _with_circumstances(trial: Trial, met: Circumstances) -> Trial:
    handle, written = met.handle, met.written
    return replace(
        trial,
        timeout_s=met.profile.timeout_s,
        build_s=None if handle is None else handle.build_s,
        index_bytes=met.index_bytes,
        field_bytes={} if handle is None else dict(handle.field_bytes),
        indexed_per_s=None if written is None else written.rate_per_s,
        server=met.server or {},
        backend_version=met.backend_version,
    )


def failed_trial(planned: Planned, error: Exception) -> Trial:
    """The row of a trial that broke, with its reason in one line."""
    reason = " ".join(str(error).split()) or type(error).__name__
    setting = planned.point.setting
    return Trial(planned.key, setting, planned.point.baseline, "failed", error=reason)


def _cut(answers: I32, query_self: I32, cutoff: int) -> I32:
    if answers.shape[1] > cutoff:
        return drop_self(answers, query_self)
    return answers


def _score(answers: I32, scoring: Scoring) -> Scores:
    encoded, passing = scoring.encoded, scoring.passing
    documents = encoded.documents.fingerprints
    if documents is None or scoring.code_kth is None:
        return score_run(answers, scoring.truth)
    rows = slice(None) if passing.rows is None else passing.rows
    return score_run(
        answers,
        scoring.truth,
        code_scores=passing.scores(exact_scores(encoded, answers), answers),
        code_kth=scoring.code_kth,
        n_indexed=int(np.count_nonzero(documents.status[rows] == Status.OK)),
    )


def _strangers(answers: I32, passing: Passing) -> tuple[str, ...]:
    count = passing.strangers(answers)
    return (f"{count:,} answers do not pass the filter, and count as misses",) if count else ()


def _flags(result: LoadResult, met: Circumstances) -> tuple[str, ...]:
    reached = result.rate_per_s >= REACHED_SHARE * met.profile.rate_per_s
    found = {
        "saturated": result.saturated or not reached,
        "errors": result.errors > 0,
        "cold": result.unsettled,
        "drift": met.drifted,
        "asked-without-load": _left_under_load(result, met.profile),
        "unanswered": bool(np.any(result.state == UNANSWERED)),
        "unstable-answers": result.agreeing < result.repeats,
        "indexing-slow": met.written is not None and met.written.slow,
    }
    return tuple(sorted(name for name, holds in found.items() if holds))


def _left_under_load(result: LoadResult, profile: LoadProfile) -> bool:
    """Whether queries had to be asked again that load should have answered.

    A replay by Zipf's law never draws some: they are asked afterwards by design.
    """
    if profile.zipf_exponent is None:
        return bool(np.any(result.state == WITHOUT_LOAD))
    return bool(np.any(result.state[result.query] == WITHOUT_LOAD))


def _short(answers: I32, result: LoadResult) -> int:
    """Answered queries with fewer answers than the cut-off."""
    answered = np.isin(result.state, (UNDER_LOAD, WITHOUT_LOAD))
    return int(np.count_nonzero(answers[answered, -1] < 0))


def _remarks(result: LoadResult, written: Written | None) -> tuple[str, ...]:
    remarks = [f"failed request: {text}" for text in result.error_texts]
    if result.duplicates:
        remarks.append(f"{result.duplicates} answers came twice in one reply and were dropped")
    if result.agreeing < result.repeats:
        remarks.append("answers to a repeated query were not always the same as its first")
    if written is not None:
        remarks += [f"indexing meanwhile failed: {text}" for text in written.error_texts]
    return tuple(remarks)
