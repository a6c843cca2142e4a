"""From stored rows to summary, report and exit code; reads neither corpus nor servers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness import __version__
from harness.config import StudyConfig
from harness.report.model import LossSplit, ReportContext
from harness.tuning.pick import Choice
from harness.tuning.plan import Plan, load_profile
from harness.tuning.sla import Sla
from harness.tuning.store import Store
from harness.tuning.summary import Facts, Goal, best_reference, objective_of, summarise
from harness.tuning.trial import Summary, Trial

OK, BROKEN, INFEASIBLE = 0, 1, 3
MOST_REMARKS = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run ends with.

    Attributes:
        summary: `summary.json`.
        folder: of the study.
        exit_code: 0 with a pick, 3 where nothing meets the SLA, 1 where a backend that was
            asked for by name finished no trial.
    """

    summary: Summary
    folder: Path
    exit_code: int


def conclude(config: StudyConfig, plan: Plan, store: Store, *, command: str) -> Outcome:
    """Pick from the rows and write the report.

    Args:
        config: the study, with today's limit and objective.
        plan: its trials.
        store: its rows and facts.
        command: the command line, for the report.
    """
    from harness.report.write import write_report

    rows = store.trials()
    trials = [rows[p.key] for p in plan.trials if p.key in rows]
    judged = store.meta("judged_pairs") is not None
    goal = Goal(
        Sla(config.sla_ms, config.sla_stat),
        objective_of(config.objective, config.cutoff, judged=judged),
        config.tolerance,
    )
    facts = _facts(config, plan, store)
    summary, choice = summarise(trials, goal, facts)
    context = _context(config, plan, store, summary, choice, command)
    mark = _mark(summary, context)
    if store.meta("report") != mark or not (plan.folder / "report.html").exists():
        write_report(plan.folder, summary, context)
        store.put_meta("report", mark)
    return Outcome(summary, plan.folder, exit_code(trials, choice, config.backend))


def _mark(summary: Summary, context: ReportContext) -> str:
    """Digest of what a report tells, apart from when and how it was asked for."""
    told = [summary, asdict(replace(context, generated="", command=""))]
    return hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()


def exit_code(trials: Sequence[Trial], choice: Choice, backends: Sequence[str]) -> int:
    """See `Outcome.exit_code`; a backend that only has failed rows outweighs the rest."""
    for name in backends:
        of_backend = [t for t in trials if t.setting.backend == name]
        if of_backend and all(t.status != "ok" for t in of_backend):
            return BROKEN
    return INFEASIBLE if choice.pick is None else OK


def _facts(config: StudyConfig, plan: Plan, store: Store) -> Facts:
    corpus = dict(store.meta("corpus"))
    corpus["skipped"] = dict(corpus["skipped"])
    for family, statuses in (store.meta("unusable") or {}).items():
        for status, count in statuses.items():
            if status != "empty":  # counted by the reader already
                corpus["skipped"][f"{status} ({family})"] = count
    return Facts(
        study=plan.name,
        path=str(plan.folder),
        corpus=corpus,
        rates_per_s=tuple(load_profile(config, name).rate_per_s for name in config.backend),
        impossible=sum(count for _, count in plan.impossible),
        references={name: row["quality"] for name, row in (store.meta("references") or {}).items()},
    )


def _context(
    config: StudyConfig, plan: Plan, store: Store, summary: Summary, choice: Choice, command: str
) -> ReportContext:
    objective = summary["objective"]
    backends = store.meta("backends") or {}
    versions = {name: info["version"] for name, info in backends.items() if info["version"]}
    standing = store.meta("standing") or []
    return ReportContext(
        generated=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        command=command,
        environment={**(store.meta("environment") or {}), **versions},
        truth=_truth_lines(config, store),
        load=_load_lines(config, store),
        null_ms=_null_ms(store),
        notes=(
            *(f"{name}: {line}" for name, info in backends.items() for line in info["warnings"]),
            *(f"{name} may hold an index of this study: it was away" for name in standing),
            *_remarks(store.trials().values()),
        ),
        latency_note=(
            "Load generator and index ran on the same machine and shared its cores, "
            "so latencies include that competition."
        ),
        margin=_margin(choice, objective),
        loss=tuple(_loss(config, summary)),
        impossible=tuple(f"{count} × {reason}" for reason, count in plan.impossible),
    )


def _margin(choice: Choice, objective: str) -> float | None:
    if choice.pick is None or choice.runner_up is None:
        return None
    ours, theirs = choice.pick.quality[objective], choice.runner_up.quality[objective]
    return None if ours is None or theirs is None else ours - theirs


def _truth_lines(config: StudyConfig, store: Store) -> tuple[str, ...]:
    judged = store.meta("judged_pairs")
    return (
        f"corpus: {store.meta('source')}",
        "no judgments" if judged is None else f"judgments: {judged:,} judged pairs",
        f"neighbours: exact Jaccard of character 3-gram shingles, the {config.cutoff} nearest "
        "with their whole tie class",
    )


def _load_lines(config: StudyConfig, store: Store) -> dict[str, str]:
    lines = {}
    for name, profile in (store.meta("load") or {}).items():
        lines[name] = (
            f"open loop at {profile['rate_per_s']:g} requests/s, {profile['samples']:,} measured, "
            f"then {profile['burst_s']:g} s closed loop with {profile['users']} users"
        )
    lines["seed"] = str(config.seed)
    return lines


def _null_ms(store: Store) -> dict[str, dict[str, Any]]:
    found = {}
    for trial in store.trials().values():
        if trial.null_ms:
            remote = trial.setting.backend in ("opensearch", "elasticsearch")
            found["engines" if remote else "in process"] = trial.null_ms
    return found


def _remarks(trials: Iterable[Trial]) -> list[str]:
    rows = list(trials)
    counted = Counter(line for trial in rows for line in trial.remarks)
    lines = [f"{line} ({count} trials)" for line, count in sorted(counted.items())]
    short = [trial.short for trial in rows if trial.short]
    if short:
        lines.append(
            f"in {len(short)} trials some queries got fewer answers than asked for, at most "
            f"{max(short)} queries in one: their buckets hold too few documents"
        )
    return lines[:MOST_REMARKS]


def _loss(config: StudyConfig, summary: Summary) -> list[LossSplit]:
    objective = summary["objective"]
    by_name = {row["name"]: row["quality"].get(objective) for row in summary["reference"]}
    reference = best_reference(
        [row for row in summary["reference"] if row["name"].startswith("exact ")], objective
    )
    split: list[LossSplit] = []
    for family in config.family:
        code = by_name.get(f"{family} code, exact")
        lsh = [
            trial["quality"].get(objective)
            for trial in summary["trials"]
            if trial["setting"]["family"] == family and trial["setting"]["kind"] == "lsh"
        ]
        best = max((value for value in lsh if value is not None), default=None)
        split.append(
            {
                "family": family,
                "reference": reference,
                "code_exact": code,
                "best_lsh": best,
                "hashing_loss": _less(reference, code),
                "index_loss": _less(code, best),
            }
        )
    return split


def _less(whole: float | None, part: float | None) -> float | None:
    return None if whole is None or part is None else whole - part
