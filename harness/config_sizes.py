"""Sizes that are swept: how they are written on a flag or in YAML, and what a family has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from harness.config_problems import ALL
from indexers.graph import RANGES
from indexers.registry import family, family_names

GRAPH = "hnsw"
TABLE_SIZES = ("num_tables", "hash_length")


SizeName = Literal[
    "num_tables",
    "hash_length",
    "bits",
    "shingle_size",
    "window",
    "m",
    "ef_construction",
    "ef_search",
]
SIZES: tuple[SizeName, ...] = get_args(SizeName)


def size_problems(
    name: SizeName, given: Mapping[str, tuple[int, ...]], families: Iterable[str]
) -> list[str]:
    """What is wrong with the sizes given for families, a line each.

    Args:
        name: of the size.
        given: family (or `all`) -> sizes.
        families: that the study measures.
    """
    found = [
        f"{name}: {key!r} is not a family; choose from {', '.join(family_names())}"
        for key in given
        if key != ALL and key not in family_names()
    ]
    found += [f"{name}: give at least one size" for sizes in given.values() if not sizes]
    for family_name in families:
        found += _beyond(name, family_name, given)
    return found


def _beyond(name: SizeName, family_name: str, given: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Sizes beyond what the family has; what else it refuses is told once all is known."""
    if name in RANGES:
        return _beyond_graph(name, family_name, given)
    asked = given.get(family_name, given.get(ALL, ()))
    if name not in TABLE_SIZES:
        return [f"{name}: sizes start at 1, not {size}" for size in asked if size < 1]
    limit = getattr(family(family_name), f"max_{name}")
    if not limit:
        named = [f"{name}: {family_name} has none; leave it out"]
        return named if family_name in given else []
    return [
        f"{name}: {family_name} takes 1 to {limit}, not {size}"
        for size in asked
        if not 1 <= size <= limit
    ]


def _beyond_graph(
    name: SizeName, family_name: str, given: Mapping[str, tuple[int, ...]]
) -> list[str]:
    if GRAPH not in family(family_name).kinds:
        named = [f"{name}: {family_name} is not searched as {GRAPH}; leave it out"]
        return named if family_name in given else []
    low, high = RANGES[name]
    return [
        f"{name}: takes {low} to {high}, not {size}"
        for size in given.get(family_name, given.get(ALL, ()))
        if not low <= size <= high
    ]
