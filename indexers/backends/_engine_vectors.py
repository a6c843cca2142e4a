"""Vectors in an engine, every document by its cosine with the query.

A document has its vector in `v`, a `knn_vector` of the k-NN plugin. The setting `index.knn` is
left off: no graph is built, and no native library is needed. Scores are those of the plugin's
`innerproduct`, float32: x + 1 where x ≥ 0, else 1 / (1 − x); of unit vectors x is the cosine.
"""

from __future__ import annotations

from typing import Any

import orjson

from indexers.backends._engine_admin import Call
from indexers.backends._engine_queries import common
from indexers.errors import BackendError
from indexers.types import F32, Fingerprints

PLUGIN = "opensearch-knn"
PLUGINS_PATH = "/_nodes/plugins?filter_path=nodes.*.name,nodes.*.plugins.name"


def properties(fingerprints: Fingerprints) -> dict[str, Any]:
    """Mapping of the field."""
    assert fingerprints.vectors is not None
    return {"v": {"type": "knn_vector", "dimension": fingerprints.vectors.shape[1]}}


def tails(fingerprints: Fingerprints) -> list[bytes]:
    """The rest of each document's line, after the id."""
    assert fingerprints.vectors is not None
    return [b',"v":%b}\n' % _json(vector) for vector in fingerprints.vectors]


def bodies(vectors: F32, k: int) -> list[bytes]:
    """One body a query."""
    start = common(k) + (
        b',"query":{"script_score":{"query":{"match_all":{}},"script":{"lang":"knn",'
        b'"source":"knn_score","params":{"field":"v","space_type":"innerproduct","query_value":'
    )
    return [start + _json(vector) + b"}}}}}" for vector in vectors]


def cosine(score: float) -> float:
    """The cosine that gave a score."""
    return score - 1 if score >= 1 else 1 - 1 / score


def _json(vector: F32) -> bytes:
    return orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY)


def check_plugin(call: Call, server: str) -> None:
    """Look for the plugin on every node.

    Raises:
        BackendError: a node has it not.
    """
    nodes = call("GET", PLUGINS_PATH, what="reading the server's plugins").get("nodes", {})
    for node in nodes.values():
        if PLUGIN not in [plugin["name"] for plugin in node.get("plugins", [])]:
            raise BackendError(
                f"vectors need the k-NN plugin, which node {node.get('name')!r} of {server} has "
                f"not: install {PLUGIN}, or search them in process (backend exact or faiss)"
            )
