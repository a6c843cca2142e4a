"""Codes and vectors as Elasticsearch stores and scores them.

A code is a `dense_vector` of bits, read by the engine's own `hamming()`: at 2,048 bits twice as
fast over all documents as a script over binary doc values, at 128 bits half as fast again. Both
are stored without a graph (`index: false`). Scores of vectors are 1 + the dot product, float32;
of unit vectors that is the cosine.
"""

from __future__ import annotations

from typing import Any

from indexers.backends._engine_dialect import Dialect, ScoredField, vector_values
from indexers.backends._engine_elasticsearch_vectors import NATIVE
from indexers.http_request import HttpRequest, Listing
from indexers.types import F32, U8

LEAST_CLAUSES = 1024
HAMMING = b"params.bits - hamming(params.code, 'c')"
# scores must not be negative, and rounding can take a dot product below −1
DOT_PRODUCT = b"Math.max(0, 1 + dotProduct(params.q, 'v'))"


def code_mapping(bits: int) -> dict[str, Any]:
    """Mapping of the code."""
    return {"type": "dense_vector", "element_type": "bit", "dims": bits, "index": False}


def code_values(codes: U8) -> list[bytes]:
    """Each code in hex."""
    return [b'"%b"' % code.tobytes().hex().encode() for code in codes]


def code_scripts(codes: U8) -> list[bytes]:
    """The script of each query."""
    start = b'{"source":"%b","params":{"bits":%d,"code":' % (HAMMING, 8 * codes.shape[1])
    return [start + value + b"}}" for value in code_values(codes)]


def vector_mapping(dimension: int) -> dict[str, Any]:
    """Mapping of the vector."""
    return {"type": "dense_vector", "element_type": "float", "dims": dimension, "index": False}


def vector_scripts(vectors: F32) -> list[bytes]:
    """The script of each query."""
    start = b'{"source":"%b","params":{"q":' % DOT_PRODUCT
    return [start + value + b"}}" for value in vector_values(vectors)]


def cosine(score: float) -> float:
    """The cosine that gave a score."""
    return score - 1


def clause_limit(nodes: dict[str, Any]) -> int:
    """What a server computes when it starts, the least of all nodes.

    64 a MiB of heap and search thread, at least 1,024; `indices.query.bool.max_clause_count` is
    read no more, though the server tells a value of it.
    """
    limits = [
        64
        * (node["jvm"]["mem"]["heap_max_in_bytes"] >> 20)
        // node["thread_pool"]["search"]["size"]
        for node in nodes.get("nodes", {}).values()
    ]
    return max(LEAST_CLAUSES, min(limits, default=0))


DIALECT = Dialect(
    code=ScoredField(code_mapping, code_values, code_scripts),
    vector=ScoredField(vector_mapping, vector_values, vector_scripts, cosine),
    native=NATIVE,
    limit=HttpRequest(
        "GET",
        ("_nodes", Listing("jvm,thread_pool")),
        {"filter_path": "nodes.*.jvm.mem.heap_max_in_bytes,nodes.*.thread_pool.search.size"},
    ),
    clause_limit=clause_limit,
)
