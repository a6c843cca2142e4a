"""What a report tells beside the summary: where, how, against what, and what to beware of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from harness import __version__
from harness.command_line import one_line
from harness.config import StudyConfig
from harness.config_sizes import GRAPH
from harness.report.model import ReportContext
from harness.settings import TEXT_KINDS
from harness.tuning.connect import standing_places
from harness.tuning.losses import losses, signature_notes
from harness.tuning.names import label
from harness.tuning.pick import Choice
from harness.tuning.plan import Plan
from harness.tuning.production import load_words
from harness.tuning.space import SWEPT
from harness.tuning.store import Store
from harness.tuning.summary import failures
from harness.tuning.trial import Summary, Trial
from harness.tuning.versions import mixed_notes
from indexers.address import address
from indexers.registry import backend

MOST_REMARKS = 20
FEW_QUERIES = 30
_REFERENCES = {
    "jaccard": "exact Jaccard of character 3-gram shingles",
    "cosine": "exact cosine of the vectors",
}


def report_context(
    config: StudyConfig,
    plan: Plan,
    store: Store,
    trials: Sequence[Trial],
    summary: Summary,
    choice: Choice,
    command: str,
) -> ReportContext:
    """The context of this summary, from the study's rows and facts."""
    objective = summary["objective"]
    backends = store.meta("backends") or {}
    versions = {name: info["version"] for name, info in backends.items() if info["version"]}
    return ReportContext(
        generated=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        command=one_line(command),
        environment={**(store.meta("environment") or {}), **versions},
        truth=_truth_lines(config, store, trials),
        load=_load_lines(config, store, trials),
        null_ms=_null_ms(trials),
        notes=(
            *failures(summary),
            *(f"{name}: {line}" for name, info in backends.items() for line in info["warnings"]),
            *(f"{place} may still hold a temporary index" for place in standing_places(store)),
            *mixed_notes(trials),
            *_query_notes(summary),
            *_cut_notes(store),
            *signature_notes(config, trials, summary),
            *_remarks(trials),
        ),
        latency_note=_latency_note(config),
        margin=_margin(choice, objective),
        loss=tuple(losses(trials, summary)),
        impossible=tuple(f"{count} × {reason}" for reason, count in plan.impossible),
        relevant_from=store.meta("relevant_from"),
        judged_queries=store.meta("judged_queries"),
        judged_under={
            one["filter"]: one["judged_queries"]
            for one in store.meta("filters") or []
            if one["judged_queries"] is not None
        },
    )


def _latency_note(config: StudyConfig) -> str:
    """Whether load and index competed for one machine's cores."""
    away = []
    for name in config.backends:
        if backend(name).remote and not address(name, getattr(config, f"{name}_url")).local:
            away.append(name)
    told = [f"{name} ran on another machine: its latencies include the network." for name in away]
    if len(away) < len(config.backends):
        whose = "of the other backends " if away else ""
        told.append(
            f"Load generator and index {whose}ran on the same machine and shared its cores, "
            "so latencies include that competition."
        )
    return " ".join(told)


def _margin(choice: Choice, objective: str) -> float | None:
    if choice.pick is None or choice.runner_up is None:
        return None
    both = (choice.together(row) for row in (choice.pick, choice.runner_up))
    ours, theirs = (row.quality[objective] for row in both)
    return None if ours is None or theirs is None else ours - theirs


def _truth_lines(config: StudyConfig, store: Store, trials: Sequence[Trial]) -> tuple[str, ...]:
    judged = store.meta("judged_pairs")
    since = store.meta("relevant_from")
    tied = {
        name: row["tied_share"]
        for name, row in (store.meta("references") or {}).items()
        if row["tied_share"] is not None
    }
    return (
        f"corpus: {store.meta('source')}",
        "no judgments"
        if judged is None
        else f"judgments: {judged:,} judged pairs; binary measures count labels from {since:g}",
        f"neighbours: {_REFERENCES[config.compared_by]}, the {config.cutoff} nearest with their "
        "whole tie class",
        *_filter_lines(store),
        "share of tied scores in the reference rankings, which are scored in expectation: "
        + ", ".join(f"{name} {share:.0%}" for name, share in tied.items()),
        *_tied_answers(config, trials),
    )


