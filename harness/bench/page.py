"""`report.html` of a comparison: one file that opens without network, all data escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import harness.report
from harness.bench import drawing
from harness.bench.hashing import SEEDS
from harness.bench.panels import Panel, panels
from harness.bench.published import LSHASH_MODEL, LSHASH_TABLES
from harness.bench.rows import ALL, SELECTED, Row, front, ranked, total_s
from harness.bench.scales import SCALES
from harness.measures.pooled import AVERAGE_PRECISION, NDCG
from harness.report import numbers, style

TEMPLATES = (
    Path(__file__).parent / "templates",
    Path(harness.report.__file__).parent / "templates",
)
SHOWN = (NDCG, "P@20")
"""Measures at the end of the ranking; `rows.csv` has the others."""


def render(found: Mapping[str, Any]) -> str:
    """The page.

    Args:
        found: the comparison as its JSON object.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["hashed"] = hashed
    return environment.get_template("bench.html.j2").render(**_content(found))


def hashed(params: Mapping[str, Any], form: str = "bits") -> str:
    """Parameters for people: `256 bits, char 3-grams, idf`; a signature has rows, not bits."""
    parts = []
    if "bits" in params:
        parts.append(f"{params['bits']} {'rows' if form == 'signature' else 'bits'}")
    if "num_tables" in params:
        parts.append(f"{params['num_tables']} tables")
    if "shingle_size" in params:
        parts.append(f"{params.get('unit', 'char')} {params['shingle_size']}-grams")
    if params.get("weighting") == "idf":
        parts.append("idf")
    if "window" in params:
        parts.append(f"window {params['window']}")
    return ", ".join(parts) or numbers.MISSING


def _content(found: Mapping[str, Any]) -> dict[str, Any]:
    rows: list[Row] = found["rows"]
    best, constant = ranked(rows)
    return {
        "found": found,
        "corpus": found["corpus"],
        "numbers": numbers,
        "measures": SHOWN,
        "best": best,
        "constant": constant,
        "total_s": total_s,
        "colours": style.colours(row["family"] for row in rows),
        "intervals": drawing.intervals(best) if best else None,
        "scatter": drawing.time_quality(best, front(rows)) if best else None,
        "front": front(rows),
        "facets": list(found["corpus"]["facets"]),
        "by_facet": _by_facet(rows, [*best, *constant]),
        "splits": _splits(rows, best),
        "panels": [_panel(panel, found["grid"]) for panel in panels(found["grid"])],
        "published": any(row["published"] for row in [*best, *constant]),
        "told": [row["published"] for row in rows if row["published"]],
        "encoded": any(row["encode_s"] is not None for row in rows),
        "mirrored": _mirrored(rows),
        "scales": SCALES.removeprefix("scales: "),
        "seeds": SEEDS,
        "told_on_test": any(row["published"] and row["split"] == "test" for row in rows),
        "lshash_model": LSHASH_MODEL,
        "lshash_tables": LSHASH_TABLES if found["corpus"]["benchmark"] == "relish" else {},
    }


def _mirrored(rows: Sequence[Row]) -> bool:
    """Whether dev halves and test halves are the same queries, so that their means are equal."""
    halves: dict[str, list[float]] = {"dev": [], "test": []}
    for row in rows:
        if row["facet"] == ALL and row["split"] in halves:
            halves[row["split"]].append(row[AVERAGE_PRECISION])
    return halves["dev"] == halves["test"]


def _by_facet(rows: Sequence[Row], ordered: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows of split `all`, one line for each family and similarity."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if row["split"] == ALL:
            found.setdefault((row["family"], row["similarity"]), {})[row["facet"]] = row
    return [{"row": row, "facets": found[row["family"], row["similarity"]]} for row in ordered]


def _splits(rows: Sequence[Row], ordered: Sequence[Row]) -> list[dict[str, Any]]:
    """MAP by split of all facets, with the parameters that the dev halves chose."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if row["facet"] == ALL:
            found.setdefault((row["family"], row["similarity"]), {})[row["split"]] = row
    lines = [{"row": row, "splits": found[row["family"], row["similarity"]]} for row in ordered]
    lines = [line for line in lines if SELECTED in line["splits"]]
    return sorted(lines, key=lambda line: -line["splits"][SELECTED][AVERAGE_PRECISION])


def _panel(panel: Panel, grid: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    values = [cell[AVERAGE_PRECISION] for cell in grid]
    limits = min(values), max(values)
    shares = {
        place: style.heat_share(cell[AVERAGE_PRECISION], limits)
        for place, cell in panel.cells.items()
    }
    return {
        "panel": panel,
        "fills": {place: style.heat_colour(share) for place, share in shares.items()},
        "dark": {place: share > 0.55 for place, share in shares.items()},
    }
