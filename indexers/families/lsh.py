"""Random hyperplanes over any vector (Charikar 2002).

A hyperplane with normally distributed normal separates two vectors at angle θ with probability
θ/π. Bit i is 1 where the dot product with hyperplane i is at least 0; the code is the first
`bits` bits of this endless stream, table t reads bits 32t to 32t + 31. Hyperplane i depends on
(seed, i, D) alone; `indexers.hyperplanes` tells how it is drawn and why the signs are exact.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from indexers import limits, vectors
from indexers.errors import SettingError
from indexers.hyperplanes import hyperplanes, packed_keys
from indexers.protocols import Sweep
from indexers.types import Atom, Fingerprints, Form, HashParams, Items, Source, TableSize

TABLE_BITS = 32


class LshHasher:
    """Hashes blocks of vectors of one dimension.

    Args:
        size: the tables' sizes.
        params: bits, seed and dimension.
    """

    def __init__(self, size: TableSize, params: HashParams) -> None:
        assert params.dimension is not None
        self._size, self._bits, self._dimension = size, params.bits, params.dimension
        first = TABLE_BITS * np.arange(size.num_tables, dtype=np.int64)
        places = first[:, None] + np.arange(-(-size.hash_length // 8) * 8)
        numbers = np.union1d(np.arange(params.bits), places.ravel()).astype(np.int64)
        self._key_places = np.searchsorted(numbers, places)
        self._planes = hyperplanes(params.seed, numbers, params.dimension)

    def learn(self, items: Items) -> None:
        """Without effect: hyperplanes are drawn before any vector is seen."""

    def learnt(self) -> str:
        """Nothing, hence empty."""
        return ""

    def __call__(self, items: Items) -> Fingerprints:
        """Fingerprints of float vectors (n, D); EMPTY where all values are 0.

        Raises:
            SettingError: as `vectors.checked`.
        """
        rows, status, peaks = vectors.checked(items, self._dimension, FAMILY.name)
        codes = np.zeros((len(rows), self._bits // 8), np.uint8)
        keys = np.zeros((self._size.num_tables, 1, len(rows)), np.uint32)
        for block in vectors.blocks(len(rows), self._planes.shape[1]):
            bits = vectors.fixed_point(rows[block], peaks[block]) @ self._planes >= 0
            bits[status[block] > 0] = False
            codes[block] = np.packbits(bits[:, : self._bits], axis=1)
            keys[:, 0, block] = packed_keys(bits[:, self._key_places], self._size.hash_length).T
        return Fingerprints(status, codes, keys, "bit")


class Lsh:
    """The family: endless streams, so tables are independent and never run out."""

    name: ClassVar[str] = "lsh"
    version: ClassVar[int] = 1
    source: ClassVar[Source] = "vector"
    atom: ClassVar[Atom] = "bit"
    forms: ClassVar[tuple[Form, ...]] = ("bits",)
    kinds: ClassVar[tuple[str, ...]] = ("lsh", "flat", "multihash", "hnsw")
    reranks: ClassVar[tuple[str, ...]] = ("code",)
    reads: ClassVar[tuple[str, ...]] = ("dimension",)
    nested: ClassVar[bool] = True
    finite: ClassVar[bool] = False
    max_num_tables: ClassVar[int] = 64
    max_hash_length: ClassVar[int] = TABLE_BITS

    def sweep(self, dimension: int | None = None) -> Sweep:
        """Default sizes, the same for every dimension."""
        problems = [] if dimension is None else vectors.dimension_problems(self.name, dimension)
        if problems:
            raise SettingError(*problems)
        return Sweep(128, (5, 10, 15, 20, 25, 30, 40, 50), (8, 12, 16, 20))

    def check(self, size: TableSize, params: HashParams) -> None:
        """Refuse what cannot be served.

        Raises:
            SettingError: one line for each value out of range.
        """
        problems = vectors.width_problems(self.name, params.bits)
        problems += vectors.dimension_problems(self.name, params.dimension)
        limits.check(self, size, params, *problems)

    def hasher(self, size: TableSize, params: HashParams) -> LshHasher:
        """A hasher whose keys and codes depend on (seed, dimension) alone.

        Args:
            size: num_tables 1 to 64, hash_length 1 to 32.
            params: bits a multiple of 8 up to 4,096; seed; dimension 1 to 65,536.

        Raises:
            SettingError: a value is out of range.
        """
        self.check(size, params)
        return LshHasher(size, params)


FAMILY = Lsh()
