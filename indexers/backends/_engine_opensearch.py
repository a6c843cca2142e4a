"""Codes and vectors as OpenSearch stores and scores them.

A code is a binary doc value, one for all its bytes: at 2,048 bits a script reads it five times as
fast as a field of doc values a 64-bit word, at 128 bits as fast. A vector is a `knn_vector` of
the k-NN plugin. The setting `index.knn` is left off: no graph is built, and no native library is
needed. Scores of vectors are those of the plugin's `innerproduct`, float32: x + 1 where x ≥ 0,
else 1 / (1 − x); of unit vectors x is the cosine.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import orjson

from indexers.backends._engine_admin import Call
from indexers.backends._engine_dialect import Dialect, ScoredField, vector_values
from indexers.backends._engine_opensearch_vectors import NATIVE, cosine
from indexers.errors import BackendError
from indexers.http_request import HttpRequest
from indexers.types import F32, U8

DEFAULT_CLAUSES = 1024
PLUGIN = "opensearch-knn"
PLUGINS = HttpRequest(
    "GET", ("_nodes", "plugins"), {"filter_path": "nodes.*.name,nodes.*.plugins.name"}
)
# bits − Hamming distance; the query's code is a string of characters 0 to 255, one a byte, which
# Painless reads without boxing
HAMMING = (
    "def v = doc['c'].value; byte[] c = v.bytes; int o = v.offset; String q = params.code; "
    "int n = q.length(), d = 0; for (int i = 0; i < n; ++i) "
    "{ d += Integer.bitCount((c[o + i] ^ q.charAt(i)) & 255); } return 8 * n - d;"
)


def code_mapping(bits: int) -> dict[str, Any]:
    """Mapping of the code; a binary field takes any width."""
    del bits
    return {"type": "binary", "doc_values": True}


def code_values(codes: U8) -> list[bytes]:
    """Each code in base64."""
    return [b'"%b"' % b64encode(code.tobytes()) for code in codes]


def code_scripts(codes: U8) -> list[bytes]:
    """The script of each query."""
    start = b'{"source":%b,"params":{"code":' % orjson.dumps(HAMMING)
    return [start + orjson.dumps(code.tobytes().decode("latin-1")) + b"}}" for code in codes]


def vector_mapping(dimension: int) -> dict[str, Any]:
    """Mapping of the vector."""
    return {"type": "knn_vector", "dimension": dimension}


def vector_scripts(vectors: F32) -> list[bytes]:
    """The plugin's script for each query."""
    start = (
        b'{"lang":"knn","source":"knn_score","params":'
        b'{"field":"v","space_type":"innerproduct","query_value":'
    )
    return [start + value + b"}}" for value in vector_values(vectors)]


def clause_limit(settings: dict[str, Any]) -> int:
    """The live limit: a transient setting wins over a persistent one over the default."""
    for layer in ("transient", "persistent", "defaults"):
        limits = settings.get(layer, {}).get("indices", {}).get("query", {}).get("bool", {})
        if "max_clause_count" in limits:
            return int(limits["max_clause_count"])
    return DEFAULT_CLAUSES


DIALECT = Dialect(
    code=ScoredField(code_mapping, code_values, code_scripts),
    vector=ScoredField(vector_mapping, vector_values, vector_scripts, cosine),
    native=NATIVE,
    limit=HttpRequest(
        "GET",
        ("_cluster", "settings"),
        {"include_defaults": "true", "filter_path": "**.max_clause_count"},
    ),
    clause_limit=clause_limit,
)


def check_plugin(call: Call, server: str) -> None:
    """Look for the k-NN plugin on every node.

    Raises:
        BackendError: a node has it not.
    """
    nodes = call(PLUGINS, what="reading the server's plugins").get("nodes", {})
    for node in nodes.values():
        if PLUGIN not in [plugin["name"] for plugin in node.get("plugins", [])]:
            raise BackendError(
                f"vectors need the k-NN plugin, which node {node.get('name')!r} of {server} has "
                f"not: install {PLUGIN}, or search them in process (backend exact or faiss)"
            )
