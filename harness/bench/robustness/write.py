"""What a robustness run leaves: `robustness.json`, `.csv`, and plots by similarity and by rank."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.bench.output import text_bytes, write_files
from harness.bench.robustness.table import told
from harness.report import style

DPI = 110
COLUMNS = 4
PANEL_INCHES = (3.3, 2.5)
_DASHES: tuple[tuple[int, ...], ...] = ((), (5, 2), (1, 1), (6, 2, 1, 2))
PLOTS = {
    "similarity.png": (
        "similarity_mean",
        "mean similarity to the original (of codes: share of equal bits)",
    ),
    "mrr.png": ("mrr", "mean reciprocal rank of the original"),
}


def write(found: Mapping[str, Any], folder: Path) -> None:
    """Write the files, each whole or not at all; the folder is made if missing.

    Args:
        found: what `measure.measure` gives.
        folder: where.

    Raises:
        SettingError: they cannot be written there.
    """
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    files = {
        "robustness.json": text_bytes(text + "\n"),
        "robustness.csv": text_bytes(rows_csv(found["rows"])),
        **{name: plot(found, value, label) for name, (value, label) in PLOTS.items()},
    }
    write_files(folder, files)


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as RFC 4180; what is missing is empty."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def plot(found: Mapping[str, Any], value: str, label: str) -> bytes:
    """PNG: a panel a perturbation, a line a family and similarity over strength.

    Args:
        found: what `measure.measure` gives.
        value: name of the figure in a row; of `similarity_mean`, codes show `bits_equal_mean`.
        label: what it is.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with warnings.catch_warnings(), matplotlib.rc_context(dict(matplotlib.rcParamsDefault)):
        # a name in a script that the bundled font lacks is drawn as boxes, which is no error
        warnings.filterwarnings("ignore", message="Glyph")
        canvas: Any = FigureCanvasAgg(_figure(found, value, label))
        buffer = io.BytesIO()
        canvas.print_png(buffer, metadata={"Software": None})
    return buffer.getvalue()


def _figure(found: Mapping[str, Any], value: str, label: str) -> Any:
    from matplotlib.figure import Figure

    panels = found["perturbations"]
    columns = min(COLUMNS, len(panels))
    deep = -(-len(panels) // columns)
    looks = _looks(list(dict.fromkeys((row["family"], row["similarity"]) for row in found["rows"])))
    size = (max(6.6, PANEL_INCHES[0] * columns), PANEL_INCHES[1] * deep + 1.3)
    figure = Figure(figsize=size, dpi=DPI, facecolor="white", layout="constrained")
    corpus = found["corpus"]["name"].replace("$", r"\$")
    figure.suptitle(f"{corpus}: {label}", fontsize=11, x=0.01, ha="left")
    axes = figure.subplots(deep, columns, squeeze=False).ravel()
    for place, panel in zip(axes, panels, strict=False):
        _panel(place, panel, found["rows"], value, looks)
    for unused in axes[len(panels) :]:
        unused.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower left", ncols=columns, frameon=False, fontsize=8
    )
    return figure


def _looks(named: Sequence[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Colour of the family; dashes where several lines have it."""
    colours = style.colours(family for family, _ in named)
    used: dict[str, int] = {}
    looks = {}
    for family, similarity in named:
        colour = colours[family]
        nth = used[colour] = used.get(colour, -1) + 1
        dashes = _DASHES[nth % len(_DASHES)]
        looks[family, similarity] = {"color": colour} | ({"dashes": dashes} if dashes else {})
    return looks


def _plotted(row: Mapping[str, Any], value: str) -> float:
    if row[value] is None:
        return math.nan
    return told(row) if value == "similarity_mean" else float(row[value])


def _panel(
    axes: Any,
    panel: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    value: str,
    looks: Mapping[tuple[str, str], Mapping[str, Any]],
) -> None:
    axes.set_title(panel["name"], loc="left", fontsize=9)
    axes.set_xlabel(f"share of {panel['share_of']}", fontsize=7.5)
    places = range(len(panel["strengths"]))
    axes.set_xticks(places, [f"{strength:g}" for strength in panel["strengths"]], fontsize=7)
    axes.tick_params(axis="y", labelsize=7)
    axes.grid(visible=True, color="#E5E7EB", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for (family, similarity), look in looks.items():
        line = [
            _plotted(row, value)
            for row in rows
            if (row["family"], row["similarity"], row["perturbation"])
            == (family, similarity, panel["name"])
        ]
        label = f"{family} {similarity}"
        axes.plot(places, line, label=label, linewidth=1.4, marker="o", markersize=2.5, **look)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -0.03), max(high, 1.03))
