"""An engine's own vector search: graphs (`hnsw`), and every vector without a script (`flat`).

Codes stand in the field `c`, vectors in `v`, as the type that the index is of
(`IndexSpec.vector_type`); each engine maps and asks them in its own way (`Dialect.native`). A
graph gives as many candidates as its search keeps (`ef_search`), and the engine sorts them by
score, then id, before it cuts: ties with the last answer are then by id as far as the graph found
them. Without a graph the engine ranks every document.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from indexers import graph
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_queries import common
from indexers.errors import BackendError
from indexers.index_types import IndexSpec, SearchParams
from indexers.types import F32, Fingerprints

GRAPH, FLAT = "hnsw", "flat"
MOST_EF_CONSTRUCTION = 3200
"""Of a graph that Lucene builds, in either engine."""
INT8_SCALE = 127


def is_native(spec: IndexSpec) -> bool:
    """Whether it is the engine's own vector search that answers."""
    return spec.kind == GRAPH or (spec.kind == FLAT and spec.vector_type is not None)


def type_of(spec: IndexSpec) -> str:
    """As what vectors are held: as asked for, else bits of codes and floats of vectors."""
    return spec.vector_type or ("float" if spec.bits is None else "bit")


def field_of(spec: IndexSpec) -> str:
    """The field that is searched."""
    return "v" if spec.bits is None else "c"


def as_bytes(vectors: F32) -> Any:
    """Vectors of unit length in whole numbers: int8 (n, D), each value times 127, rounded."""
    return np.rint(vectors * np.float32(INT8_SCALE)).astype(np.int8)


def problem(spec: IndexSpec, params: SearchParams, dialect: Dialect) -> str | None:
    """Why an engine has no such vectors, or None.

    Args:
        spec: of a kind and family that go together.
        params: how it would be searched.
        dialect: of the engine.
    """
    if spec.kind not in (GRAPH, FLAT):
        if spec.vector_type or spec.knn_engine:
            return f"vector types and engines of graphs are for {GRAPH} and {FLAT}: {spec.kind}"
        return None
    if spec.knn_engine and (spec.kind != GRAPH or spec.knn_engine not in dialect.native.engines):
        held = ", ".join(dialect.native.engines) or "no choice of it"
        return f"knn_engine {spec.knn_engine!r} is not for {spec.kind} of {spec.backend}: {held}"
    if not is_native(spec):
        return None
    return (
        _type_problem(spec, dialect)
        or _size_problem(spec, params)
        or dialect.native.problem(spec, type_of(spec))
    )


def _type_problem(spec: IndexSpec, dialect: Dialect) -> str | None:
    name, coded = type_of(spec), spec.bits is not None
    if (name == "bit") != coded:
        has = "a code, which is held as bit" if coded else "vectors, which are not held as bit"
        return f"vector_type {name!r} is not for {spec.family}: it has {has}"
    held = dialect.native.types[spec.kind]
    if name in held:
        return None
    if not held:
        return (
            f"{spec.backend} searches its own vectors by graphs alone: {spec.kind} is by a script "
            f"there, choose it without vector_type, or {GRAPH}"
        )
    return f"{spec.backend} holds no vectors as {name!r}: choose from {', '.join(held)}"


def _size_problem(spec: IndexSpec, params: SearchParams) -> str | None:
    if spec.kind != GRAPH:
        return None
    if (spec.ef_construction or 0) > MOST_EF_CONSTRUCTION:
        return (
            f"ef_construction {spec.ef_construction} is out of range on engines: "
            f"1 to {MOST_EF_CONSTRUCTION}"
        )
    return graph.problem(spec, params)


def properties(spec: IndexSpec, fingerprints: Fingerprints, dialect: Dialect) -> dict[str, Any]:
    """Mapping of the field.

    Raises:
        BackendError: the engine cannot hold vectors of this dimension so.
    """
    width = spec.bits
    if width is None:
        assert fingerprints.vectors is not None
        width = int(fingerprints.vectors.shape[1])
        held = replace(spec, dimension=width)
        if told := dialect.native.problem(held, type_of(held)):
            raise BackendError(told)
    return {field_of(spec): dialect.native.mapping(spec, type_of(spec), width)}


def with_settings(body: dict[str, Any], spec: IndexSpec, dialect: Dialect) -> dict[str, Any]:
    """The body that makes an index, with what its vector search needs of the index's settings."""
    if not is_native(spec):
        return body
    settings = body["settings"]
    index = settings["index"] | dialect.native.settings(spec)
    return body | {"settings": settings | {"index": index}}


def tails(spec: IndexSpec, fingerprints: Fingerprints, dialect: Dialect) -> list[bytes]:
    """The rest of each document's line, after the id."""
    start = b',"%b":' % field_of(spec).encode()
    return [start + value + b"}\n" for value in _values(spec, fingerprints, dialect)]


def bodies(
    spec: IndexSpec,
    params: SearchParams,
    fingerprints: Fingerprints,
    dialect: Dialect,
) -> list[bytes]:
    """One body a query; all of them are OK."""
    ef_search = graph.ef_search_of(params) if spec.kind == GRAPH else params.k
    head, tail = dialect.native.query(spec, type_of(spec), ef_search)
    start = common(params.k) + b',"query":' + head
    return [start + value + tail + b"}" for value in _values(spec, fingerprints, dialect)]


def _values(spec: IndexSpec, fingerprints: Fingerprints, dialect: Dialect) -> list[bytes]:
    if spec.bits is not None:
        return dialect.native.values(fingerprints.codes)
    assert fingerprints.vectors is not None
    if type_of(spec) == "byte":
        return dialect.native.values(as_bytes(fingerprints.vectors))
    return dialect.native.values(fingerprints.vectors)
