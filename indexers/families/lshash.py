"""LSHash: random hyperplanes in equal subspaces, one subspace a table.

Table t sees the coordinates from t · D / num_tables to (t + 1) · D / num_tables alone; bit j of
it is 1 where their dot product with hyperplane j of the table is at least 0. A key is the first
`hash_length` bits of its table. Bit i of the code is hyperplane i div num_tables of table
i mod num_tables, so that every table gives bits to a code of any width.

Hyperplane j of table t depends on (seed, t, j, D / num_tables) alone: it is number 4096t + j of
`indexers.hyperplanes`, which tells how it is drawn and why the signs are exact. Other numbers of
tables cut other subspaces, so nothing is shared between them.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from indexers import limits, vectors
from indexers.errors import SettingError
from indexers.hyperplanes import hyperplanes, packed_keys
from indexers.protocols import Sweep
from indexers.types import F64, Atom, Bool, Fingerprints, Form, HashParams, Items, Source, TableSize

TABLE_PLANES = 4096
SWEPT_TABLES = (5, 50)
HASH_LENGTHS = (8, 12, 16, 20)


def allowed_tables(dimension: int, most: int) -> list[int]:
    """The numbers of tables, up to a greatest, that divide the dimension."""
    return [tables for tables in range(1, most + 1) if dimension % tables == 0]


class LsHasher:
    """Hashes blocks of vectors of one dimension, cut for one number of tables.

    Args:
        size: the tables' sizes.
        params: bits, seed and dimension.
    """

    def __init__(self, size: TableSize, params: HashParams) -> None:
        assert params.dimension is not None
        self._size, self._bits, self._dimension = size, params.bits, params.dimension
        tables = size.num_tables
        # whole bytes of bits a table are packed 10 times as fast
        planes = -(-max(size.hash_length, -(-params.bits // tables)) // 8) * 8
        numbers = TABLE_PLANES * np.arange(tables)[:, None] + np.arange(planes)
        drawn = hyperplanes(params.seed, numbers.ravel(), params.dimension // tables)
        by_table = drawn.reshape(-1, tables, planes).transpose(1, 0, 2)
        self._planes: F64 = np.ascontiguousarray(by_table)

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
        tables, length = self._size.num_tables, self._size.hash_length
        codes = np.zeros((len(rows), self._bits // 8), np.uint8)
        keys = np.zeros((tables, 1, len(rows)), np.uint32)
        for block in vectors.blocks(len(rows), self._planes[:, 0].size):
            bits = self._table_bits(vectors.fixed_point(rows[block], peaks[block]))
            bits[:, status[block] > 0] = False
            keys[:, 0, block] = packed_keys(bits, length)
            codes[block] = np.packbits(self._interleaved(bits), axis=1)
        return Fingerprints(status, codes, keys, "bit")

    def _table_bits(self, rows: F64) -> Bool:
        """Bits of every table: bool (num_tables, n, planes)."""
        subspaces = rows.reshape(len(rows), len(self._planes), -1).transpose(1, 0, 2)
        bits: Bool = np.matmul(subspaces, self._planes) >= 0
        return bits

    def _interleaved(self, bits: Bool) -> Bool:
        """The code's bits: bool (n, bits)."""
        _, n, planes = bits.shape
        planes = min(planes, -(-self._bits // self._size.num_tables))
        return bits[:, :, :planes].transpose(1, 2, 0).reshape(n, -1)[:, : self._bits]


class LsHash:
    """The family: another number of tables is another cut, so one pass serves one number."""

    name: ClassVar[str] = "lshash"
    version: ClassVar[int] = 1
    source: ClassVar[Source] = "vector"
    atom: ClassVar[Atom] = "bit"
    forms: ClassVar[tuple[Form, ...]] = ("bits",)
    kinds: ClassVar[tuple[str, ...]] = ("lsh", "flat", "multihash", "hnsw")
    reranks: ClassVar[tuple[str, ...]] = ("code",)
    reads: ClassVar[tuple[str, ...]] = ("dimension",)
    nested: ClassVar[bool] = False
    finite: ClassVar[bool] = False
    max_num_tables: ClassVar[int] = 64
    max_hash_length: ClassVar[int] = 32

    def sweep(self, dimension: int | None = None) -> Sweep:
        """Default sizes: the divisors of the dimension from 5 to 50.

        Raises:
            SettingError: the dimension has no such divisor.
        """
        low, high = SWEPT_TABLES
        if dimension is None:
            return Sweep(128, (8, 16, 32), HASH_LENGTHS)
        problems = vectors.dimension_problems(self.name, dimension)
        tables = [count for count in allowed_tables(max(dimension, 1), high) if count >= low]
        if not problems and not tables:
            problems.append(_no_tables(dimension))
        if problems:
            raise SettingError(*problems)
        return Sweep(128, tuple(tables), HASH_LENGTHS)

    def check(self, size: TableSize, params: HashParams) -> None:
        """Refuse what cannot be served.

        Raises:
            SettingError: one line for each value out of range.
        """
        problems = vectors.width_problems(self.name, params.bits)
        wrong = vectors.dimension_problems(self.name, params.dimension)
        if params.dimension is not None and not wrong:
            problems += self._cut_problems(size.num_tables, params.dimension)
        limits.check(self, size, params, *problems, *wrong)

    def hasher(self, size: TableSize, params: HashParams) -> LsHasher:
        """A hasher whose keys and codes depend on (seed, dimension, num_tables) alone.

        Args:
            size: num_tables 1 to 64, a divisor of the dimension; hash_length 1 to 32.
            params: bits a multiple of 8 up to 4,096; seed; dimension 1 to 65,536.

        Raises:
            SettingError: a value is out of range.
        """
        self.check(size, params)
        return LsHasher(size, params)

    def _cut_problems(self, tables: int, dimension: int) -> list[str]:
        if not 1 <= tables <= self.max_num_tables or dimension % tables == 0:
            return []
        allowed = allowed_tables(dimension, self.max_num_tables)
        return [
            f"lshash: num_tables {tables} does not divide D {dimension}: "
            f"choose from {', '.join(map(str, allowed))}"
        ]


def _no_tables(dimension: int) -> str:
    low, high = SWEPT_TABLES
    allowed = allowed_tables(dimension, LsHash.max_num_tables)
    return (
        f"lshash: D {dimension} has no divisor from {low} to {high}: "
        f"set --num-tables to one of {', '.join(map(str, allowed))}, or choose lsh"
    )


FAMILY = LsHash()
