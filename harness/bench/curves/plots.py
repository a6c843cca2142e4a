"""Hash curves as PNG, by matplotlib's Agg canvas."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from harness.bench.curves.document import Document
from harness.report import style

DPI = 110
_NAMELESS = "codes"
_DASHED = (5, 3)
_SOLID: tuple[int, ...] = ()


def draw(title: str, documents: Mapping[str, Document]) -> dict[str, bytes]:
    """File name -> PNG: the curves by radius, and precision against recall.

    Args:
        title: what was measured.
        documents: family -> its curves; the name may be empty where there is one.
    """
    named = {name or _NAMELESS: curve for name, curve in documents.items()}
    with warnings.catch_warnings(), matplotlib.rc_context(dict(matplotlib.rcParamsDefault)):
        # a name in a script that the bundled font lacks is drawn as boxes, which is no error
        warnings.filterwarnings("ignore", message="Glyph")
        return {
            "radius.png": _png(_radius(title, named)),
            "precision-recall.png": _png(_precision_recall(title, named)),
        }


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    canvas: Any = FigureCanvasAgg(figure)
    canvas.print_png(buffer, metadata={"Software": None})
    return buffer.getvalue()


def _radius(title: str, documents: Mapping[str, Document]) -> Figure:
    parts = (("precision", "Precision"), ("recall", "Recall"), ("retrieved", "Retrieved share"))
    figure, panels = _figure(title, documents, [label for _, label in parts])
    colours = style.colours(documents)
    for (part, label), axes in zip(parts, panels, strict=True):
        axes.set_xlabel("Hamming radius")
        axes.set_ylabel(label)
        for name, curve in documents.items():
            for average, dashes in (("micro", _SOLID), ("macro", _DASHED)):
                _line(axes, curve["radius"], curve[average][part], colours[name], dashes)
    return figure


def _precision_recall(title: str, documents: Mapping[str, Document]) -> Figure:
    figure, (radius, rank) = _figure(title, documents, ["By radius", "By rank"])
    colours = style.colours(documents)
    for axes in (radius, rank):
        axes.set_xlabel("Recall")
        axes.set_ylabel("Precision")
        axes.set_xlim(-0.02, 1.02)
    for name, curve in documents.items():
        for average, dashes in (("micro", _SOLID), ("macro", _DASHED)):
            for axes, values in ((radius, curve[average]), (rank, curve["rank"][average])):
                _line(axes, values["recall"], values["precision"], colours[name], dashes)
    return figure


def _figure(
    title: str, documents: Mapping[str, Document], labels: Sequence[str]
) -> tuple[Figure, list[Any]]:
    width = 4.2 * len(labels)
    figure = Figure(figsize=(width, 4.4), dpi=DPI, facecolor="white")
    panels = []
    for place, label in enumerate(labels):
        axes = figure.add_axes(((0.62 + 4.2 * place) / width, 0.22, (4.2 - 0.85) / width, 0.63))
        axes.set_title(label, loc="left", fontsize=10)
        axes.set_ylim(-0.02, 1.02)
        axes.grid(visible=True, color="#E5E7EB", linewidth=0.8)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        panels.append(axes)
    # a dollar sign starts no formula
    figure.text(0.12 / width, 0.945, title.replace("$", r"\$"), fontsize=11)
    colours = style.colours(documents)
    handles = [Line2D([], [], color=colours[name], label=name) for name in documents]
    handles += [
        Line2D([], [], color="#374151", label="micro"),
        Line2D([], [], color="#374151", dashes=_DASHED, label="macro"),
    ]
    figure.legend(
        handles=handles, loc="lower left", ncols=min(8, len(handles)), frameon=False, fontsize=8.5
    )
    return figure, panels


def _line(
    axes: Any,
    xs: Sequence[float | None],
    ys: Sequence[float | None],
    colour: str,
    dashes: tuple[int, ...],
) -> None:
    """A line with a gap where a value is undefined; a lone point is a dot."""
    drawn = [(_value(x), _value(y)) for x, y in zip(xs, ys, strict=True)]
    style_of: dict[str, Any] = {"dashes": dashes} if dashes else {}
    dot = "o" if len(drawn) < 20 else None
    axes.plot(
        [x for x, _ in drawn],
        [y for _, y in drawn],
        color=colour,
        linewidth=1.5,
        marker=dot,
        markersize=3.5,
        **style_of,
    )


def _value(value: float | None) -> float:
    return math.nan if value is None else value
