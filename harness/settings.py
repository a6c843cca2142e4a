"""A setting of the sweep, and the name of its family for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from indexers.types import HashParams, Unit, Weighting

PLAIN = HashParams(bits=0, seed=0)
"""How texts are hashed unless told otherwise; bits and seed are without meaning."""
USUAL_BITS = 128
"""Width of codes of vectors that needs no mention in names."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of the sweep.

    Attributes:
        family: None for `bm25`.
        backend: name of the backend.
        kind: `lsh`, `flat`, `multihash`, `hnsw`, `tokens` or `bm25`.
        num_tables: None where the kind has none, unless the code depends on it (lshash).
        hash_length: None where the kind has none.
        bits: width of the re-ranking code; None where there is none.
        rerank: `code`, `signature`, or a similarity; None for `bm25`.
        shingle_size, unit, weighting: of the text's features; None where vectors are hashed.
        window: of Winnowing; else None.
        m, ef_construction: what an `hnsw` graph is built with; else None.
        ef_search: candidates that its search keeps; else None.
    """

    family: str | None
    backend: str
    kind: str
    num_tables: int | None = None
    hash_length: int | None = None
    bits: int | None = None
    rerank: str | None = None
    shingle_size: int | None = None
    unit: Unit | None = None
    weighting: Weighting | None = None
    window: int | None = None
    m: int | None = None
    ef_construction: int | None = None
    ef_search: int | None = None


def family_name(setting: Setting) -> str:
    """The family for people, with what of its hashing is not plain, its sizes apart."""
    from indexers.registry import family_names

    if setting.family not in family_names():  # none, or one of another version
        return setting.family or "BM25"
    return named(
        setting.family,
        setting.bits,
        None,
        setting.shingle_size,
        setting.unit,
        setting.weighting,
        setting.window,
    )


def shown_family(setting: Mapping[str, Any]) -> str:
    """`family_name` of a setting as `summary.json` holds it."""
    return family_name(Setting(**setting))


def named(
    family: str,
    bits: int | None,
    num_tables: int | None,
    shingle_size: int | None,
    unit: Unit | None,
    weighting: Weighting | None,
    window: int | None,
) -> str:
    """A family with what is not plain of how it hashes; None where that does not depend on it."""
    told = []
    if bits is not None and bits != _usual_bits(family):
        told.append(f"{bits} bits")
    if num_tables:
        told.append(f"{num_tables} tables")
    plain = (PLAIN.unit, PLAIN.shingle_size)
    if shingle_size and (unit or PLAIN.unit, shingle_size) != plain:
        told.append(f"{unit or PLAIN.unit} {shingle_size}-grams")
    if weighting not in (PLAIN.weighting, None):
        told.append(weighting)
    if window not in (PLAIN.window, None):
        told.append(f"window {window}")
    return f"{family} ({', '.join(told)})" if told else family


def _usual_bits(name: str) -> int | None:
    from indexers.registry import family

    made = family(name)
    return made.sweep(None).bits if made.source == "text" else USUAL_BITS