def _filter_lines(store: Store) -> Iterator[str]:
    """What each filter came to, and what of the judgments it leaves."""
    for one in store.meta("filters") or []:
        asked = "" if one["asked"] == one["filter"] else f", asked for as {one['asked']}"
        line = (
            f"filter {one['filter']}{asked}: {one['documents']:,} documents pass "
            f"({one['share']:.3%}); neighbours and judgments are of these alone"
        )
        left = one["queries_with_relevants"]
        if left is not None:
            line += f"; {left:,} queries have a relevant document among them"
        yield line


def _tied_answers(config: StudyConfig, trials: Sequence[Trial]) -> Iterator[str]:
    """How often equal scores left the order of answers to their ids."""
    shares = []
    for name in config.family:
        found = [
            t.tied_share for t in trials if t.setting.family == name and t.tied_share is not None
        ]
        if found:
            shares.append(f"{name} {min(found):.0%} to {max(found):.0%}")
    if shares:
        yield "share of tied scores among the answers, ordered by id: " + ", ".join(shares)


def _load_lines(config: StudyConfig, store: Store, trials: Sequence[Trial]) -> dict[str, str]:
    lines = {}
    for name, profile in (store.meta("load") or {}).items():
        lines[name] = (
            f"open loop at {profile['rate_per_s']:g} requests/s, {profile['samples']:,} measured, "
            f"then {profile['burst_s']:g} s closed loop with {profile['users']} users"
            + load_words(config, name)
        )
    lines["seed"] = str(config.seed)
    cold = sorted(t.cold_ms for t in trials if t.cold_ms is not None)
    if cold:
        lines["first request"] = (
            f"{cold[len(cold) // 2]:.3g} ms in the median of the trials, at most "
            f"{cold[-1]:.3g} ms; measured apart, with what opening leaves for later"
        )
    return lines


def _null_ms(trials: Sequence[Trial]) -> dict[str, dict[str, Any]]:
    found = {}
    for trial in trials:
        if trial.null_ms:
            remote = backend(trial.setting.backend).remote
            found["engines" if remote else "in process"] = trial.null_ms
    return found


def _remarks(trials: Sequence[Trial]) -> list[str]:
    counted = Counter(line for trial in trials for line in trial.remarks)
    lines = [
        f"{line} (in {count} {'trial' if count == 1 else 'trials'})"
        for line, count in sorted(counted.items())
    ]
    broken = [trial for trial in trials if trial.errors]
    if broken:
        worst = max(broken, key=lambda trial: (trial.errors, trial.key))
        lines.insert(
            0,
            f"{sum(t.errors for t in broken):,} requests failed or timed out in {len(broken)} of "
            f"{len(trials)} trials, most of them ({worst.errors:,}) in {label(worst.setting)}",
        )
    lines += _short_remarks(trials)
    return lines[:MOST_REMARKS]


def _short_remarks(trials: Sequence[Trial]) -> Iterator[str]:
    """Answers shorter than the cut-off, by what makes them so."""
    kinds = [kind for kind in SWEPT if kind != GRAPH]
    reasons = (
        (kinds, "their buckets hold too few documents"),
        ([GRAPH], "their search reaches too few nodes of the graph"),
        (list(TEXT_KINDS), "too few documents have enough of their terms"),
    )
    for of, reason in reasons:
        short = [trial.short for trial in trials if trial.short and trial.setting.kind in of]
        if short:
            yield (
                f"queries that got fewer answers than the cut-off, since {reason}: "
                f"up to {max(short)} in a trial, in {len(short)} of {len(trials)} trials"
            )


def _query_notes(summary: Summary) -> Iterator[str]:
    queries = summary["corpus"]["queries"]
    if queries < FEW_QUERIES:
        yield (
            f"{queries} queries only: upper bounds resample the queries, and so few say little "
            "about others"
        )


def _cut_notes(store: Store) -> Iterator[str]:
    if cut := store.meta("cut_neighbours"):
        yield (
            f"truth/neighbours.qrels.gz lists only the resembling documents of {cut} queries "
            "that resemble fewer than the cut-off: all others tie at nothing in common"
        )
