"""What every renderer of a report reads: the summary, what is known around it, and flat rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypedDict

from harness.report.numbers import finite, milliseconds, plain
from harness.settings import OPTIONAL, RERANKS, TEXT_KINDS, shown_family

Trial = dict[str, Any]
"""One trial as `summary.json` holds it."""

Summary = dict[str, Any]
"""`summary.json`, schema version 1."""


class LossSplit(TypedDict):
    """Where a family loses quality, all on the objective; None where it was not computed.

    `code_exact` is exact search by what an index ranks by, `best_lsh` the best setting that
    looks into tables, tokens or a graph; `hashing_loss` is reference − code_exact, `index_loss` is
    code_exact − best_lsh.
    """

    family: str
    reference: float | None
    code_exact: float | None
    best_lsh: float | None
    hashing_loss: float | None
    index_loss: float | None


@dataclass(frozen=True, slots=True)
class ReportContext:
    """What a reader needs beside the summary.

    Attributes:
        generated: when the report was made, ISO 8601.
        version: of harness.
        command: the command line that made the study, as it can be typed again.
        environment: names and values: processor, cores, memory, Python, libraries, engines.
        truth: provenance of the ground truth, one line each.
        load: names and values of the load profile: rate, samples, warm-up, seeds.
        null_ms: what the client itself can send: a class of backends (`in process`, `engines`)
            -> statistic -> ms; one more level (`latency`, `service`) is allowed.
        notes: warnings, one line each.
        latency_note: a short remark printed beside latencies, such as that client and index
            shared the machine's cores.
        margin: objective of the pick minus that of the runner-up.
        loss: one entry a family.
        impossible: combinations that do not exist, one line each.
        relevant_from: label that binary measures count from; None without judgments.
        judged_queries: queries with any judgment; None where not known.
        judged_under: filter -> queries with any judgment of a document that passes it.
    """

    generated: str
    version: str
    command: str
    environment: dict[str, str] = field(default_factory=dict)
    truth: tuple[str, ...] = ()
    load: dict[str, str] = field(default_factory=dict)
    null_ms: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    latency_note: str = ""
    margin: float | None = None
    loss: tuple[LossSplit, ...] = ()
    impossible: tuple[str, ...] = ()
    relevant_from: float | None = None
    judged_queries: int | None = None
    judged_under: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One trial, flat, with the figures that the study is decided on.

    Attributes:
        family: with what of its hashing is not plain; `BM25` where the trial has none.
        details: what not every setting has (`harness.settings.OPTIONAL`), such as `ef_search`
            of a graph; empty where there is nothing of it.
        objective: mean of the study's objective; None where it has none.
        latency_ms: the statistic that the SLA is set on.
        upper_ms: its one-sided 95 % upper bound.
        role: `pick`, `runner-up`, `nearest miss` or empty.
        front: no other trial beats it on objective and latency at once.
        trial: as it stands in the summary.
    """

    key: str
    family: str
    backend: str
    kind: str
    num_tables: int | None
    hash_length: int | None
    details: dict[str, int | str]
    baseline: bool
    status: str
    feasible: bool
    objective: float | None
    latency_ms: float | None
    upper_ms: float | None
    qps: float | None
    index_bytes: float | None
    flags: tuple[str, ...]
    role: str
    front: bool
    trial: Trial

    @property
    def series(self) -> tuple[str, str, str]:
        """Family, backend and kind: what is drawn alike."""
        return self.family, self.backend, self.kind

    @property
    def rerank(self) -> str:
        """How candidates are re-ranked where the family has several ways; else empty."""
        rerank = self.trial["setting"].get("rerank")
        return str(rerank) if rerank in RERANKS else ""

    @property
    def label(self) -> str:
        """The setting for people: `simhash 20 × 12 · lsh on tables`."""
        details = ", ".join(f"{name} {value}" for name, value in self.details.items())
        if self.kind in TEXT_KINDS:
            return f"{self.family} on {self.backend}{f' · {details}' if details else ''}"
        place = f"{self.kind} on {self.backend}"
        if self.rerank:
            place = f"{place}, re-ranked by {self.rerank}"
        sizes = [str(n) for n in (self.num_tables, self.hash_length) if n is not None]
        told = [part for part in (self.family, " × ".join(sizes), details) if part]
        return f"{' '.join(told)} · {place}"


