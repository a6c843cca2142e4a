"""`report.md`: the same story in Markdown, with links to the plots beside it."""

from __future__ import annotations

import re
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.report import numbers, story, tables, words
from harness.report.html import TEMPLATES
from harness.report.model import Report, Row

TOP = 10

_SPECIAL = re.compile(r"[\\`*\[\]|]|(?<![^\W_])_|_(?![^\W_])")


def escape(value: object) -> str:
    """Text that Markdown prints as it stands, also inside a table cell, on one line."""
    text = " ".join(str(value).split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(lambda match: "\\" + match[0], text)


def code(value: object) -> Markup:
    """Text as a code span, on one line; backticks inside it are kept."""
    text = " ".join(str(value).split())
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return Markup(f"{fence}{pad}{text}{pad}{fence}")


def verbatim(value: object) -> Markup:
    """Text for an indented code block, on one line."""
    return Markup(" ".join(str(value).split()))


def render(report: Report, present: frozenset[str]) -> str:
    """The page.

    Args:
        report: what to tell.
        present: names of files that lie in the folder.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=False,  # not HTML: every expression goes through Markdown's own escaping
        finalize=lambda value: value if isinstance(value, Markup) else escape(value),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(code=code, verbatim=verbatim)
    return environment.get_template("report.md.j2").render(**_content(report, present))


def _content(report: Report, present: frozenset[str]) -> dict[str, Any]:
    columns = [column for column in tables.columns(report) if not column.extra]
    return {
        "report": report,
        "summary": report.summary,
        "context": report.context,
        "numbers": numbers,
        "words": words,
        "badge": story.badge(report)[1],
        "choice": story.choice(report),
        "comparison": story.comparison(report),
        "margin": story.margin(report),
        "flags": story.flag_counts(report),
        "meanings": story.measure_meanings(report),
        "nulls": story.null_figures(report),
        "commands": story.commands(report, present),
        "files": story.files(present),
        "columns": columns,
        "top": [_line(report, row, columns) for row in report.finished[:TOP]],
        "lines": [_line(report, row, columns) for row in report.rows],
    }


def _line(report: Report, row: Row, columns: list[tables.Column]) -> dict[str, Any]:
    values = [column.value(row) for column in columns]
    texts = [
        numbers.MISSING if value is None else column.text(value)
        for column, value in zip(columns, values, strict=True)
    ]
    return {"texts": texts, "remarks": _remarks(report, row)}


def _remarks(report: Report, row: Row) -> str:
    remarks = [row.role, "front" if row.front else "", "baseline" if row.baseline else ""]
    remarks += row.flags
    if row.status == "ok":
        remarks.append(report.obstacle(row))
    else:
        remarks.append(f"{row.status}: {row.trial.get('error') or 'no reason was recorded'}")
    return "; ".join(remark for remark in remarks if remark)
