"""Settings and mapping of an engine's index in production."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexers.index_types import IndexSpec

_OF_TEMPORARY = {
    "queries.cache.enabled",
    "requests.cache.enable",
    "translog.durability",
    "auto_expand_replicas",
    "refresh_interval",
    "store.stats_refresh_interval",
}
"""Settings that a temporary index has for the sake of its measurement."""
_OWN_OF_TEMPORARY = {"_field_names"}
"""Fields of the server's own that only `exists` needs, which nobody asks a temporary index."""


def production_body(body: Mapping[str, Any], spec: IndexSpec, manifest: object) -> dict[str, Any]:
    """Settings and mapping for production, from those of the temporary index that was measured.

    Args:
        body: of the temporary index.
        spec: with the layout that was measured.
        manifest: by which an index is known again.
    """
    index = {n: v for n, v in body["settings"]["index"].items() if n not in _OF_TEMPORARY}
    if spec.layout.refresh_interval != "-1":
        index["refresh_interval"] = spec.layout.refresh_interval
    mappings = {n: v for n, v in body["mappings"].items() if n not in _OWN_OF_TEMPORARY}
    mappings["_meta"] = {"harness": manifest}
    return {**body, "settings": {**body["settings"], "index": index}, "mappings": mappings}
