"""How documents are fingerprinted for a group of settings: one pass over them each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.tuning.trial import Setting
from indexers.errors import SettingError
from indexers.registry import family, family_names
from indexers.types import HashParams, TableSize, Unit, Weighting

USUAL_BITS = 128
"""Width of codes of vectors that needs no mention in names."""


@dataclass(frozen=True, slots=True)
class Hashing:
    """What a fingerprint depends on, the seed apart; None where it does not.

    Attributes:
        family: its name.
        bits: width of the code.
        num_tables: of a family that is not nested.
        shingle_size, unit, weighting: of the text's features.
        window: of Winnowing.
    """

    family: str
    bits: int | None = None
    num_tables: int | None = None
    shingle_size: int | None = None
    unit: Unit | None = None
    weighting: Weighting | None = None
    window: int | None = None

    def setting(
        self, backend: str, kind: str, num_tables: int | None, hash_length: int | None, rerank: str
    ) -> Setting:
        """A setting of this hashing."""
        return Setting(
            self.family,
            backend,
            kind,
            num_tables,
            hash_length,
            self.bits,
            rerank,
            self.shingle_size,
            self.unit,
            self.weighting,
            self.window,
        )

    def params(self, seed: int, dimension: int | None, *, signatures: bool = False) -> HashParams:
        """For the family's hasher."""
        of_vectors = family(self.family).source == "vector"
        return HashParams(
            bits=self.bits or 0,
            seed=seed,
            shingle_size=self.shingle_size or 3,
            unit=self.unit or "char",
            weighting=self.weighting or "tf",
            window=self.window or 5,
            signatures=signatures,
            dimension=dimension if of_vectors else None,
        )

    @property
    def name(self) -> str:
        """The family with what of its hashing is not plain: `winnowing (word 2-grams)`."""
        return _named(self, with_tables=True)


def hashing_of(setting: Setting) -> Hashing | None:
    """The hashing that serves a setting; None for text search."""
    if setting.family is None:
        return None
    return Hashing(
        setting.family,
        setting.bits,
        None if family(setting.family).nested else setting.num_tables,
        setting.shingle_size,
        setting.unit,
        setting.weighting,
        setting.window,
    )


def family_name(setting: Setting) -> str:
    """The family for people, with what of its hashing is not plain, its sizes apart."""
    if setting.family not in family_names():  # none, or one of another version
        return setting.family or "BM25"
    hashing = hashing_of(setting)
    assert hashing is not None
    return _named(hashing, with_tables=False)


def shown_family(setting: Mapping[str, Any]) -> str:
    """`family_name` of a setting as `summary.json` holds it."""
    return family_name(Setting(**setting))


def _named(hashing: Hashing, *, with_tables: bool) -> str:
    made = family(hashing.family)
    usual = made.sweep(None).bits if made.source == "text" else USUAL_BITS
    told = []
    if hashing.bits not in (usual, None):
        told.append(f"{hashing.bits} bits")
    if with_tables and hashing.num_tables:
        told.append(f"{hashing.num_tables} tables")
    unit = hashing.unit or "char"
    if hashing.shingle_size and (unit, hashing.shingle_size) != ("char", 3):
        told.append(f"{unit} {hashing.shingle_size}-grams")
    if hashing.weighting not in ("tf", None):
        told.append(hashing.weighting)
    if hashing.window not in (5, None):
        told.append(f"window {hashing.window}")
    return f"{hashing.family} ({', '.join(told)})" if told else hashing.family


def largest_size(settings: Sequence[Setting]) -> TableSize:
    """The tables that one pass must make to serve all of these."""
    return TableSize(
        max((s.num_tables for s in settings if s.num_tables), default=1),
        max((s.hash_length for s in settings if s.hash_length), default=1),
    )


def size_problems(setting: Setting, seed: int, dimension: int | None) -> tuple[str, ...]:
    """What the family cannot serve of a setting, a line each."""
    hashing = hashing_of(setting)
    if hashing is None:
        return ()
    try:
        family(hashing.family).check(largest_size([setting]), hashing.params(seed, dimension))
    except SettingError as error:
        return error.problems
    return ()
