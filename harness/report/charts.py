"""The scatter plots as plain plotly figures (dicts), drawn by the page's inlined plotly.js."""

from __future__ import annotations

from html import escape
from math import log10
from typing import Any

from harness.report import numbers, style
from harness.report.model import Report, Row
from harness.report.views import (
    Axis,
    Point,
    Scatter,
    log_axis,
    quality_limits,
    references,
    scatters,
    series_label,
)

_FADED = 0.35
_INK = "var(--ink)"
"""The page replaces CSS variables by the colours of the reader's theme."""


def figures(report: Report) -> dict[str, dict[str, Any]]:
    """Name of a plot -> its data and layout. Texts are HTML-escaped: plotly reads them as HTML."""
    return {view.name: _figure(report, view) for view in scatters(report)}


def _figure(report: Report, view: Scatter) -> dict[str, Any]:
    axis = log_axis((point.x for point in view.points), view.limit)
    limits = quality_limits(view, report)
    data = [
        *_references(report, axis),
        *_limit(report, view, axis, limits),
        *_front(view),
        *_series(report, view),
        *_roles(report, view),
    ]
    return {"data": data, "layout": _layout(report, view, axis, limits)}


def _layout(
    report: Report, view: Scatter, axis: Axis, limits: tuple[float, float]
) -> dict[str, Any]:
    return {
        "xaxis": {
            "type": "log",
            "title": {"text": escape(view.x_label), "standoff": 10},
            "range": [log10(axis.low), log10(axis.high)],
            "tickvals": list(axis.ticks),
            "ticktext": list(axis.texts),
            "zeroline": False,
        },
        "yaxis": {
            "title": {"text": escape(view.y_label), "standoff": 12},
            "range": list(limits),
            "zeroline": False,
            "tickformat": ".2f",
        },
        "hovermode": "closest",
        # the first plot's legend serves them all: one colour a family, one mark a backend and kind
        "showlegend": view.limit is not None,
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": -0.16, "yanchor": "top"},
        "annotations": _outside(report, view, axis),
        "shapes": _beyond(view, axis),
    }


def _outside(report: Report, view: Scatter, axis: Axis) -> list[dict[str, Any]]:
    """Says where the SLA is when it lies beyond the axis, or that there is nothing to see."""
    place = {"xref": "paper", "yref": "paper", "showarrow": False}
    if not view.points:
        return [{**place, "x": 0.5, "y": 0.5, "text": "no trial has both figures"}]
    if view.limit is None or not axis.outside:
        return []
    text = f"SLA {report.stat} ≤ {report.limit} ms"
    right = axis.outside > 0
    return [
        {
            **place,
            "x": 1 if right else 0,
            "xanchor": "right" if right else "left",
            "y": 0.01,
            "yanchor": "bottom",
            "text": escape(f"{text} →" if right else f"← {text}"),
            "font": {"color": "var(--limit)"},
        }
    ]


def _beyond(view: Scatter, axis: Axis) -> list[dict[str, Any]]:
    """Tints what lies beyond the SLA."""
    if view.limit is None or axis.outside or not view.points:
        return []
    return [
        {
            "type": "rect",
            "layer": "below",
            "xref": "x",
            "yref": "paper",
            "x0": view.limit,
            "x1": axis.high * 1000,
            "y0": 0,
            "y1": 1,
            "line": {"width": 0},
            "fillcolor": style.LIMIT,
            "opacity": 0.06,
        }
    ]


def _line(name: str, xs: list[float], ys: list[float], **line: Any) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape(name),
        "x": xs,
        "y": ys,
        "line": line,
    }


def _references(report: Report, axis: Axis) -> list[dict[str, Any]]:
    traces = []
    for index, (name, value) in enumerate(references(report)):
        dashes = style.DASHES[index % len(style.DASHES)]
        line = _line(
            f"reference: {name} ({value:.3f})",
            [axis.low / 1000, axis.high * 1000],
            [value, value],
            color="var(--muted)",
            width=1.2,
            dash=",".join(f"{length}px" for length in dashes),
        )
        traces.append({**line, "hoverinfo": "name"})
    return traces


