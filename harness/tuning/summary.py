"""`summary.json`: a pure function of a study's rows and facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

from harness.measures.names import ANN_RECALL, NDCG, at, parse_measure
from harness.tuning.names import filter_under, under
from harness.tuning.pick import Choice, choose
from harness.tuning.sla import Sla, feasible, flags
from harness.tuning.trial import Summary, Trial
from harness.tuning.verdict import verdict
from indexers.errors import SettingError

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Goal:
    """What is asked of the rows; not part of what was measured."""

    sla: Sla
    objective: str
    tolerance: float


@dataclass(frozen=True, slots=True)
class Facts:
    """What the study knows beside its rows.

    Attributes:
        study: its name.
        path: its folder.
        corpus: name, documents, queries and skipped, as in the summary.
        rates_per_s: the open-loop rates that trials were driven at.
        impossible: number of settings that do not exist.
        references: name -> measure -> mean, rankings outside load.
    """

    study: str
    path: str
    corpus: dict[str, Any]
    rates_per_s: tuple[float, ...]
    impossible: int
    references: Mapping[str, Mapping[str, float | None]]


def objective_of(typed: str | None, cutoff: int, carried: Sequence[str]) -> str:
    """The measure that decides: as typed, else nDCG where queries carry it, else ANNRecall.

    Args:
        typed: what the user asked for, if anything.
        cutoff: K.
        carried: measures, without cut-off, that some query carries.

    Raises:
        SettingError: no query carries it, or it is no measure.
    """
    if typed is None:
        return at(NDCG if NDCG in carried else ANN_RECALL, cutoff)
    objective = parse_measure(typed, cutoff)
    allowed = [at(measure, cutoff) for measure in carried]
    if objective not in allowed:
        raise SettingError(
            f"objective {objective}: no query carries it, since nothing is judged relevant "
            f"enough; choose from {', '.join(allowed)}"
        )
    return objective


def summarise(trials: Sequence[Trial], goal: Goal, facts: Facts) -> tuple[Summary, Choice]:
    """The summary, and the choice that it tells of.

    Args:
        trials: in the order of measuring.
        goal: limit, objective and tolerance.
        facts: what the study knows beside its rows.
    """
    choice = choose(trials, goal.sla, goal.objective, goal.tolerance)
    references = [
        *({"name": name, "quality": dict(row)} for name, row in facts.references.items()),
        *_text_references(trials),
    ]
    best = best_reference(references, goal.objective)
    rates = set(facts.rates_per_s)

    def shown(trial: Trial | None) -> dict[str, Any] | None:
        return None if trial is None else trial_entry(trial, goal.sla)

    return {
        "schema_version": SCHEMA_VERSION,
        "study": facts.study,
        "path": facts.path,
        "corpus": facts.corpus,
        "sla": {
            "limit_ms": goal.sla.limit_ms,
            "stat": goal.sla.stat,
            # backends in process and engines are driven at rates of their own
            "rate_per_s": rates.pop() if len(rates) == 1 else None,
        },
        "objective": goal.objective,
        "verdict": verdict(choice, trials, goal.sla, goal.objective, best),
        "pick": shown(choice.pick),
        "runner_up": shown(choice.runner_up),
        "nearest_miss": shown(choice.nearest_miss),
        "front": list(choice.front),
        "counts": {
            "trials": len(trials),
            "failed": sum(t.status == "failed" for t in trials),
            "impossible": facts.impossible,
        },
        "reference": references,
        "trials": [trial_entry(trial, goal.sla) for trial in trials],
    }, choice


def trial_entry(trial: Trial, sla: Sla) -> dict[str, Any]:
    """One trial as the summary shows it under this limit."""
    return {
        "key": trial.key,
        "setting": asdict(trial.setting),
        "baseline": trial.baseline,
        "status": trial.status,
        "error": trial.error,
        "feasible": feasible(trial, sla),
        "quality": trial.quality,
        "measure_n": trial.measure_n,
        "latency_ms": trial.latency_ms,
        "upper_ms": trial.upper_ms.get(sla.stat),
        "service_ms": trial.service_ms,
        "encode_ms": trial.encode_ms,
        "rate_per_s": trial.rate_per_s,
        "qps": trial.qps,
        "errors": trial.errors,
        "self_agreement": trial.self_agreement,
        "indexed_per_s": trial.indexed_per_s,
        "index_bytes_of": trial.index_bytes_of,
        "field_bytes": trial.field_bytes,
        "server": trial.server,
        "selectivity": trial.selectivity,
        "backend_version": trial.backend_version,
        "build_s": trial.build_s,
        "index_bytes": trial.index_bytes,
        "flags": list(flags(trial, sla)),
    }


def failures(summary: Summary) -> Iterator[str]:
    """What failed, a line a backend, with the first reason."""
    by_backend: dict[str, list[dict[str, Any]]] = {}
    for trial in summary["trials"]:
        by_backend.setdefault(trial["setting"]["backend"], []).append(trial)
    for name, trials in by_backend.items():
        failed = [trial for trial in trials if trial["status"] == "failed"]
        if failed:
            finished = len(trials) - len(failed)
            told = f"{finished} of" if finished else "none of"
            yield f"{name} finished {told} its {len(trials)} trials: {failed[0]['error']}"


def best_reference(references: Sequence[Mapping[str, Any]], objective: str) -> float | None:
    """The better of exact similarity and BM25 on the objective; None where neither has it.

    Exact search on a code is no reference: it shares the code's own loss. With several filters it
    is the mean over them, as a setting's objective is.
    """
    best: dict[str | None, float] = {}
    for row in references:
        value = row["quality"].get(objective)
        if value is not None and row["name"].startswith(("exact ", "BM25")):
            filter_ = filter_under(row["name"])
            best[filter_] = max(value, best.get(filter_, value))
    return fsum(best.values()) / len(best) if best else None


def _text_references(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    return [
        {
            "name": under(f"BM25 ({trial.setting.backend})", trial.setting.filter),
            "quality": trial.quality,
        }
        for trial in trials
        if trial.setting.kind == "bm25" and trial.status == "ok"
    ]
