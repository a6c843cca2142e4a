"""Flags of `harness bench` as one checked setting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from harness.config_problems import ALL, problems
from harness.config_values import Names, Number, Sizes, Whole
from harness.vector_flags import VectorFlags
from indexers import registry
from indexers.errors import SettingError
from indexers.types import Unit, Weighting

_NO_CORPUS = "--corpus is missing: give a folder with judgments, or catalogue:N"


class BenchConfig(VectorFlags):
    """One comparison, checked.

    Attributes:
        corpus: a folder with judgments, or `catalogue:N`.
        protocol: `pool` ranks judged candidates, `corpus` all documents.
        family, similarity: names, or `all`.
        bits, unit, shingle_size, weighting, window: for every family that reads them; None for
            the bench's defaults.
        grid: whether to measure table sizes.
        num_tables, hash_length: of the grid; family (or `all`) -> sizes.
        relevant_from: None for `default_relevant_from`.
        cutoff: one more cut-off of P, R and F1.
        seed: None for each family's default.
        resamples: of the confidence intervals; 0 for none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    corpus: str | None = None
    protocol: Literal["pool", "corpus"] = "pool"
    family: Names = (ALL,)
    similarity: Names = (ALL,)
    fields: Names | None = None
    bits: Whole | None = Field(default=None, ge=1)
    unit: Unit | None = None
    shingle_size: Whole | None = Field(default=None, ge=1)
    weighting: Weighting | None = None
    window: Whole | None = Field(default=None, ge=1)
    grid: bool = False
    num_tables: Sizes = Field(default_factory=dict)
    hash_length: Sizes = Field(default_factory=dict)
    relevant_from: Number | None = Field(default=None, gt=0, allow_inf_nan=False)
    cutoff: Whole | None = Field(default=None, ge=1, le=1000)
    seed: Whole | None = Field(default=None, ge=0, le=2**32 - 1)
    resamples: Whole = Field(default=1000, ge=0, le=100_000)
    out: Path | None = None

    @field_validator("family")
    @classmethod
    def _families(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _known(value, registry.family_names(), "family")

    @field_validator("similarity")
    @classmethod
    def _similarities(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _known(value, registry.similarity_names(), "similarity")

    @model_validator(mode="after")
    def _consistent(self) -> BenchConfig:
        found = [] if self.corpus else [_NO_CORPUS]
        sources = (registry.family(name).source for name in self.family if name != ALL)
        found += self.vector_problems(used=ALL in self.family or "vector" in sources)
        found += [*self._size_problems("num_tables"), *self._size_problems("hash_length")]
        if found:
            raise ValueError("\n".join(found))
        return self

    def _size_problems(self, name: Literal["num_tables", "hash_length"]) -> list[str]:
        given: dict[str, tuple[int, ...]] = getattr(self, name)
        flag = f"--{name.replace('_', '-')}"
        if given and not self.grid:
            return [f"{flag} is of the grid: add --grid, or leave it out"]
        found = [
            f"{flag}: {key!r} is not a family; choose from {', '.join(registry.family_names())}"
            for key in given
            if key not in (*registry.family_names(), ALL)
        ]
        return found + [
            f"{flag}: expected whole numbers at least 1, not {', '.join(map(str, sizes)) or 'none'}"
            for sizes in given.values()
            if not sizes or min(sizes) < 1
        ]

    @property
    def has_vectors(self) -> bool:
        """Whether families of vectors can be compared."""
        return bool(self.vectors or self.model)

    @property
    def hashing(self) -> dict[str, Any]:
        """What was asked for of `bench_params`, None left out."""
        names = ("bits", "seed", "unit", "shingle_size", "weighting", "window")
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None}


def _known(value: tuple[str, ...], allowed: tuple[str, ...], what: str) -> tuple[str, ...]:
    unknown = [name for name in value if name not in (*allowed, ALL)]
    if unknown:
        names = ", ".join(repr(name) for name in unknown)
        raise ValueError(
            f"{what} {names} is unknown: choose from {', '.join(allowed)}, or all of them by all"
        )
    return (ALL,) if ALL in value else tuple(dict.fromkeys(value))


def bench_config(flags: Mapping[str, Any]) -> BenchConfig:
    """The flags, checked.

    Raises:
        SettingError: with every problem found.
    """
    values = {name: value for name, value in flags.items() if value not in (None, ())}
    try:
        return BenchConfig.model_validate(values)
    except ValidationError as error:
        raise SettingError(*problems(error, BenchConfig, flags)) from None
