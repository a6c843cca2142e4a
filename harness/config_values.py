"""Types of settings as flags and YAML give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from harness.config_problems import ALL


def split(value: object) -> object:
    """A comma-separated flag as a list; YAML lists and single values as they are."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [value]
    return value


def listed(value: object) -> object:
    """One value as a list of one; commas are part of it."""
    return [value] if isinstance(value, str) else value


def _no_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")
    return value


def _sizes(value: object) -> object:
    """`8,12`, `[8, 12]`, `minhash=2,4`, several of these, or a mapping, as a mapping."""
    if isinstance(value, Mapping):
        return {str(name): split(sizes) for name, sizes in value.items()}
    parts = value if isinstance(value, (list, tuple)) else [value]
    by_family: dict[str, list[object]] = {}
    for part in parts:
        name, separator, rest = str(part).partition("=")
        target, sizes = (name.strip(), rest) if separator else (ALL, part)
        several = split(sizes)
        if not isinstance(several, list):
            raise ValueError("expected whole numbers separated by commas")
        by_family.setdefault(target, []).extend(several)
    return by_family


Number = Annotated[float, BeforeValidator(_no_bool)]
Whole = Annotated[int, BeforeValidator(_no_bool)]
Name = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Name, ...], BeforeValidator(split), Field(min_length=1)]
Sizes = Annotated[dict[str, tuple[Whole, ...]], BeforeValidator(_sizes)]
