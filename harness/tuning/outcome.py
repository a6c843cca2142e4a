"""From what the load process saw to the row that is stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.collection.types import Corpus
from harness.measures.answers import drop_self, tied_share
from harness.measures.scores import Scores, Truth, score_run
from harness.tuning.collisions import COUNTED, table_counts
from harness.tuning.encode import Encoded
from harness.tuning.passing import EVERYTHING, Passing
from harness.tuning.plan import Planned
from harness.tuning.references import exact_scores
from harness.tuning.trial import Trial
from indexers.index_types import IndexHandle
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


def measured_trial(
    planned: Planned,
    result: LoadResult,
    *,
    corpus: Corpus,
    truth: Truth,
    encoded: Encoded,
    code_kth: F64 | None,
    handle: IndexHandle | None,
    index_bytes: int | None,
    profile: LoadProfile,
    null: LoadResult,
    drifted: bool,
    written: Written | None = None,
    passing: Passing = EVERYTHING,
    server: dict[str, float] | None = None,
    backend_version: str | None = None,
) -> Measured:
    """Score the answers and summarise the latencies of one trial.

    Args:
        handle: None where the index is not ours.
        drifted: the index changed meanwhile, and not by what was written.
        written: what was indexed meanwhile; None for a quiet trial.
        passing: the documents that the trial's filter lets through.
        server: what the load did to the server's memory; None where nothing was told.
        backend_version: of the library or server; None where it does not tell.
    """
    answers = _cut(result.answers, corpus.query_self, truth.cutoff)
    scores = _score(answers, truth, encoded, code_kth, passing)
    if planned.point.setting.rerank == COUNTED:  # what ties there is not the code
        counts = table_counts(encoded, planned.point.setting, answers)
        scores = replace(scores, tied_share=tied_share(counts))
    trial = Trial(
        key=planned.key,
        setting=planned.point.setting,
        baseline=planned.point.baseline,
        status="ok",
        quality=scores.means(),
        measure_n=scores.counts(),
        latency_ms=statistics(result.latency_ms),
        upper_ms=upper_bounds(result.latency_ms, result.query, seed=profile.seed),
        service_ms=statistics(result.service_ms),
        encode_ms=encoded.encode_ms,
        rate_per_s=result.rate_per_s,
        qps=result.qps,
        errors=result.errors,
        samples=len(result.latency_ms),
        timeout_s=profile.timeout_s,
        build_s=None if handle is None else handle.build_s,
        index_bytes=index_bytes,
        flags=_flags(result, profile, drifted, written),
        null_ms={
            "latency": statistics(null.latency_ms),
            "service": statistics(null.service_ms),
        },
        short=_short(answers, result),
        cold_ms=result.cold_ms,
        tied_share=scores.tied_share,
        remarks=(*_remarks(result, written), *_strangers(answers, passing)),
        self_agreement=result.agreeing / result.repeats if result.repeats else None,
        indexed_per_s=None if written is None else written.rate_per_s,
        server=server or {},
        field_bytes={} if handle is None else dict(handle.field_bytes),
        selectivity=passing.share,
        backend_version=backend_version,
    )
    samples: dict[str, NDArray[Any]] = {
        "latency_ms": result.latency_ms,
        "service_ms": result.service_ms,
        "query": result.query,
        "answers": answers,
    }
    return Measured(trial, answers, samples)


def failed_trial(planned: Planned, error: Exception) -> Trial:
    """The row of a trial that broke, with its reason in one line."""
    reason = " ".join(str(error).split()) or type(error).__name__
    setting = planned.point.setting
    return Trial(planned.key, setting, planned.point.baseline, "failed", error=reason)


def _cut(answers: I32, query_self: I32, cutoff: int) -> I32:
    if answers.shape[1] > cutoff:
        return drop_self(answers, query_self)
    return answers


def _score(
    answers: I32, truth: Truth, encoded: Encoded, code_kth: F64 | None, passing: Passing
) -> Scores:
    documents = encoded.documents.fingerprints
    if documents is None or code_kth is None:
        return score_run(answers, truth)
    rows = slice(None) if passing.rows is None else passing.rows
    return score_run(
        answers,
        truth,
        code_scores=passing.scores(exact_scores(encoded, answers), answers),
        code_kth=code_kth,
        n_indexed=int(np.count_nonzero(documents.status[rows] == Status.OK)),
    )


def _strangers(answers: I32, passing: Passing) -> tuple[str, ...]:
    count = passing.strangers(answers)
    return (f"{count:,} answers do not pass the filter, and count as misses",) if count else ()


def _flags(
    result: LoadResult, profile: LoadProfile, drifted: bool, written: Written | None = None
) -> tuple[str, ...]:
    reached = result.rate_per_s >= REACHED_SHARE * profile.rate_per_s
    found = {
        "saturated": result.saturated or not reached,
        "errors": result.errors > 0,
        "cold": result.unsettled,
        "drift": drifted,
        "asked-without-load": _left_under_load(result, profile),
        "unanswered": bool(np.any(result.state == UNANSWERED)),
        "unstable-answers": result.agreeing < result.repeats,
        "indexing-slow": written is not None and written.slow,
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
