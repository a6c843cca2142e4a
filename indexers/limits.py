"""Ranges that families check before they hash."""

from __future__ import annotations

from typing import get_args

from indexers.errors import SettingError
from indexers.protocols import Family
from indexers.types import HashParams, TableSize, Unit, Weighting

MAX_BITS = 4096
SHINGLE_SIZES = range(1, 8)
MAX_SEED = 2**32 - 1
MAX_WINDOW = 1000


def check(family: Family, size: TableSize, params: HashParams, *problems: str) -> None:
    """Refuse values that no family of its source can serve, naming all of them.

    Args:
        family: tells its name, source, forms and greatest sizes.
        size: of the tables; not looked at where the family has none.
        params: how it is to hash; `bits` is not looked at where the family has no code.
        problems: what the family itself found, told after these.

    Raises:
        SettingError: one line for each value out of range.
    """
    found = [
        f"{family.name}: {name} {value} is out of range: {low} to {high}"
        for name, value, low, high in _ranges(family, size, params)
        if not low <= value <= high
    ]
    found += _names(family, params)
    if family.source == "vector" and (params.dimension is None or params.dimension < 1):
        found.append(f"{family.name}: dimension {params.dimension}: give vectors, or a model")
    if params.signatures and "signature" not in family.forms:
        found.append(f"{family.name} has no signatures: leave `signatures` False")
    found += problems
    if found:
        raise SettingError(*found)


def word_bits(family: Family, bits: int) -> list[str]:
    """The problem with a width that must be whole 64-bit words, if there is one."""
    if bits % 64 or not 64 <= bits <= MAX_BITS:
        return [
            f"{family.name}: bits {bits} is out of range: a multiple of 64 from 64 to {MAX_BITS}"
        ]
    return []


def _ranges(family: Family, size: TableSize, params: HashParams) -> list[tuple[str, int, int, int]]:
    ranges = [("seed", params.seed, 0, MAX_SEED)]
    if family.max_num_tables:
        ranges = [
            ("num_tables", size.num_tables, 1, family.max_num_tables),
            ("hash_length", size.hash_length, 1, family.max_hash_length),
            *ranges,
        ]
    if family.source == "text":
        ranges.append(("shingle_size", params.shingle_size, SHINGLE_SIZES[0], SHINGLE_SIZES[-1]))
        ranges.append(("window", params.window, 1, MAX_WINDOW))
    return ranges


def _names(family: Family, params: HashParams) -> list[str]:
    allowed = (
        ("unit", params.unit, get_args(Unit)),
        ("weighting", params.weighting, get_args(Weighting)),
    )
    return [
        f"{family.name}: {name} {value!r} is unknown: choose from {', '.join(choices)}"
        for name, value, choices in allowed
        if value not in choices
    ]
