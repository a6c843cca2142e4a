"""Robustness for a terminal: a block a perturbation, a line a family, a column a strength."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.bench.scales import SCALES
from harness.report.numbers import MISSING, count, significant


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Mean similarity and mean rank of every cell, and what could not be compared."""
    corpus = found["corpus"]
    yield (
        f"{corpus['name']}: {count(found['sample'])} of {count(corpus['documents'])} documents "
        f"changed, seed {found['seed']}"
    )
    yield (
        "each cell: mean similarity to the original, then the original's mean rank in the corpus, "
        "of n texts"
    )
    if any(row["not_ok"] for row in found["rows"]):
        yield (
            "* -N: N of the n texts were left without a fingerprint, and the means are over the "
            "others alone; the MRR of --json and --out counts them as missed"
        )
    for perturbation in found["perturbations"]:
        yield ""
        yield f"{perturbation['name']} (share of {perturbation['share_of']})"
        yield from _block(found["rows"], perturbation)
    yield ""
    if any(row["bits_equal_mean"] is not None for row in found["rows"]):
        yield (
            "bits equal: hamming and manhattan of codes, here as the share of equal bits; "
            "unrelated codes have about half of them, sparse ones (flyhash) nearly all"
        )
    yield SCALES
    for line in found["left_out"]:
        yield f"left out: {line}"


def label(row: Mapping[str, Any]) -> str:
    """Family and similarity, and that codes are told by their equal bits."""
    name = f"{row['family']} {row['similarity']}"
    return name if row["bits_equal_mean"] is None else f"{name} (bits equal)"


def told(row: Mapping[str, Any]) -> float:
    """The similarity as it can be read beside others: of codes the share of equal bits."""
    equal = row["bits_equal_mean"]
    return float(row["similarity_mean"] if equal is None else equal)


def _block(rows: Sequence[Mapping[str, Any]], perturbation: Mapping[str, Any]) -> Iterator[str]:
    strengths = perturbation["strengths"]
    table = [["", "n", *(f"{strength:.0%}" for strength in strengths)]]
    named: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["perturbation"] == perturbation["name"]:
            named.setdefault(label(row), []).append(row)
    for name, line in named.items():
        marked = f"{name} *" if any(row["not_ok"] for row in line) else name
        table.append([marked, count(line[0]["n"]), *map(_cell, line)])
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for head, *rest in table:
        aligned = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join([head.ljust(widths[0]), *aligned]).rstrip()


def _cell(row: Mapping[str, Any]) -> str:
    missing = f" -{row['not_ok']}" if row["not_ok"] else ""
    if row["similarity_mean"] is None:
        return f"{MISSING}{missing}"
    return f"{told(row):.3f} {significant(row['rank_mean'])}{missing}"
