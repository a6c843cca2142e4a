"""What the terminal shows at the end of a study."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.report.numbers import significant
from harness.settings import OPTIONAL, RERANKS, shown_family

SHOWN = 10


def show(summary: dict[str, Any], folder: Path, failures: Sequence[str], *, as_json: bool) -> None:
    """Print the summary as JSON, or verdict, best trials, what failed and the report's path."""
    if as_json:
        json.dump(summary, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
        sys.stdout.write("\n")
        return
    told = [*failures, ""] if failures else []
    lines = [summary["verdict"], "", *_table(summary), "", *told, str(folder / "report.html")]
    sys.stdout.write("\n".join(lines) + "\n")


def _table(summary: dict[str, Any]) -> list[str]:
    objective, stat = summary["objective"], summary["sla"]["stat"]
    pick = (summary["pick"] or {}).get("key")
    best = sorted(
        (t for t in summary["trials"] if t["status"] == "ok"),
        key=lambda t: (not t["feasible"], -(t["quality"].get(objective) or 0), t["key"]),
    )
    shown = best[:SHOWN]
    extra = [name for name in OPTIONAL if any(t["setting"].get(name) is not None for t in shown)]
    sizes = ("tables", "length", *extra)
    head = ("", "family", "backend", "kind", *sizes, objective, f"{stat} ms", "qps")
    rows = [_cells(t, extra, objective, stat, pick) for t in shown]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]


def _cells(
    trial: dict[str, Any], extra: Sequence[str], objective: str, stat: str, pick: str | None
) -> tuple[str, ...]:
    setting = trial["setting"]
    mark = "→" if trial["key"] == pick else "" if trial["feasible"] else "✗"
    return (
        mark,
        shown_family(setting),
        setting["backend"],
        ", ".join(
            [setting["kind"], *([setting["rerank"]] if setting["rerank"] in RERANKS else [])]
        ),
        _number(setting["num_tables"], "d"),
        _number(setting["hash_length"], "d"),
        *("–" if (v := setting.get(name)) is None else str(v) for name in extra),
        _number(trial["quality"].get(objective), ".3f"),
        significant((trial["latency_ms"] or {}).get(stat)),
        _number(trial["qps"], ",.0f"),
    )


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
