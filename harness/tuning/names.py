"""Settings and reference rows by the names that people read."""

from __future__ import annotations

import math

from harness.settings import Setting, family_name
from harness.tuning.hashing import Hashing
from indexers.graph import RANGES


def name_of(setting: Setting) -> str:
    """A setting for people: `simhash on tables (lsh, num_tables 20, hash_length 12)`."""
    if setting.family is None:
        return f"BM25 on {setting.backend}"
    sizes = "" if setting.num_tables is None else f", num_tables {setting.num_tables}"
    if setting.hash_length is not None:
        sizes += f", hash_length {setting.hash_length}"
    sizes += "".join(f", {size}" for size in graph_sizes(setting))
    rerank = ", rerank signature" if setting.rerank == "signature" else ""
    return f"{family_name(setting)} on {setting.backend} ({setting.kind}{sizes}{rerank})"


def label(setting: Setting) -> str:
    """A setting for people: `simhash tables lsh 20 × 12`, `… hnsw m 16 ef_search 64`."""
    parts = ["" if setting.family is None else family_name(setting), setting.backend, setting.kind]
    sizes = [str(n) for n in (setting.num_tables, setting.hash_length) if n is not None]
    parts += [" × ".join(sizes), *graph_sizes(setting)]
    if setting.rerank == "signature":
        parts.append("by signature")
    return " ".join(part for part in parts if part)


def graph_sizes(setting: Setting) -> list[str]:
    """Parameters of a graph for people; empty where the kind has none."""
    values = ((name, getattr(setting, name)) for name in RANGES)
    return [f"{name} {value}" for name, value in values if value is not None]


def milliseconds(value: float) -> str:
    """A latency for people: `0.618 ms`, `1,360 ms`, `no bound`."""
    if math.isinf(value):
        return "no bound"
    return f"{value:.3g} ms" if value < 999.5 else f"{value:,.0f} ms"


TEXT_REFERENCE = "BM25 (in process)"
"""Name of the reference row of text search where no engine is asked."""


def exact_name(hashing: Hashing, by: str = "code") -> str:
    """Name of the reference row of exact search on a fingerprint.

    Args:
        hashing: of the fingerprint.
        by: `code`, `signature`, or the similarity that compares it.
    """
    return f"{hashing.name} {by}, exact"
