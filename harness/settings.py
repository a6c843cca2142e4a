"""A setting of the sweep, and the name of its family for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from indexers.index_types import Layout
from indexers.reranks import COLLISION_RERANKS
from indexers.types import HashParams, Unit, Weighting

PLAIN = HashParams(bits=0, seed=0)
"""How texts are hashed unless told otherwise; bits and seed are without meaning."""
USUAL_BITS = 128
"""Width of codes of vectors that needs no mention in names."""


_ALWAYS = (
    "family",
    "backend",
    "kind",
    "num_tables",
    "hash_length",
    "bits",
    "rerank",
    "shingle_size",
    "unit",
    "weighting",
    "window",
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of the sweep.

    Attributes:
        family: None for kinds of texts.
        backend: name of the backend.
        kind: `lsh`, `flat`, `multihash`, `hnsw`, `tokens`, `bm25`, `more_like_this`, `min_hash`
            or `attached`.
        num_tables: None where the kind has none, unless the code depends on it (lshash).
        hash_length: None where the kind has none.
        bits: width of the re-ranking code; None where there is none.
        rerank: `code`, `signature`, `window`, `none`, or a similarity; None for texts.
        shingle_size, unit, weighting: of the text's features; None where vectors are hashed.
        window: of Winnowing; else None.
        m, ef_construction: what an `hnsw` graph is built with; else None.
        ef_search: candidates that its search keeps; else None.
        vector_type, knn_engine: as `IndexSpec`; None where there is no choice.
        window_size: candidates that rerank `window` looks at; else None.
        shards, replicas, codec, refresh_interval, translog, segments: as `Layout`; None for its
            usual values.
        filter: such as `price=10..50`; None for all documents.
        fetch: `source` where answers bring their documents along; else None.
        index: name of an `attached` one; else None.
        body: by which it is searched, a file's name and digest; None for its manifest's way.
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
    vector_type: str | None = None
    knn_engine: str | None = None
    window_size: int | None = None
    shards: int | None = None
    replicas: int | None = None
    codec: str | None = None
    refresh_interval: str | None = None
    translog: str | None = None
    segments: int | None = None
    filter: str | None = None
    fetch: str | None = None
    index: str | None = None
    body: str | None = None


OPTIONAL = tuple(f.name for f in fields(Setting) if f.name not in _ALWAYS)
"""Fields that say nothing where they are None: keys and names leave them out."""
RERANKS = ("signature", *COLLISION_RERANKS)
"""Re-rankings that names tell; the others are a family's usual ones."""
ATTACHED = "attached"
"""Kind of an index that is not ours."""
TEXT_KINDS = {
    "bm25": "BM25",
    "more_like_this": "more_like_this",
    "min_hash": "min_hash filter",
    ATTACHED: "attached index",
}
"""Kinds without a family of ours, with their names for people."""


def layout_of(setting: Setting) -> Layout:
    """How an engine keeps the index of a setting."""
    given = {f.name: getattr(setting, f.name) for f in fields(Layout)}
    return Layout(**{name: value for name, value in given.items() if value is not None})


def with_layout(setting: Setting, layout: Layout) -> Setting:
    """The setting on an index kept so; what is usual is not said."""
    usual, told = asdict(Layout()), asdict(layout)
    said: dict[str, Any] = {n: None if v == usual[n] else v for n, v in told.items()}
    return replace(setting, **said)


def family_name(setting: Setting) -> str:
    """The family for people, with what of its hashing is not plain, its sizes apart."""
    from indexers.registry import family_names

    if setting.family not in family_names():  # none, or one of another version
        return setting.family or TEXT_KINDS.get(setting.kind, setting.kind)
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
