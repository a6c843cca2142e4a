"""Robustness for a terminal: a block a perturbation, a line a family, a column a strength."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.report.numbers import MISSING, count, significant


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Mean similarity and mean rank of every cell, and what could not be compared."""
    corpus = found["corpus"]
    yield (
        f"{corpus['name']}: {count(found['sample'])} of {count(corpus['documents'])} documents "
        f"changed, seed {found['seed']}"
    )
    yield (
        "each cell: mean similarity to the original, then the original's mean rank in the corpus; "
        "-N: N texts without a fingerprint"
    )
    for perturbation in found["perturbations"]:
        yield ""
        yield f"{perturbation['name']} (share of {perturbation['share_of']})"
        yield from _block(found["rows"], perturbation)
    for line in found["left_out"]:
        yield f"left out: {line}"


def _block(rows: Sequence[Mapping[str, Any]], perturbation: Mapping[str, Any]) -> Iterator[str]:
    strengths = perturbation["strengths"]
    table = [["", *(f"{strength:.0%}" for strength in strengths)]]
    cells: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["perturbation"] == perturbation["name"]:
            cells.setdefault((row["family"], row["similarity"]), []).append(_cell(row))
    table += [[" ".join(name), *line] for name, line in cells.items()]
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for head, *rest in table:
        aligned = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join([head.ljust(widths[0]), *aligned]).rstrip()


def _cell(row: Mapping[str, Any]) -> str:
    missing = f" -{row['not_ok']}" if row["not_ok"] else ""
    if row["similarity_mean"] is None:
        return f"{MISSING}{missing}"
    return f"{row['similarity_mean']:.3f} {significant(row['rank_mean'])}{missing}"
