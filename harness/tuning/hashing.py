"""How documents are fingerprinted for a group of settings: one pass over them each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.settings import PLAIN, Setting, named
from indexers.errors import SettingError
from indexers.registry import family
from indexers.types import HashParams, TableSize, Unit, Weighting


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
            shingle_size=self.shingle_size or PLAIN.shingle_size,
            unit=self.unit or PLAIN.unit,
            weighting=self.weighting or PLAIN.weighting,
            window=self.window or PLAIN.window,
            signatures=signatures,
            dimension=dimension if of_vectors else None,
        )

    @property
    def name(self) -> str:
        """The family with what of its hashing is not plain: `winnowing (word 2-grams)`."""
        return named(
            self.family,
            self.bits,
            self.num_tables,
            self.shingle_size,
            self.unit,
            self.weighting,
            self.window,
        )


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
