"""The table of all trials: its columns, and `trials.csv`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from harness.report import numbers
from harness.report.model import Report, Row, Trial
from harness.settings import OPTIONAL


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table.

    Attributes:
        title: with the unit.
        value: what it is sorted by; None sorts last.
        text: what is printed.
        numeric: aligned to the right.
        extra: shown on request.
    """

    title: str
    value: Callable[[Row], Any]
    text: Callable[[Any], str]
    numeric: bool = True
    extra: bool = False


def columns(report: Report) -> list[Column]:
    """Columns that anything is told in, the deciding ones first."""
    found = [*_setting_columns(), *_quality_columns(report), *_figure_columns(report)]
    kept = ("Family", report.objective, report.stat)
    return [
        column
        for column in found
        if column.title.startswith(kept) or any(_told(column.value(row)) for row in report.rows)
    ]


def _told(value: Any) -> bool:
    return value is not None and value != ""


def _setting_columns() -> list[Column]:
    return [
        Column("Family", lambda row: row.family, str, numeric=False),
        Column("Index", lambda row: f"{row.kind} on {row.backend}", str, numeric=False),
        Column("Re-ranked by", lambda row: row.rerank, str, numeric=False),
        Column("Tables", lambda row: row.num_tables, numbers.count),
        Column("Hash length", lambda row: row.hash_length, numbers.count),
        *(Column(name, _detail(name), _told_detail) for name in OPTIONAL),
    ]


def _detail(name: str) -> Callable[[Row], Any]:
    return lambda row: row.details.get(name)


def _told_detail(value: int | str | None) -> str:
    return value if isinstance(value, str) else numbers.count(value)


def _quality_columns(report: Report) -> list[Column]:
    shown = {report.objective, *(name for name in report.measures if _is_ann_recall(name))}
    return [
        Column(name, _quality(name), numbers.quality, extra=name not in shown)
        for name in sorted(report.measures, key=lambda name: name not in shown)
    ]


def _is_ann_recall(name: str) -> bool:
    return name.startswith("ANNRecall@")


def _figure_columns(report: Report) -> list[Column]:
    stat = report.stat
    others = [name for name in ("mean", "p50", "p90", "p95", "p99", "max") if name != stat]
    return [
        Column(f"{stat} ms", lambda row: row.latency_ms, numbers.significant),
        Column("≤ ms (95 %)", lambda row: row.upper_ms, numbers.significant),
        *(
            Column(f"{name} ms", _nested("latency_ms", name), numbers.significant, extra=True)
            for name in others
        ),
        Column("Samples", _nested("latency_ms", "n"), numbers.count, extra=True),
        Column("Service p50 ms", _nested("service_ms", "p50"), numbers.significant, extra=True),
        Column(f"Service {stat} ms", _nested("service_ms", stat), numbers.significant, extra=True),
        Column("Encode ms", _figure("encode_ms"), numbers.significant, extra=True),
        Column("QPS", lambda row: row.qps, numbers.significant),
        Column("Rate /s", _figure("rate_per_s"), numbers.significant, extra=True),
        Column("Size MB", _megabytes, numbers.significant),
        Column("Build s", _figure("build_s"), numbers.significant, extra=True),
        Column("Errors", lambda row: row.trial.get("errors") or None, numbers.count),
        Column("Selectivity", _figure("selectivity"), numbers.significant),
        Column("Self-agreement", _figure("self_agreement"), numbers.quality, extra=True),
        Column("Indexed /s", _figure("indexed_per_s"), numbers.significant, extra=True),
        Column("Heap %", _nested("server", "heap_used_percent"), numbers.significant, extra=True),
        Column("GC ms", _nested("server", "gc_ms"), numbers.significant, extra=True),
        Column("GCs", _nested("server", "gc_count"), numbers.count, extra=True),
        Column("Breaker trips", _nested("server", "breaker_trips"), numbers.count, extra=True),
        Column("Bits", lambda row: row.trial["setting"].get("bits"), numbers.count, extra=True),
        Column("Key", lambda row: row.key, str, numeric=False, extra=True),
    ]


def _quality(name: str) -> Callable[[Row], Any]:
    return lambda row: numbers.finite((row.trial.get("quality") or {}).get(name))


def _nested(group: str, name: str) -> Callable[[Row], Any]:
    return lambda row: numbers.finite((row.trial.get(group) or {}).get(name))


def _figure(name: str) -> Callable[[Row], Any]:
    return lambda row: numbers.finite(row.trial.get(name))


def _megabytes(row: Row) -> float | None:
    return None if row.index_bytes is None else row.index_bytes / 1e6


def trials_csv(trials: Iterable[Trial]) -> str:
    """One line a trial; nested figures as `quality.nDCG@10`, flags joined by `;`.

    Numbers are whole, as measured; empty where there is none. Booleans are `true`, `false`.
    """
    import pandas as pd

    # as objects, since a column of whole numbers with a gap would be printed as 5.0
    frame = pd.DataFrame([_flat(trial) | _joined(trial) for trial in trials], dtype=object)
    return str(frame.to_csv(index=False, lineterminator="\n"))


def _flat(trial: Trial, prefix: str = "") -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in trial.items():
        if isinstance(value, dict):
            row |= _flat(value, f"{prefix}{name}.")
        else:
            row[prefix + name] = str(value).lower() if isinstance(value, bool) else value
    return row


def _joined(trial: Trial) -> dict[str, str]:
    return {"flags": ";".join(trial.get("flags") or ())}
