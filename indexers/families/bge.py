"""Dense vectors, such as BGE's, compared by their cosine.

The family takes vectors that an encoder made (`indexers.encoder`) or that the user brings, and
keeps them at unit length; it has neither code nor tables.
"""

from __future__ import annotations

from typing import ClassVar

from indexers import limits, vectors
from indexers.errors import SettingError
from indexers.protocols import Sweep
from indexers.types import Atom, Fingerprints, Form, HashParams, Items, Source, TableSize


class BgeHasher:
    """Brings blocks of vectors of one dimension to unit length.

    Args:
        dimension: D.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension

    def learn(self, items: Items) -> None:
        """Without effect: a length needs no counts."""

    def learnt(self) -> str:
        """Nothing, hence empty."""
        return ""

    def __call__(self, items: Items) -> Fingerprints:
        """Fingerprints of float vectors (n, D); EMPTY where all values are 0.

        Raises:
            SettingError: as `vectors.checked`.
        """
        return vectors.fingerprints(items, self._dimension, FAMILY.name)


class Bge:
    """The family: vectors themselves."""

    name: ClassVar[str] = "bge"
    version: ClassVar[int] = 1
    source: ClassVar[Source] = "vector"
    atom: ClassVar[Atom] = "bit"
    forms: ClassVar[tuple[Form, ...]] = ("vector",)
    kinds: ClassVar[tuple[str, ...]] = ("flat", "hnsw")
    reranks: ClassVar[tuple[str, ...]] = ("cosine",)
    reads: ClassVar[tuple[str, ...]] = ("dimension",)
    nested: ClassVar[bool] = True
    finite: ClassVar[bool] = False
    max_num_tables: ClassVar[int] = 0
    max_hash_length: ClassVar[int] = 0

    def sweep(self, dimension: int | None = None) -> Sweep:
        """No sizes: there is neither code nor table."""
        problems = [] if dimension is None else vectors.dimension_problems(self.name, dimension)
        if problems:
            raise SettingError(*problems)
        return Sweep(None)

    def check(self, size: TableSize, params: HashParams) -> None:
        """Refuse what cannot be served.

        Raises:
            SettingError: one line for each value out of range.
        """
        limits.check(self, size, params, *vectors.dimension_problems(self.name, params.dimension))

    def hasher(self, size: TableSize, params: HashParams) -> BgeHasher:
        """A hasher that depends on the dimension alone.

        Args:
            size: without effect.
            params: dimension 1 to 65,536; the seed is checked and without effect.

        Raises:
            SettingError: a value is out of range.
        """
        self.check(size, params)
        assert params.dimension is not None
        return BgeHasher(params.dimension)


FAMILY = Bge()
