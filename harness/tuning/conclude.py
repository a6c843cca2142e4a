"""From stored rows to summary, report and exit code; reads neither corpus nor servers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness import __version__
from harness.config import StudyConfig
from harness.report.model import ReportContext
from harness.settings import ATTACHED
from harness.tuning.context import report_context
from harness.tuning.names import TEXT_REFERENCE, under
from harness.tuning.pick import Choice
from harness.tuning.plan import Plan, load_profile
from harness.tuning.sla import Sla
from harness.tuning.space import TEXT
from harness.tuning.store import Store
from harness.tuning.summary import Facts, Goal, objective_of, summarise
from harness.tuning.trial import Summary, Trial

OK, BROKEN, INFEASIBLE = 0, 1, 3


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


def conclude(
    config: StudyConfig, plan: Plan, store: Store, *, command: str, say: Callable[[str], None]
) -> Outcome:
    """Pick from the rows and write the report.

    Args:
        config: the study, with today's limit and objective.
        plan: its trials.
        store: its rows and facts.
        command: the command line, for the report.
        say: tells a person what they may not expect.
    """
    from harness.report.write import WRITTEN, write_report

    rows = store.trials()
    trials = [rows[p.key] for p in plan.trials if p.key in rows]
    goal = Goal(
        Sla(config.sla_ms, config.sla_stat),
        objective_of(config.objective, config.cutoff, store.meta("carried")),
        config.tolerance,
    )
    facts = _facts(config, plan, store, trials)
    summary, choice = summarise(trials, goal, facts)
    context = report_context(config, plan, store, trials, summary, choice, command)
    kept = _deploy(config, plan, store, goal.objective, choice, command)
    if kept is not None:
        say(f"deploy/ held more than harness wrote: it is kept as {kept}")
    mark = _mark(summary, context)
    whole = all((plan.folder / name).exists() for name in WRITTEN)
    if store.meta("report") != mark or not whole:
        store.put_meta("report", None)  # half of it may be written when this is interrupted
        write_report(plan.folder, summary, context)
        store.put_meta("report", mark)
    return Outcome(summary, plan.folder, exit_code(trials, choice, config.backends))


def _deploy(
    config: StudyConfig, plan: Plan, store: Store, objective: str, choice: Choice, command: str
) -> Path | None:
    """Make `deploy/` that of the pick; it stays as it is where the pick does.

    Returns:
        where the old one is kept, if it held anything that is not ours.
    """
    from harness.deploy.content import content
    from harness.deploy.write import NAME, digests, put_deploy

    pick = choice.pick
    told = store.meta("deploy_files")
    made = told if isinstance(told, dict) else {}
    if pick is None or pick.setting.kind == ATTACHED:
        kept = put_deploy(plan.folder, None, made)
        store.put_meta("deployed", None)
        return kept
    made_of = [pick.key, objective, config.sla_stat, __version__]
    if store.meta("deployed") == made_of and (plan.folder / NAME).is_dir():
        return None
    store.put_meta("deployed", None)  # half of it may be done when this is interrupted
    files = content(config, plan, store, pick, objective, command)
    kept = put_deploy(plan.folder, files, made)
    store.put_meta("deploy_files", digests(files))
    store.put_meta("deployed", made_of)
    return kept


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


def _facts(config: StudyConfig, plan: Plan, store: Store, trials: Sequence[Trial]) -> Facts:
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
        rates_per_s=tuple(load_profile(config, name).rate_per_s for name in config.backends),
        impossible=sum(count for _, count in plan.impossible),
        references=_references(store, trials),
    )


def _references(store: Store, trials: Sequence[Trial]) -> dict[str, dict[str, float | None]]:
    """The stored rankings; BM25 in process gives way to that of an engine."""
    rows = {name: row["quality"] for name, row in (store.meta("references") or {}).items()}
    for trial in trials:
        if trial.setting.kind == TEXT and trial.status == "ok":
            rows.pop(under(TEXT_REFERENCE, trial.setting.filter), None)
    return rows
