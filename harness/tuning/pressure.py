"""What a trial did to the memory of its server."""

from __future__ import annotations

from collections.abc import Mapping

from indexers.abilities import Pressed
from indexers.protocols import Backend

HEAP = "heap_used_percent"
GROWING = ("gc_ms", "gc_count", "breaker_trips")
"""Figures that a server counts from its start."""


def pressure(backend: Backend) -> dict[str, float]:
    """The figures of a backend's server now; empty where it has none, or does not tell."""
    return backend.pressure() if isinstance(backend, Pressed) else {}


def during(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """How full the heap was afterwards, and what was counted meanwhile.

    Empty where a server did not tell, or was started anew meanwhile.
    """
    if not before or not after:
        return {}
    grown = {name: after[name] - before[name] for name in GROWING}
    if min(grown.values()) < 0:
        return {}
    return {HEAP: after[HEAP], **grown}
