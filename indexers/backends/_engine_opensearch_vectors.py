"""OpenSearch's own vector search: `knn_vector` of the k-NN plugin, always a graph.

| type | held as | score |
|---|---|---|
| `bit` | `data_type: binary`, `hamming` | 1 / (1 + Hamming) |
| `float` | float32, `innerproduct` of unit vectors | 1 + cosine, or 1 / (1 − cosine) below 0 |
| `byte` | each value times 127, rounded; `cosinesimil` | (1 + cosine) / 2 of the rounded vectors |

Every mapping names its library: left to itself the plugin takes one that needs its native library,
and a node without that dies at the first refresh. A node tells of the library for sure only once
it has loaded it, at its first use since the node started.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
from numpy.typing import NDArray

from indexers import graph
from indexers.backends._engine_admin import Call
from indexers.backends._engine_dialect import NativeVectors
from indexers.errors import BackendError
from indexers.http_request import HttpRequest
from indexers.index_types import IndexSpec

LUCENE, FAISS = "lucene", "faiss"
TYPES = ("bit", "float", "byte")
DATA_TYPES = {"bit": "binary", "float": "float", "byte": "byte"}
SPACES = {"bit": "hamming", "float": "innerproduct", "byte": "cosinesimil"}
SINCE = {
    (LUCENE, "bit"): (2, 19),
    (LUCENE, "float"): (2, 16),
    (LUCENE, "byte"): (2, 16),
    (FAISS, "bit"): (2, 16),
    (FAISS, "float"): (2, 16),
    (FAISS, "byte"): (2, 19),
}
"""The version that a library needs for a type, and for a width of search in the query."""
MOST_DIMENSIONS = 16_000
ROLES = HttpRequest("GET", ("_nodes", "plugins"), {"filter_path": "nodes.*.name,nodes.*.roles"})
LIBRARY = HttpRequest("GET", ("_plugins", "_knn", "stats", "faiss_initialized"))


def engine_of(spec: IndexSpec) -> str:
    """The library that builds and searches the graph."""
    return spec.knn_engine or LUCENE


def settings(spec: IndexSpec) -> dict[str, Any]:
    """Of the index: that it has graphs."""
    del spec
    return {"knn": True}


def mapping(spec: IndexSpec, held: str, width: int) -> dict[str, Any]:
    """Mapping of the field."""
    sizes = {"m": graph.m_of(spec), "ef_construction": graph.ef_construction_of(spec)}
    return {
        "type": "knn_vector",
        "dimension": width,
        "data_type": DATA_TYPES[held],
        "method": {
            "name": "hnsw",
            "engine": engine_of(spec),
            "space_type": SPACES[held],
            "parameters": sizes,
        },
    }


def values(rows: NDArray[Any]) -> list[bytes]:
    """Codes as signed bytes, vectors as lists."""
    signed = rows.view("int8") if rows.dtype == "uint8" else rows
    return [orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY) for row in signed]


def query(spec: IndexSpec, held: str, ef_search: int) -> tuple[bytes, bytes]:
    """A query, what stands before its vector and what after it."""
    del spec
    field = b"c" if held == "bit" else b"v"
    # both: the one says how many are given, the other how many are kept
    sizes = b',"k":%d,"method_parameters":{"ef_search":%d}' % (ef_search, ef_search)
    return b'{"knn":{"%b":{"vector":' % field, sizes + b"}}}"


def similarity(spec: IndexSpec, held: str) -> Callable[[float], float]:
    """What turns a score into bits − Hamming, or a cosine."""
    if held == "bit":
        assert spec.bits is not None
        bits = spec.bits
        return lambda score: float(bits - round(1 / score - 1))
    if held == "byte":
        return lambda score: 2 * score - 1
    return cosine


def cosine(score: float) -> float:
    """The inner product that gave a score in the space `innerproduct`."""
    return score - 1 if score >= 1 else 1 - 1 / score


def problem(spec: IndexSpec, held: str) -> str | None:
    """Why vectors of this dimension cannot be held so, or None."""
    if spec.dimension is None or spec.dimension <= MOST_DIMENSIONS:
        return None
    return (
        f"opensearch holds no vectors of {spec.dimension} dimensions as {held!r}: "
        f"at most {MOST_DIMENSIONS}"
    )


NATIVE = NativeVectors(
    types={"hnsw": TYPES, "flat": ()},
    engines=(LUCENE, FAISS),
    settings=settings,
    mapping=mapping,
    values=values,
    query=query,
    similarity=similarity,
    problem=problem,
)


def check_version(spec: IndexSpec, held: str, version: tuple[int, ...], server: str) -> None:
    """Refuse a server that is too old for such a graph.

    Raises:
        BackendError: it is.
    """
    needed = SINCE[engine_of(spec), held]
    if version < needed:
        raise BackendError(
            f"{server} is OpenSearch {'.'.join(map(str, version))}: graphs of vector type {held!r} "
            f"by {engine_of(spec)} need {'.'.join(map(str, needed))} or later"
        )


def check_library(call: Call, server: str) -> None:
    """Refuse graphs by faiss where a node does not tell that it has the native library.

    There is no other sure sign: a node without the library looks the same as one that has not
    used it yet, and would die of such an index.

    Raises:
        BackendError: a node with data does not tell so.
    """
    nodes = call(ROLES, what="reading the server's nodes").get("nodes", {})
    told = call(LIBRARY, what="looking for the native library").get("nodes", {})
    for name, node in nodes.items():
        if not any(role.startswith("data") for role in node.get("roles", ["data"])):
            continue
        if told.get(name, {}).get("faiss_initialized") is not True:
            raise BackendError(
                f"node {node.get('name')!r} of {server} shows no native library of the k-NN "
                "plugin loaded, and without it an index by faiss kills the node: choose "
                "--knn-engine lucene, or, where it is installed, index one vector with engine "
                "faiss on each node first"
            )
