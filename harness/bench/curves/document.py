"""Hash curves as the JSON that is printed, as CSV and as a table for people."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np

from harness.measures import curves
from harness.measures.curves import DistanceCounts, Empty
from harness.measures.curves_by_id import found_by_id
from harness.measures.curves_counting import Coded, Relevance, count_distances
from harness.report.numbers import MISSING
from indexers.errors import SettingError
from indexers.types import F64, I64, Progress, no_progress

Ties: TypeAlias = Literal["expected", "id"]
Document: TypeAlias = dict[str, Any]
"""One family's curves:

{"bits": B, "queries": scored ones, "queries_without_relevants", "documents": with a code,
 "documents_without_code", "relevance": what counts as relevant, "empty": "zero" | "skip",
 "ties": "expected" | "id", "radius": [0 … B], "micro": {"precision", "recall", "retrieved"},
 "macro": {the same}, "ball_size": [mean documents in the ball], "empty_balls": [queries],
 "p_at_radius_2": macro, "AP": mean over queries, over the whole ranking, divided by R,
 "rank": {"ranks": [k], "micro": {"precision", "recall"}, "macro": {the same}}}

A list holds one value a radius or rank; null stands where a value is undefined.
"""

SHOWN_RADII = 20


def document(
    coded: Coded,
    relevance: Relevance,
    *,
    note: str,
    empty: Empty = "zero",
    ties: Ties = "expected",
    progress: Progress = no_progress,
) -> Document:
    """Measure one set of codes.

    Args:
        coded: codes of documents and queries.
        relevance: of the same.
        note: what counts as relevant, for the reader.
        empty: what an empty ball's precision is for macro.
        ties: how documents of one distance are ranked.
        progress: called with the number of queries done since the last call; they pass twice
            where ties are broken by id.

    Raises:
        SettingError: no query has a relevant document.
    """
    counts = count_distances(coded, relevance, progress)
    scored = counts.scored
    if not scored.any():
        raise SettingError(f"no query has a relevant document ({note}); the curves are undefined")
    held = int(np.count_nonzero(coded.status == 0))
    ranks = curves.ranks_to_show(max(1, held))
    if ties == "id":
        found, precision = found_by_id(coded, relevance, counts, ranks, progress)
    else:
        found = curves.expected_found(counts, ranks)
        precision = curves.expected_average_precision(counts)
    return {
        "bits": coded.bits,
        "queries": int(np.count_nonzero(scored)),
        "queries_without_relevants": int(np.count_nonzero(~scored)),
        "documents": held,
        "documents_without_code": len(coded.status) - held,
        "relevance": note,
        "empty": empty,
        "ties": ties,
        **_by_radius(counts, empty),
        "AP": _number(float(np.mean(precision[scored]))),
        "rank": _by_rank(found, counts.wanted, ranks),
    }


def _by_radius(counts: DistanceCounts, empty: Empty) -> Document:
    return {
        "radius": list(range(counts.bits + 1)),
        "micro": _radius_lists(curves.by_radius(counts, average="micro")),
        "macro": _radius_lists(curves.by_radius(counts, average="macro", empty=empty)),
        "ball_size": _numbers(curves.ball_sizes(counts)),
        "empty_balls": curves.empty_balls(counts).tolist(),
        "p_at_radius_2": _number(curves.precision_within(counts, 2, empty=empty)),
    }


def _radius_lists(curve: curves.RadiusCurve) -> dict[str, list[float | None]]:
    names = ("precision", "recall", "retrieved")
    return {name: _numbers(getattr(curve, name)) for name in names}


def _by_rank(found: F64, wanted: I64, ranks: I64) -> Document:
    both = {
        average: curves.by_rank(found, wanted, ranks, average=average)
        for average in ("micro", "macro")
    }
    lists = {
        average: {"precision": _numbers(curve.precision), "recall": _numbers(curve.recall)}
        for average, curve in both.items()
    }
    return {"ranks": ranks.tolist(), **lists}


def _numbers(values: F64) -> list[float | None]:
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


RADIUS_COLUMNS = (
    "family",
    "radius",
    "micro_precision",
    "micro_recall",
    "micro_retrieved",
    "macro_precision",
    "macro_recall",
    "macro_retrieved",
    "ball_size",
    "empty_balls",
)
RANK_COLUMNS = ("family", "rank", "micro_precision", "micro_recall", "macro_recall")


def radius_csv(documents: Mapping[str, Document]) -> str:
    """All curves by radius, one row a family and radius; empty where undefined."""
    return _csv(
        RADIUS_COLUMNS, (row for name in documents for row in _radii(name, documents[name]))
    )


def _radii(name: str, curve: Document) -> Iterable[tuple[Any, ...]]:
    columns = [
        curve[average][part]
        for average in ("micro", "macro")
        for part in ("precision", "recall", "retrieved")
    ]
    columns += [curve["ball_size"], curve["empty_balls"]]
    return ((name, *row) for row in zip(curve["radius"], *columns, strict=True))


def rank_csv(documents: Mapping[str, Document]) -> str:
    """All curves by rank, one row a family and rank."""

    def rows(name: str, rank: Document) -> Iterable[tuple[Any, ...]]:
        micro, macro = rank["micro"], rank["macro"]
        columns = (micro["precision"], micro["recall"], macro["recall"])
        return ((name, *row) for row in zip(rank["ranks"], *columns, strict=True))

    return _csv(
        RANK_COLUMNS, (row for name in documents for row in rows(name, documents[name]["rank"]))
    )


def _csv(header: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def table(name: str, curve: Document) -> str:
    """One family's curves by radius for people, some of the radii where there are many."""
    left = curve["queries_without_relevants"]
    without = f", {left:,} without relevants left out" if left else ""
    lines = [
        f"{name + ': ' if name else ''}{curve['bits']} bits, {curve['queries']:,} queries"
        f"{without}, {curve['documents']:,} documents; relevant: {curve['relevance']}",
        f"AP {_cell(curve['AP'])} (ties {_TIES[curve['ties']]}), "
        f"P within radius 2 {_cell(curve['p_at_radius_2'])} (empty balls {_EMPTY[curve['empty']]})",
        "",
        "          micro                         macro",
        "radius    precision  recall  retrieved  precision  recall  retrieved       ball  empty",
    ]
    shown = shown_radii(curve)
    lines += [_line(curve, radius) for radius in shown]
    if len(shown) < curve["bits"] + 1:
        lines.append(f"{len(shown)} of {curve['bits'] + 1} radii; --json and --out give all")
    return "\n".join(lines)


_TIES = {"expected": "in expectation", "id": "by id"}
_EMPTY = {"zero": "count as 0", "skip": "left out"}


def _line(curve: Document, radius: int) -> str:
    cells = [
        _cell(curve[average][part][radius]).rjust(width)
        for average in ("micro", "macro")
        for part, width in (("precision", 11), ("recall", 8), ("retrieved", 11))
    ]
    ball = curve["ball_size"][radius]
    return f"{radius:6}  {''.join(cells)} {ball:10,.1f} {curve['empty_balls'][radius]:6,}"


def _cell(value: float | None) -> str:
    return MISSING if value is None else f"{value:.4f}"


def shown_radii(curve: Document) -> list[int]:
    """All radii where they are few, else the first five and some up to where recall ends."""
    bits = curve["bits"]
    if bits < SHOWN_RADII + 5:
        return list(range(bits + 1))
    recall = curve["micro"]["recall"]
    full = next(radius for radius in range(bits + 1) if recall[radius] >= recall[bits])
    spread = np.unique(np.rint(np.linspace(5, max(full, 6), SHOWN_RADII - 5)).astype(int))
    return [*range(5), *spread.tolist()]
