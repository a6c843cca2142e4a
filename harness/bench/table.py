"""The comparison for a terminal."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from harness.bench.panels import Panel, panels
from harness.bench.rows import ALL, SELECTED, Row, ranked
from harness.bench.scales import SCALES
from harness.measures.pooled import AVERAGE_PRECISION, NDCG_20, NDCG_JK2
from harness.report.numbers import MISSING, count, quality, significant

_HEADS = ("", "family", "similarity", "MAP", "95 %", NDCG_20, NDCG_JK2, "P@20", "tied")
_TIMES = ("encode s", "fingerprint s", "compare s")


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The table by falling MAP over all queries, then constant rows, the front and classes."""
    rows = found["rows"]
    best, constant = ranked(rows)
    selected = {
        (row["family"], row["similarity"]): row
        for row in rows
        if row["facet"] == ALL and row["split"] == SELECTED
    }
    yield from _head(found)
    yield ""
    table = [[*_HEADS, *_TIMES, *(["selected"] if selected else []), "published"]]
    for rank, row in enumerate([*best, *constant], 1):
        place = str(rank) if rank <= len(best) else "constant"
        table.append(_cells(place, row, selected))
    yield from _aligned(_filled(table), left=(1, 2))
    yield f"random order: MAP {quality(found['random_order'][AVERAGE_PRECISION])}"
    yield SCALES
    yield ""
    yield from _told(rows)
    yield from _foot(found, constant)


def _head(found: Mapping[str, Any]) -> Iterator[str]:
    corpus = found["corpus"]
    facets = ", ".join(f"{name} {n}" for name, n in corpus["facets"].items())
    pairs = f"{count(corpus['pairs'])} judged pairs"
    yield (
        f"{corpus['name']}: {count(corpus['documents'])} documents, "
        f"{count(corpus['queries'])} queries{f' ({facets})' if facets else ''}, {pairs}; "
        f"protocol {found['protocol']}, relevant from {found['relevant_from']:g}"
    )
    for reason, number in corpus["skipped"].items():
        yield f"skipped: {count(number)} × {reason}"
    if corpus["without_relevant"]:
        yield f"{count(corpus['without_relevant'])} queries have nothing relevant and score 0"
    if corpus["all_relevant"] and found["protocol"] == "pool":
        yield (
            f"{count(corpus['all_relevant'])} queries have relevant candidates alone: "
            "every order of them is perfect"
        )


def _filled(table: list[list[str]]) -> list[list[str]]:
    """The table without columns that say nothing of any row."""
    columns = [column for column in zip(*table, strict=True) if {*column[1:]} - {"", MISSING}]
    return [list(line) for line in zip(*columns, strict=True)]


def _told(rows: Sequence[Row]) -> Iterator[str]:
    """Published figures of another split beside ours of that split, and remarks on all."""
    told = [row for row in rows if row["published"]]
    apart = [row for row in told if row["split"] != ALL]
    if apart:
        yield f"published figures are of the split {apart[0]['split']}:"
        table = [["family", "similarity", "MAP", "published"]]
        for row in sorted(apart, key=lambda row: -row[AVERAGE_PRECISION]):
            figures = (quality(row[AVERAGE_PRECISION]), _published(row["published"]))
            table.append([row["family"], row["similarity"], *figures])
        yield from _aligned(table, left=(0, 1))
        yield ""
    for one in (row["published"] for row in told if row["published"]["remark"]):
        yield f"published {quality(one[AVERAGE_PRECISION])} ({one['label']}): {one['remark']}"


def _cells(place: str, row: Row, selected: Mapping[tuple[str, str], Row]) -> list[str]:
    low, high = row["MAP_low"], row["MAP_high"]
    between = MISSING if low is None else f"{low:.3f}–{high:.3f}"
    cells = [place, row["family"], row["similarity"], quality(row[AVERAGE_PRECISION]), between]
    cells += [quality(row[name]) for name in (NDCG_20, NDCG_JK2, "P@20")]
    cells.append(f"{row['tie_share']:.1%}")
    cells += [significant(row[name]) for name in ("encode_s", "fingerprint_s", "similarity_s")]
    if selected:
        chosen = selected.get((row["family"], row["similarity"]))
        cells.append(quality(None if chosen is None else chosen[AVERAGE_PRECISION]))
    cells.append("" if row["published"] is None else _published(row["published"]))
    return cells


def _published(told: Mapping[str, Any]) -> str:
    figure = quality(told[AVERAGE_PRECISION])
    return figure if told["name"] is None else f"{figure} ({told['name']})"


def _aligned(table: list[list[str]], left: Container[int] = ()) -> Iterator[str]:
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        cells = [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _foot(found: Mapping[str, Any], constant: list[Row]) -> Iterator[str]:
    if found["vectors"] == "given":
        yield "vectors were given: making them is in no time here"
    elif found["vectors"] and not any(row["encode_s"] for row in found["rows"]):
        yield "vectors are from the cache: making them was not timed"
    if constant:
        yield "constant: one score for every candidate; its MAP is that of chance, no rank."
    for name, sides in found["unusable"].items():
        told = "; ".join(
            f"{side} {', '.join(f'{n} {status}' for status, n in counts.items())}"
            for side, counts in sides.items()
        )
        yield f"unusable, ranked last: {name}: {told}"
    for members in found["equivalent"] or []:
        names = ", ".join(f"{one['family']} {one['similarity']}" for one in members)
        yield f"rank alike: {names}"
    if found["front"]:
        steps = ", ".join(
            f"{place['family']} {place['similarity']} {place[AVERAGE_PRECISION]:.4f} "
            f"in {significant(place['total_s'])} s"
            for place in found["front"]
        )
        yield f"front (MAP against time, making vectors left out): {steps}"
    for panel in panels(found["grid"]):
        yield ""
        yield from _panel(panel)


def _panel(panel: Panel) -> Iterator[str]:
    yield f"{panel.family}: MAP and share of {panel.reference}"
    table = [[f"{panel.row_name} \\ {panel.column_name}", *map(str, panel.columns)]]
    for row in panel.rows:
        cells = (panel.cells.get((row, column)) for column in panel.columns)
        named = MISSING if row is None else str(row)
        table.append([named, *(_cell(cell) for cell in cells)])
    yield from _aligned(table)


def _cell(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return ""
    share = "" if cell["share"] is None else f" {cell['share']:4.0%}"
    return f"{cell[AVERAGE_PRECISION]:.3f}{share}"
