"""Flags of `harness bench` as one checked setting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from harness.config_problems import ALL, problems
from harness.config_sizes import Names, Number, Sizes, Whole
from indexers import registry
from indexers.errors import SettingError
from indexers.types import Unit, Weighting


class BenchConfig(BaseModel):
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
    vectors: str | None = Field(default=None, min_length=1)
    query_vectors: str | None = Field(default=None, min_length=1)
    model: str | None = Field(default=None, min_length=1)
    pooling: Literal["cls", "mean"] | None = None
    query_instruction: str | None = None
    max_length: Whole | None = Field(default=None, ge=1, le=100_000)
    batch_size: Whole | None = Field(default=None, ge=1, le=100_000)
    device: str | None = Field(default=None, min_length=1)
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
        if not self.corpus:
            raise ValueError("--corpus is missing: give a folder with judgments, or catalogue:N")
        if self.vectors and self.model:
            raise ValueError("--vectors and --model: give one, the vectors or what makes them")
        if self.query_vectors and not self.vectors:
            raise ValueError("--query-vectors needs --vectors, those of the documents")
        return self

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
