"""Which backend searches which family by which index kind, and why the others do not."""

from __future__ import annotations

from dataclasses import dataclass

from harness.settings import TEXT_KINDS
from indexers import registry
from indexers.index_types import IndexSpec, SearchParams
from indexers.protocols import Backend, Family


@dataclass(frozen=True, slots=True)
class Cell:
    """One family on one kind of one backend.

    Attributes:
        reranks: by what its answers can be ranked there, the default first; empty where it
            cannot be searched.
        reason: why it cannot be searched; None where it can.
    """

    family: str
    backend: str
    kind: str
    reranks: tuple[str, ...]
    reason: str | None


def cells() -> tuple[Cell, ...]:
    """Every family with every index kind of every backend, sorted by family, backend and kind."""
    return tuple(
        _cell(registry.family(name), registry.backend(backend), kind)
        for name in registry.family_names()
        for backend in registry.backend_names()
        for kind in sorted(registry.backend(backend).kinds)
        if kind not in TEXT_KINDS
    )


def _cell(family: Family, backend: type[Backend], kind: str) -> Cell:
    spec = _smallest(family, backend.name, kind)
    length = max(spec.hash_lengths, default=None)
    reasons = {
        rerank: backend.impossible(spec, SearchParams(1, spec.num_tables, length, rerank))
        for rerank in family.reranks or ("code",)
    }
    possible = tuple(rerank for rerank, reason in reasons.items() if reason is None)
    reason = None if possible else next(iter(reasons.values()))
    return Cell(family.name, backend.name, kind, possible, reason)


def _smallest(family: Family, backend: str, kind: str) -> IndexSpec:
    """An index of the least default sizes: what it cannot do, no other size of it can."""
    sweep = family.sweep(None)
    if kind not in ("lsh", "multihash") or not sweep.num_tables:
        return IndexSpec(backend, kind, family.name, bits=sweep.bits)
    tables, length = min(sweep.num_tables), min(sweep.hash_lengths)
    return IndexSpec(backend, kind, family.name, tables, (length,), sweep.bits)
