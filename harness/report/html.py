"""`report.html`: one file that opens without network, everything from data escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.report import charts, numbers, story, style, tables, words
from harness.report.model import Report, Row
from harness.report.views import Heatmap, heatmaps, objective_range, scatters

TEMPLATES = Path(__file__).parent / "templates"


def render(report: Report, present: frozenset[str]) -> str:
    """The page.

    Args:
        report: what to tell.
        present: names of files that lie in the folder.
    """
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(
        **_content(report, present), plotly=_script(get_plotlyjs())
    )


def _script(source: str) -> Markup:
    """A library's text inside a script element, which its own text must not close."""
    return Markup(source.replace("</script", "<\\/script"))


def _content(report: Report, present: frozenset[str]) -> dict[str, Any]:
    columns = tables.columns(report)
    return {
        "report": report,
        "summary": report.summary,
        "context": report.context,
        "numbers": numbers,
        "words": words,
        "badge": story.badge(report),
        "choice": story.choice(report),
        "comparison": story.comparison(report),
        "margin": story.margin(report),
        "flags": story.flag_counts(report),
        "meanings": story.measure_meanings(report),
        "nulls": story.null_figures(report),
        "commands": story.commands(report, present),
        "files": story.files(present),
        "views": scatters(report),
        "figures": charts.figures(report),
        "panels": [_panel(report, panel) for panel in heatmaps(report)],
        "columns": columns,
        "lines": [_line(row, columns) for row in report.rows],
        "colours": style.colours(row.family for row in report.rows),
    }


def _line(row: Row, columns: list[tables.Column]) -> dict[str, Any]:
    values = [column.value(row) for column in columns]
    cells = [
        {
            "column": column,
            "value": "" if value is None else value,
            "text": numbers.MISSING if value is None else column.text(value),
        }
        for column, value in zip(columns, values, strict=True)
    ]
    return {"row": row, "cells": cells}


def _panel(report: Report, panel: Heatmap) -> dict[str, Any]:
    limits = objective_range(report)
    cells = {place: _cell(report, row, limits) for place, row in panel.cells.items()}
    return {"panel": panel, "cells": cells}


def _cell(report: Report, row: Row, limits: tuple[float, float]) -> dict[str, Any]:
    share = 0.0 if row.objective is None else style.heat_share(row.objective, limits)
    return {
        "row": row,
        "fill": style.heat_colour(share) if row.objective is not None else "transparent",
        "dark": share > 0.55,
        "quality": numbers.MISSING if row.objective is None else f"{row.objective:.3f}",
        "latency": numbers.significant(row.latency_ms),
        "why": report.obstacle(row),
    }
