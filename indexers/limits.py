"""Ranges that every family's hasher checks before it hashes."""

from __future__ import annotations

from indexers.errors import SettingError
from indexers.text import SHINGLE_SIZES
from indexers.types import Family, TableSize

MAX_BITS = 4096
MAX_SEED = 2**32 - 1


def check(family: Family, size: TableSize, *, bits: int, seed: int, shingle_size: int) -> None:
    """Refuse sizes that the family cannot serve, naming all of them.

    Raises:
        SettingError: one line for each value out of range.
    """
    problems = [
        f"{family.name}: {name} {value} is out of range: {low} to {high}"
        for name, value, low, high in (
            ("num_tables", size.num_tables, 1, family.max_num_tables),
            ("hash_length", size.hash_length, 1, family.max_hash_length),
            ("seed", seed, 0, MAX_SEED),
            ("shingle_size", shingle_size, SHINGLE_SIZES[0], SHINGLE_SIZES[-1]),
        )
        if not low <= value <= high
    ]
    if bits % 64 or not 64 <= bits <= MAX_BITS:
        problems.append(
            f"{family.name}: bits {bits} is out of range: a multiple of 64 from 64 to {MAX_BITS}"
        )
    if problems:
        raise SettingError(*problems)