def _limit(
    report: Report, view: Scatter, axis: Axis, limits: tuple[float, float]
) -> list[dict[str, Any]]:
    if view.limit is None or axis.outside:
        return []
    name = f"SLA {report.stat} ≤ {report.limit} ms"
    line = _line(
        name, [view.limit, view.limit], [-1, limits[1] + 1], color="var(--limit)", width=1.6
    )
    return [{**line, "hoverinfo": "name"}]


def _front(view: Scatter) -> list[dict[str, Any]]:
    if len(view.front) < 2:
        return []
    xs, ys = [point.x for point in view.front], [point.y for point in view.front]
    return [
        {**_line("front", xs, ys, color="var(--muted)", width=1.4, shape="hv"), "hoverinfo": "skip"}
    ]


def _series(report: Report, view: Scatter) -> list[dict[str, Any]]:
    series = view.series()
    colours = style.colours(family for family, _, _ in series)
    markers = style.markers((backend, kind) for _, backend, kind in series)
    traces = []
    for (family, backend, kind), found in series.items():
        # the legend's mark looks like the first point's: a feasible one where there is one
        points = sorted(found, key=lambda point: not point.row.feasible)
        symbol = markers[backend, kind].plotly
        name = series_label(points[0].row)
        traces.append(
            {
                **_dots(report, points, escape(name)),
                "marker": {
                    "color": colours[family],
                    "size": 9,
                    "symbol": [f"{symbol}-open" if p.row.baseline else symbol for p in points],
                    "opacity": [1.0 if p.row.feasible else _FADED for p in points],
                    "line": {"width": [2 if p.row.baseline else 0.5 for p in points]},
                },
            }
        )
    return traces


def _dots(report: Report, points: list[Point], name: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [point.x for point in points],
        "y": [point.y for point in points],
        "customdata": [point.row.key for point in points],
        "text": [hover(report, point.row) for point in points],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _roles(report: Report, view: Scatter) -> list[dict[str, Any]]:
    traces = []
    for role, marker in _ROLES.items():
        point = view.role(role)
        if point is not None:
            name = escape(f"{role}: {point.row.label}")
            traces.append({**_dots(report, [point], name), "marker": marker})
    return traces


_ROLES: dict[str, dict[str, Any]] = {
    "runner-up": {"symbol": "circle-open", "size": 18, "color": _INK, "line": {"width": 1.6}},
    "nearest miss": {
        "symbol": "circle-open",
        "size": 18,
        "color": "var(--limit)",
        "line": {"width": 2},
    },
    "pick": {
        "symbol": "star",
        "size": 19,
        "color": style.PICK,
        "line": {"width": 1.2, "color": _INK},
    },
}


def hover(report: Report, row: Row) -> str:
    """All figures of a trial as plotly's kind of HTML, escaped."""
    role = f" ({row.role})" if row.role else ""
    lines = [f"<b>{escape(row.label)}</b>{escape(role)}"]
    lines += [escape(text) for text in _figures_of(report, row)]
    obstacle = report.obstacle(row)
    lines.append(escape(f"infeasible: {obstacle}" if obstacle else "meets the SLA"))
    if row.flags:
        lines.append(escape("flags: " + ", ".join(row.flags)))
    return "<br>".join(lines)


def _figures_of(report: Report, row: Row) -> list[str]:
    trial = row.trial
    found = trial.get("quality") or {}
    texts = [f"{name} {numbers.quality(found[name])}" for name in report.measures if name in found]
    # three measures a line keep the box small
    lines = [" · ".join(texts[start : start + 3]) for start in range(0, len(texts), 3)]
    latency = trial.get("latency_ms") or {}
    parts = [
        f"{name} {numbers.significant(latency[name])}"
        for name in ("mean", "p50", "p90", "p95", "p99", "max")
        if latency.get(name) is not None
    ]
    lines.append(f"latency ms: {' · '.join(parts)} (n {numbers.count(latency.get('n'))})")
    lines.append(f"{report.stat} at most {numbers.milliseconds(row.upper_ms)} (95 %)")
    lines.append(
        f"QPS {numbers.significant(row.qps)} · size {numbers.size(row.index_bytes)} · "
        f"build {numbers.seconds(trial.get('build_s'))} · "
        f"encode {numbers.milliseconds(trial.get('encode_ms'))}"
    )
    return lines
