"""Write everything that a report consists of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.report import model
from harness.report.files import write_bytes, write_text
from harness.report.numbers import finite

WRITTEN = (
    *("summary.json", "trials.csv", "report.md", "report.html"),
    *("latency_quality.png", "qps_quality.png", "memory_quality.png", "heatmap.png"),
)
"""The files of a report, beside which a study keeps its rows, runs and truth."""


def write_report(folder: Path, summary: model.Summary, context: model.ReportContext) -> None:
    """Write `summary.json`, `trials.csv`, the plots, `report.md` and `report.html`.

    Each file appears whole or not at all, and replaces what stood there. Pages name the files of
    `runs/`, `truth/` and the study's database where they exist.

    Args:
        folder: of the study; made if missing.
        summary: `summary.json`, schema version 1. Infinite and undefined figures are written
            as null.
        context: what stands in no summary.
    """
    # heavy packages stay away from those who only import this package
    from harness.report import html, markdown, plots, tables

    summary = _without_infinities(summary)
    report = model.build(summary, context)
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(folder / "summary.json", text + "\n")
    write_text(folder / "trials.csv", tables.trials_csv(summary["trials"]))
    for name, image in plots.draw(report).items():
        write_bytes(folder / name, image)
    present = frozenset(path.name for path in folder.iterdir()) | _truth(folder)
    write_text(folder / "report.md", markdown.render(report, present))
    write_text(folder / "report.html", html.render(report, present))


def _truth(folder: Path) -> frozenset[str]:
    truth = folder / "truth"
    return (
        frozenset(f"truth/{path.name}" for path in truth.iterdir())
        if truth.is_dir()
        else frozenset()
    )


def _without_infinities(value: Any) -> Any:
    """JSON has no infinity and no NaN."""
    if isinstance(value, dict):
        return {key: _without_infinities(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinities(item) for item in value]
    return finite(value) if isinstance(value, float) else value
