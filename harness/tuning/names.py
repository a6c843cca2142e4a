"""Settings and reference rows by the names that people read."""

from __future__ import annotations

import math

from harness.settings import OPTIONAL, RERANKS, Setting, family_name
from harness.tuning.hashing import Hashing


def name_of(setting: Setting) -> str:
    """A setting for people: `simhash on tables (lsh, num_tables 20, hash_length 12)`."""
    told = [] if setting.family is None else [setting.kind]
    for name in ("num_tables", "hash_length"):
        if (size := getattr(setting, name)) is not None:
            told.append(f"{name} {size}")
    told += optional_parts(setting)
    if setting.rerank in RERANKS:
        told.append(f"rerank {setting.rerank}")
    place = f"{family_name(setting)} on {setting.backend}"
    return f"{place} ({', '.join(told)})" if told else place


def label(setting: Setting) -> str:
    """A setting for people: `simhash tables lsh 20 × 12`, `… hnsw m 16 ef_search 64`."""
    parts = ["" if setting.family is None else family_name(setting), setting.backend, setting.kind]
    sizes = [str(n) for n in (setting.num_tables, setting.hash_length) if n is not None]
    parts += [" × ".join(sizes), *optional_parts(setting)]
    if setting.rerank in RERANKS:
        parts.append(f"rerank {setting.rerank}")
    return " ".join(part for part in parts if part)


def optional_parts(setting: Setting) -> list[str]:
    """What not every setting has, for people: `m 16`, `shards 2`."""
    values = ((name, getattr(setting, name)) for name in OPTIONAL)
    return [f"{name} {value}" for name, value in values if value is not None]


def milliseconds(value: float) -> str:
    """A latency for people: `0.618 ms`, `1,360 ms`, `no bound`."""
    if math.isinf(value):
        return "no bound"
    return f"{value:.3g} ms" if value < 999.5 else f"{value:,.0f} ms"


TEXT_REFERENCE = "BM25 (in process)"
"""Name of the reference row of text search where no engine is asked."""


_WHERE = " where "


def under(name: str, filter_: str | None) -> str:
    """Name of a reference row, or of a hashing, under a filter."""
    return name if filter_ is None else f"{name}{_WHERE}{filter_}"


def filter_under(name: str) -> str | None:
    """The filter in a name of `under`."""
    return name.partition(_WHERE)[2] or None


def exact_name(hashing: Hashing, by: str = "code") -> str:
    """Name of the reference row of exact search on a fingerprint.

    Args:
        hashing: of the fingerprint.
        by: `code`, `signature`, or the similarity that compares it.
    """
    return f"{hashing.name} {by}, exact"
