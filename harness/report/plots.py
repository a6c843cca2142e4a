"""PNG plots by matplotlib's Agg canvas: no window system, no global state, the same bytes."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from harness.report import style
from harness.report.model import Report, Row
from harness.report.numbers import plain
from harness.report.views import (
    Axis,
    Heatmap,
    Point,
    Scatter,
    heatmaps,
    log_axis,
    objective_range,
    quality_limits,
    references,
    scatters,
    series_label,
)

DPI = 110
_FADED = 0.35


def draw(report: Report) -> dict[str, bytes]:
    """File name -> PNG of every plot; an empty study gives empty axes that say so."""
    # what a person set for their own plots does not change a report's
    with warnings.catch_warnings(), matplotlib.rc_context(dict(matplotlib.rcParamsDefault)):
        # a name in a script that the bundled font lacks is drawn as boxes, which is no error
        warnings.filterwarnings("ignore", message="Glyph")
        images = {f"{view.name}.png": _png(_scatter(report, view)) for view in scatters(report)}
        images["heatmap.png"] = _png(_heatmap(report))
    return images


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    canvas: Any = FigureCanvasAgg(figure)
    canvas.print_png(buffer, metadata={"Software": None})
    return buffer.getvalue()


def _literal(text: str) -> str:
    """Text that matplotlib takes as it stands: a dollar sign starts no formula."""
    return text.replace("$", r"\$")


def _title(report: Report, text: str) -> str:
    return _literal(f"{report.corpus}: {text}")


def _scatter(report: Report, view: Scatter) -> Figure:
    figure = Figure(figsize=(10.0, 5.4), dpi=DPI, facecolor="white")
    axes = figure.add_axes((0.072, 0.115, 0.60, 0.80))
    axis = log_axis((point.x for point in view.points), view.limit)
    axes.set_xscale("log")
    axes.set_xlim(axis.low, axis.high)
    axes.set_ylim(*quality_limits(view, report))
    axes.xaxis.set_major_locator(FixedLocator(axis.ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(view.x_label)
    axes.set_ylabel(_literal(view.y_label))
    axes.set_title(_title(report, view.title), loc="left", fontsize=11)
    _tidy(axes)
    handles = [*_draw_series(axes, view), *_draw_references(axes, report)]
    handles += [*_draw_limit(axes, report, view, axis), *_draw_roles(axes, view)]
    if not view.points:
        _say(axes, "no trial has both figures")
    if handles:
        axes.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.02, 1.0),
            frameon=False,
            fontsize=8.5,
        )
    return figure


def _tidy(axes: Any) -> None:
    axes.grid(visible=True, color="#E5E7EB", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _say(axes: Any, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="#6B7280")


def _draw_series(axes: Any, view: Scatter) -> list[Line2D]:
    series = view.series()
    colours = style.colours(family for family, _, _ in series)
    markers = style.markers((backend, kind) for _, backend, kind in series)
    handles = []
    for (family, backend, kind), points in series.items():
        look: dict[str, Any] = {
            "marker": markers[backend, kind].matplotlib,
            "linestyle": "none",
            "markersize": 6.5,
        }
        _draw_points(axes, points, look, colours[family])
        label = series_label(points[0].row)
        shown = {**look, **_fill(points[0].row, colours[family])}
        handles.append(Line2D([], [], label=_wrapped(label), **shown))
    if any(not point.row.feasible for point in view.points):
        handles.append(_faded_handle())
    return handles


def _draw_points(axes: Any, points: list[Point], look: dict[str, Any], colour: str) -> None:
    groups: dict[tuple[bool, bool], list[Point]] = {}
    for point in points:
        groups.setdefault((point.row.feasible, point.row.baseline), []).append(point)
    for (feasible, _), group in groups.items():
        axes.plot(
            [point.x for point in group],
            [point.y for point in group],
            alpha=1.0 if feasible else _FADED,
            **look,
            **_fill(group[0].row, colour),
        )


def _fill(row: Row, colour: str) -> dict[str, Any]:
    """Baselines are open marks; a thin white edge keeps the others apart."""
    if row.baseline:
        return {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 1.5}
    return {"markerfacecolor": colour, "markeredgecolor": "white", "markeredgewidth": 0.5}


def _faded_handle() -> Line2D:
    return Line2D(
        [],
        [],
        marker="o",
        linestyle="none",
        color="#6B7280",
        alpha=_FADED,
        label="faded: infeasible",
    )


def _draw_references(axes: Any, report: Report) -> list[Line2D]:
    handles = []
    for index, (name, value) in enumerate(references(report)):
        dashes = style.DASHES[index % len(style.DASHES)]
        axes.axhline(value, color="#374151", linewidth=1.0, dashes=dashes, zorder=1.5)
        label = _wrapped(f"reference: {name} ({value:.3f})")
        handles.append(Line2D([], [], color="#374151", linewidth=1.0, dashes=dashes, label=label))
    return handles


def _draw_limit(axes: Any, report: Report, view: Scatter, axis: Axis) -> list[Line2D]:
    if view.limit is None:
        return []
    text = f"SLA {report.stat} ≤ {report.limit} ms"
    if axis.outside:
        place, side = (0.99, "right") if axis.outside > 0 else (0.01, "left")
        text = f"{text}  →" if axis.outside > 0 else f"←  {text}"
        box = {"boxstyle": "square,pad=0.2", "facecolor": "white", "edgecolor": "none"}
        axes.text(
            place,
            0.02,
            text,
            transform=axes.transAxes,
            ha=side,
            color=style.LIMIT,
            fontsize=9,
            bbox=box,
        )
        return []
    axes.axvspan(view.limit, axis.high, color=style.LIMIT, alpha=0.05, linewidth=0)
    axes.axvline(view.limit, color=style.LIMIT, linewidth=1.4)
    return [Line2D([], [], color=style.LIMIT, linewidth=1.4, label=text)]


def _draw_roles(axes: Any, view: Scatter) -> list[Line2D]:
    handles: list[Line2D] = []
    if len(view.front) > 1:
        xs, ys = [p.x for p in view.front], [p.y for p in view.front]
        axes.plot(xs, ys, color=style.FRONT, linewidth=1.2, drawstyle="steps-post", zorder=1.8)
        handles.append(Line2D([], [], color=style.FRONT, linewidth=1.2, label="front"))
    for role, look in _ROLES.items():
        point = view.role(role)
        if point is not None:
            axes.plot([point.x], [point.y], linestyle="none", zorder=4, **look)
            label = f"{role}: {point.row.label}"
            handles.append(Line2D([], [], linestyle="none", label=_wrapped(label), **look))
    return handles


def _wrapped(label: str) -> str:
    return textwrap.fill(_literal(label), 36)


_RING: dict[str, Any] = {"marker": "o", "markersize": 13, "markerfacecolor": "none"}
_ROLES: dict[str, dict[str, Any]] = {
    "pick": {
        "marker": "*",
        "markersize": 17,
        "markerfacecolor": style.PICK,
        "markeredgecolor": "#111827",
    },
    "runner-up": {**_RING, "markeredgecolor": "#111827"},
    "nearest miss": {**_RING, "markeredgecolor": style.LIMIT, "markeredgewidth": 1.6},
}


def _heatmap(report: Report) -> Figure:
    panels = heatmaps(report)
    widths = [max(len(panel.hash_lengths), 2) for panel in panels] or [5]
    rows = max((len(panel.num_tables) for panel in panels), default=3)
    left, gap, bottom, top = 0.75, 0.75, 0.95, 0.75
    width = left + sum(0.72 * w for w in widths) + gap * len(widths)
    width, height = max(width, 6.2), bottom + top + 0.42 * max(rows, 2)
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    figure.text(
        0.15 / width,
        1 - 0.28 / height,
        _title(report, f"{report.objective} by num_tables × hash_length"),
        fontsize=11,
        va="center",
    )
    if not panels:
        figure.text(0.5, 0.5, "no table index was measured", ha="center", color="#6B7280")
        return figure
    x = left
    for panel, columns in zip(panels, widths, strict=True):
        size = (0.72 * columns / width, 0.42 * max(len(panel.num_tables), 1) / height)
        axes = figure.add_axes((x / width, 1 - top / height - size[1], *size))
        _draw_panel(axes, panel, objective_range(report))
        x += 0.72 * columns + gap
    caption = "hatched: does not meet the SLA   ★ pick   empty: not measured or failed"
    figure.text(0.15 / width, 0.16 / height, caption, fontsize=8, color="#4B5563")
    return figure


def _draw_panel(axes: Any, panel: Heatmap, limits: tuple[float, float]) -> None:
    tables: Sequence[int] = panel.num_tables
    lengths: Sequence[int] = panel.hash_lengths
    axes.set_xlim(-0.5, len(lengths) - 0.5)
    axes.set_ylim(len(tables) - 0.5, -0.5)
    axes.set_xticks(range(len(lengths)), [str(length) for length in lengths])
    axes.set_yticks(range(len(tables)), [str(number) for number in tables])
    axes.tick_params(length=0, labelsize=8.5)
    axes.set_xlabel("hash_length", fontsize=9)
    axes.set_ylabel("num_tables", fontsize=9)
    axes.set_title(_literal(f"{panel.family} on {panel.backend}"), fontsize=9.5)
    for (number, length), row in panel.cells.items():
        x, y = lengths.index(length), tables.index(number)
        if row.objective is None:
            axes.text(x, y, "–", ha="center", va="center", fontsize=8, color="#6B7280")
            continue
        share = style.heat_share(row.objective, limits)
        fill = style.heat_colour(share)
        hatch = None if row.feasible else "////"
        axes.add_patch(
            Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fill, edgecolor="white", hatch=hatch)
        )
        star = "★" if row.role == "pick" else ""
        ink = "white" if share > 0.55 else "#111827"
        box = None if row.feasible else {"facecolor": fill, "edgecolor": "none", "pad": 1.0}
        text = f"{row.objective:.3f}{star}"
        axes.text(x, y, text, ha="center", va="center", fontsize=8, color=ink, bbox=box)
