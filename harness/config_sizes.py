"""Sizes that are swept: how they are written on a flag or in YAML, and what a family has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from harness.config_problems import ALL
from indexers.graph import RANGES
from indexers.registry import family, family_names

GRAPH = "hnsw"


def _split(value: object) -> object:
    """A comma-separated flag as a list; YAML lists and single values as they are."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [value]
    return value


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")
    return value


def _sizes(value: object) -> object:
    """`8,12`, `[8, 12]`, `minhash=2,4`, several of these, or a mapping, as a mapping."""
    if isinstance(value, Mapping):
        return {str(name): _split(sizes) for name, sizes in value.items()}
    parts = value if isinstance(value, (list, tuple)) else [value]
    by_family: dict[str, list[object]] = {}
    for part in parts:
        name, separator, rest = str(part).partition("=")
        target, sizes = (name.strip(), rest) if separator else (ALL, part)
        split = _split(sizes)
        if not isinstance(split, list):
            raise ValueError("expected whole numbers separated by commas")
        by_family.setdefault(target, []).extend(split)
    return by_family


Number = Annotated[float, BeforeValidator(_no_bool)]
Whole = Annotated[int, BeforeValidator(_no_bool)]
Name = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_split), Field(min_length=1)]
Sizes = Annotated[dict[str, tuple[Whole, ...]], BeforeValidator(_sizes)]
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
    if name not in ("num_tables", "hash_length"):
        return []
    limit = getattr(family(family_name), f"max_{name}")
    if not limit:
        named = [f"{name}: {family_name} has none; leave it out"]
        return named if family_name in given else []
    return [
        f"{name}: {family_name} takes 1 to {limit}, not {size}"
        for size in given.get(family_name, given.get(ALL, ()))
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