@dataclass(frozen=True, slots=True)
class Report:
    """A summary with its rows, best first."""

    summary: Summary
    context: ReportContext
    rows: tuple[Row, ...]

    @property
    def objective(self) -> str:
        """Name of the measure that decides."""
        return str(self.summary["objective"])

    @property
    def stat(self) -> str:
        """Name of the statistic that the SLA is set on."""
        return str(self.summary["sla"]["stat"])

    @property
    def limit_ms(self) -> float:
        """The SLA."""
        return float(self.summary["sla"]["limit_ms"])

    @property
    def corpus(self) -> str:
        """Name of the corpus."""
        return str(self.summary["corpus"]["name"])

    @property
    def references(self) -> list[dict[str, Any]]:
        """Rows of quality only, as the summary holds them."""
        return list(self.summary.get("reference") or ())

    @property
    def measures(self) -> list[str]:
        """Every measure of the study: the objective, then as the trials give them."""
        found = {self.objective: None}
        for source in (*self.summary["trials"], *self.references):
            found.update(dict.fromkeys(source.get("quality") or ()))
        return list(found)

    @property
    def finished(self) -> list[Row]:
        """Rows that were measured."""
        return [row for row in self.rows if row.status == "ok"]

    def find(self, role: str) -> Row | None:
        """The row with this role."""
        return next((row for row in self.rows if row.role == role), None)

    @property
    def example(self) -> Row | None:
        """The row that examples in the report talk about."""
        chosen = self.find("pick") or self.find("nearest miss")
        return chosen or next(iter(self.finished), None)

    def obstacle(self, row: Row) -> str:
        """Why a row is not feasible, in a few words; empty where it is."""
        if row.feasible:
            return ""
        if row.status != "ok":
            return row.status
        if "saturated" in row.flags:
            return "saturated: the backlog grew past its limit"
        if row.upper_ms is None:
            return f"{self.stat} has no finite upper bound"
        if row.upper_ms > self.limit_ms:
            return f"{self.stat} may be {milliseconds(row.upper_ms)}, above {self.limit} ms"
        return "another constraint is not met"

    @property
    def limit(self) -> str:
        """The SLA's number as text."""
        return plain(self.limit_ms)


def build(summary: Summary, context: ReportContext) -> Report:
    """Flatten a summary; rows come best first, failed ones last."""
    stat, objective = summary["sla"]["stat"], summary["objective"]
    roles = {
        trial["key"]: role
        for role, trial in (
            ("nearest miss", summary.get("nearest_miss")),
            ("runner-up", summary.get("runner_up")),
            ("pick", summary.get("pick")),
        )
        if trial
    }
    front = set(summary.get("front") or ())
    rows = [_row(trial, stat, objective, roles, front) for trial in summary["trials"]]
    return Report(summary, context, tuple(sorted(rows, key=_order)))


def _row(trial: Trial, stat: str, objective: str, roles: dict[str, str], front: set[str]) -> Row:
    setting = trial["setting"]
    upper = trial.get("upper_ms")
    return Row(
        key=str(trial["key"]),
        family=shown_family(setting),
        backend=setting["backend"],
        kind=setting["kind"],
        num_tables=setting.get("num_tables"),
        hash_length=setting.get("hash_length"),
        details={name: setting[name] for name in OPTIONAL if setting.get(name) is not None},
        baseline=bool(trial["baseline"]),
        status=trial["status"],
        feasible=bool(trial["feasible"]),
        objective=finite((trial.get("quality") or {}).get(objective)),
        latency_ms=finite((trial.get("latency_ms") or {}).get(stat)),
        upper_ms=finite(upper.get(stat) if isinstance(upper, dict) else upper),
        qps=finite(trial.get("qps")),
        index_bytes=finite(trial.get("index_bytes")),
        flags=tuple(trial.get("flags") or ()),
        role=roles.get(trial["key"], ""),
        front=trial["key"] in front,
        trial=trial,
    )


def _order(row: Row) -> tuple[bool, bool, float, float, str]:
    worst = float("inf")
    return (
        row.role != "pick",
        row.status != "ok",
        worst if row.objective is None else -row.objective,
        worst if row.latency_ms is None else row.latency_ms,
        row.key,
    )


def names(values: Iterable[str]) -> list[str]:
    """Distinct names, sorted."""
    return sorted(set(values))
