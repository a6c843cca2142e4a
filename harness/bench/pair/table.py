"""Texts side by side, for people."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from harness.bench.scales import SCALES

SHOWN_CHARACTERS = 64


def table(found: Mapping[str, Any]) -> str:
    """The result of `compare` for people."""
    names = [text["name"] for text in found["texts"]]
    pairs = [f"{a}-{b}" for a, b in combinations(names, 2)]
    lengths = ", ".join(f"{text['name']} {text['characters']:,}" for text in found["texts"])
    lines = [f"characters: {lengths}"]
    for row in found["families"]:
        lines += ["", row["family"]]
        lines += [
            f"  {name}  {_fingerprint_line(row['status'][name], row['fingerprint'][name])}"
            for name in names
        ]
        lines.append(f"  {'similarity':<18}{'form':<11}" + "".join(f"{p:>11}" for p in pairs))
        lines += [
            f"  {one['similarity']:<18}{one['form']:<11}"
            + "".join(f"{_cell(row['status'], pair, one[pair]):>11}" for pair in pairs)
            for one in row["similarities"]
        ]
        lines += [f"  {one['reason']}" for one in row["similarities"] if one["reason"]]
    lines += ["", SCALES]
    if found["left_out"]:
        lines += ["", *(f"left out: {line}" for line in found["left_out"])]
    return "\n".join(lines)


def _cell(status: Mapping[str, str], pair: str, value: float | None) -> str:
    if value is None:
        return next((status[name] for name in pair.split("-") if status[name] != "ok"), "–")
    return f"{value:.4f}"


def _fingerprint_line(status: str, shown: Mapping[str, Any]) -> str:
    if status != "ok":
        return status
    parts = []
    if "code" in shown:
        parts.append(_cut(shown["code"]))
    if "hashes" in shown:
        hashes = shown["hashes"]
        first = " ".join(hashes["first"][:3])
        parts.append(f"{hashes['count']} hashes, {hashes['distinct']} distinct: {first} …")
    if "string" in shown:
        parts.append(_cut(shown["string"]))
    if "vector_head" in shown:
        parts.append(" ".join(f"{x:.3f}" for x in shown["vector_head"][:4]) + " …")
    return "; ".join(parts)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
