"""How hard a server's memory is pressed: heap, garbage collection and circuit breakers."""

from __future__ import annotations

from typing import Any

from indexers.backends._engine_admin import Call
from indexers.errors import BackendError
from indexers.http_request import HttpRequest, Listing

FIGURES = HttpRequest(
    "GET",
    ("_nodes", "stats", Listing("jvm,breaker")),
    {
        "filter_path": "nodes.*.jvm.mem.heap_used_percent,nodes.*.jvm.gc.collectors,"
        "nodes.*.breakers.*.tripped"
    },
)
LIMIT_S = 10.0
HEAP, GC_MS, GC_COUNT, TRIPS = "heap_used_percent", "gc_ms", "gc_count", "breaker_trips"


def pressure(call: Call) -> dict[str, float]:
    """Figures of all nodes: the fullest heap, and sums since they started.

    `gc_ms` and `gc_count` are those of young, old and concurrent collections together.
    `breaker_trips` counts every breaker. Empty where the server does not tell.
    """
    try:
        reply = call(FIGURES, what="reading the server's memory", timeout_s=LIMIT_S)
    except BackendError:  # no right, no such endpoint, or away: the load tells
        return {}
    nodes = list(reply.get("nodes", {}).values())
    try:
        return _figures(nodes) if nodes else {}
    except (KeyError, TypeError, ValueError):  # a managed server may leave something out
        return {}


def _figures(nodes: list[dict[str, Any]]) -> dict[str, float]:
    collectors = [c for node in nodes for c in node["jvm"]["gc"]["collectors"].values()]
    breakers = [b for node in nodes for b in node["breakers"].values()]
    return {
        HEAP: float(max(node["jvm"]["mem"]["heap_used_percent"] for node in nodes)),
        GC_MS: float(sum(c["collection_time_in_millis"] for c in collectors)),
        GC_COUNT: float(sum(c["collection_count"] for c in collectors)),
        TRIPS: float(sum(b["tripped"] for b in breakers)),
    }
