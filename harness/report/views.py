"""The scatter plots of a report, told once for both drawing libraries."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from harness.report.model import Report, Row
from harness.report.numbers import plain
from harness.settings import TEXT_KINDS


@dataclass(frozen=True, slots=True)
class Point:
    """A row with its place: x > 0 on a log axis, y the objective."""

    x: float
    y: float
    row: Row


@dataclass(frozen=True, slots=True)
class Scatter:
    """One scatter plot of the objective.

    Attributes:
        name: of the plot and, with `.png`, of its file.
        points: rows that have both figures, best first.
        undrawn: finished rows that lack one.
        limit: the SLA where x is its statistic.
        front: points of the front by rising x; empty where x is not the SLA's statistic.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    points: tuple[Point, ...]
    undrawn: int
    limit: float | None = None
    front: tuple[Point, ...] = ()

    def series(self) -> dict[tuple[str, str, str], list[Point]]:
        """Points by (family, backend, kind), in a fixed order; never an empty list."""
        groups: dict[tuple[str, str, str], list[Point]] = {}
        for point in self.points:
            groups.setdefault(point.row.series, []).append(point)
        return dict(sorted(groups.items()))

    def role(self, name: str) -> Point | None:
        """The drawn point with this role."""
        return next((point for point in self.points if point.row.role == name), None)


def series_label(row: Row) -> str:
    """Family, kind and backend of a row, as legends say it."""
    place = (
        f"{row.family} on {row.backend}"
        if row.kind in TEXT_KINDS
        else f"{row.family} · {row.kind} on {row.backend}"
    )
    return f"{place} (baseline)" if row.baseline else place


def scatters(report: Report) -> tuple[Scatter, ...]:
    """Latency, capacity and size against the objective."""
    objective = report.objective
    latency = _points(report, "latency_ms", 1.0)
    qps = _points(report, "qps", 1.0)
    memory = _points(report, "index_bytes", 1e-6)
    front = tuple(sorted((p for p in latency if p.row.front), key=lambda p: (p.x, p.y)))
    total = len(report.finished)
    return (
        Scatter(
            "latency_quality",
            f"{objective} against {report.stat} latency",
            f"{report.stat} latency under load, ms (log scale)",
            objective,
            latency,
            total - len(latency),
            report.limit_ms,
            front,
        ),
        Scatter(
            "qps_quality",
            f"{objective} against capacity",
            "capacity in a closed loop, queries/s (log scale)",
            objective,
            qps,
            total - len(qps),
        ),
        Scatter(
            "memory_quality",
            f"{objective} against index size",
            "index size, MB (log scale)",
            objective,
            memory,
            total - len(memory),
        ),
    )


def _points(report: Report, attribute: str, factor: float) -> tuple[Point, ...]:
    places = ((getattr(row, attribute), row) for row in report.finished)
    return tuple(
        Point(value * factor, row.objective, row)
        for value, row in places
        if value is not None and value > 0 and row.objective is not None
    )


@dataclass(frozen=True, slots=True)
class Axis:
    """A log axis: limits, ticks with their texts, and where an SLA stands.

    Attributes:
        outside: -1 or 1 where the SLA lies so far below or above that drawing it would squeeze
            the points; 0 otherwise.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    texts: tuple[str, ...]
    outside: int = 0


def log_axis(values: Iterable[float], limit: float | None = None) -> Axis:
    """An axis that holds the values, and the limit where it is within a factor of 30."""
    found = [value for value in values if value > 0]
    low, high = (min(found), max(found)) if found else (limit or 1.0, limit or 1.0)
    outside = 0
    if limit is not None:
        if limit > 30 * high:
            outside = 1
        elif limit < low / 30:
            outside = -1
        else:
            low, high = min(low, limit), max(high, limit)
    span = high / low
    # a lone point still gets an axis to read it on: at least a factor of four
    margin = max(1.12, span**0.05, (4 / span) ** 0.5)
    low, high = low / margin, high * margin
    ticks = _ticks(low, high)
    return Axis(low, high, ticks, tuple(plain(tick) for tick in ticks), outside)


def _ticks(low: float, high: float) -> tuple[float, ...]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    span = math.log10(high / low)
    steps: tuple[float, ...] = (1,) if span > 4 else (1, 2, 5)
    if span < 0.7:
        steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    candidates = (float(f"{step}e{decade}") for decade in decades for step in steps)
    return tuple(tick for tick in candidates if low <= tick <= high)


def quality_limits(scatter: Scatter, report: Report) -> tuple[float, float]:
    """Limits of the y axis: points and references with room around them."""
    values = [point.y for point in scatter.points] + [value for _, value in references(report)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    margin = max(0.02, 0.08 * (high - low))
    return low - margin, high + margin


def references(report: Report) -> list[tuple[str, float]]:
    """Reference rows that carry the objective, as (name, value)."""
    pairs = (
        (row["name"], (row["quality"] or {}).get(report.objective)) for row in report.references
    )
    return [(str(name), float(value)) for name, value in pairs if value is not None]


@dataclass(frozen=True, slots=True)
class Heatmap:
    """One panel: the objective by num_tables (rows) and hash_length (columns)."""

    family: str
    backend: str
    num_tables: tuple[int, ...]
    hash_lengths: tuple[int, ...]
    cells: dict[tuple[int, int], Row]


def heatmaps(report: Report) -> list[Heatmap]:
    """One panel per family and backend that has `lsh` trials."""
    panels: dict[tuple[str, str], dict[tuple[int, int], Row]] = {}
    for row in report.rows:
        if row.kind == "lsh" and row.num_tables is not None and row.hash_length is not None:
            cells = panels.setdefault((row.family, row.backend), {})
            # rows come best first: a second setting of the same sizes does not hide the better
            cells.setdefault((row.num_tables, row.hash_length), row)
    return [
        Heatmap(
            family,
            backend,
            tuple(sorted({tables for tables, _ in cells})),
            tuple(sorted({length for _, length in cells})),
            cells,
        )
        for (family, backend), cells in sorted(panels.items())
    ]


def objective_range(report: Report) -> tuple[float, float]:
    """Least and greatest objective of the `lsh` trials, for one colour scale over all panels."""
    values = [r.objective for r in report.rows if r.kind == "lsh" and r.objective is not None]
    return (min(values), max(values)) if values else (0.0, 1.0)
