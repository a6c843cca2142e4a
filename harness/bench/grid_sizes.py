"""Which sizes the grid measures of each family, checked before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness.bench.choices import Choice
from harness.bench.compare import Sides
from harness.bench.config import BenchConfig
from harness.bench.hashing import bench_params
from harness.bench.left_out import LeftOut
from harness.config_problems import ALL
from indexers import registry
from indexers.errors import SettingError
from indexers.protocols import Family
from indexers.types import HashParams, TableSize

WIDTHS = (32, 64, 128, 256, 384, 512, 768, 1024)
"""Code widths of the grid, those that a family takes."""

BY_WIDTH = ("bihash",)
"""Families whose every width is another code, read by all tables alike."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the grid measures of one family.

    Attributes:
        family: its name.
        named: whether a person asked for it by its name.
        params: how it is hashed.
        num_tables, hash_lengths: ascending; empty where the cells are codes of a width.
        widths: of codes, ascending; empty where the cells are keys of tables.
    """

    family: str
    named: bool
    params: HashParams
    num_tables: tuple[int, ...] = ()
    hash_lengths: tuple[int, ...] = ()
    widths: tuple[int, ...] = ()


def unknown_targets(config: BenchConfig, families: Sequence[str]) -> list[str]:
    """Problems with sizes for families that are not compared or have no tables."""
    found = []
    for flag, given in (("num-tables", config.num_tables), ("hash-length", config.hash_length)):
        for name in given:
            if name != ALL and name not in families:
                found.append(f"--{flag} {name}: the family is not compared here; leave it out")
            elif name != ALL and not registry.family(name).max_num_tables:
                found.append(f"--{flag} {name}: the family has no tables; leave it out")
    return found


def plans(
    config: BenchConfig, chosen: Sequence[Choice], sides: Sides, left_out: LeftOut
) -> list[Plan]:
    """What is measured of each family that has sizes.

    Args:
        config: sizes that were asked for, and how families hash.
        chosen: the families.
        sides: tell the dimension of the vectors.
        left_out: told of sizes that a family cannot serve and that were not asked for by name.

    Raises:
        SettingError: a family cannot serve what was asked of it by name.
    """
    found: list[Plan] = []
    problems: list[str] = []
    for choice in chosen:
        if not registry.family(choice.family).max_num_tables:
            continue
        plan, wrong, is_named = _plan(config, choice, sides)
        if is_named:
            problems += wrong
        else:
            left_out.add(*(f"grid: {line}" for line in wrong))
        if plan is not None:
            found.append(plan)
    if problems:
        raise SettingError(*problems)
    return found


def _plan(config: BenchConfig, choice: Choice, sides: Sides) -> tuple[Plan | None, list[str], bool]:
    """What is measured of one family, what it cannot serve, and whether that was named."""
    name = choice.family
    made = registry.family(name)
    params = bench_params(name, **config.hashing, dimension=sides.dimension(name))
    is_named = choice.named or name in config.num_tables or name in config.hash_length
    tables = config.num_tables.get(name) or config.num_tables.get(ALL)
    lengths = config.hash_length.get(name) or config.hash_length.get(ALL)
    default = made.sweep(params.dimension)
    if name in BY_WIDTH:
        wrong = _without(made, num_tables=tables, hash_length=lengths)
        widths = _widths(made, params, 1, WIDTHS)
        return Plan(name, choice.named, params, widths=widths), wrong, is_named
    counts, wrong = _served(made, params, tables or default.num_tables, lambda n: TableSize(n, 1))
    if not made.nested:
        wrong += _without(made, hash_length=lengths)
        widths = _widths(made, params, min(counts, default=1), WIDTHS[1:6])
        plan = Plan(name, choice.named, params, counts, widths=widths)
        return plan if counts and widths else None, wrong, is_named
    kept, more = _served(made, params, lengths or default.hash_lengths, lambda n: TableSize(1, n))
    plan = Plan(name, choice.named, params, counts, kept)
    return plan if counts and kept else None, [*wrong, *more], is_named


def _served(
    made: Family, params: HashParams, sizes: Sequence[int], size_of: Callable[[int], TableSize]
) -> tuple[tuple[int, ...], list[str]]:
    """The sizes that a family serves, ascending, and what is wrong with the others."""
    kept: list[int] = []
    wrong: list[str] = []
    for size in sorted(set(sizes)):
        try:
            made.check(size_of(size), params)
        except SettingError as error:
            wrong += error.problems
        else:
            kept.append(size)
    return tuple(kept), wrong


def _widths(
    made: Family, params: HashParams, tables: int, widths: Sequence[int]
) -> tuple[int, ...]:
    kept = []
    for bits in sorted({*widths, params.bits}):
        try:
            made.check(TableSize(tables, 1), replace(params, bits=bits))
        except SettingError:
            continue  # vectors of this dimension have no such width, and nobody asked for it
        kept.append(bits)
    return tuple(kept)


def _without(made: Family, **given: Sequence[int] | None) -> list[str]:
    """Sizes that were asked for and change nothing of a family's codes."""
    return [
        f"{made.name}: the grid compares its codes by width, which --{flag.replace('_', '-')} "
        "does not change; leave it out, or name other families: minhash=4,8"
        for flag, sizes in given.items()
        if sizes
    ]
