"""BIHash: signs of pooled coordinates.

Bit j is 1 where the mean of the coordinates j, j + bits, j + 2·bits … is at least 0, that is
`e.reshape(D / bits, bits).mean(axis=0) >= 0`. The length of the vector is without effect. The
coordinates are added in float64 in ascending order, so that the signs are the same everywhere.

The code is finite: table t reads it in an order of its own (`indexers.finite`).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from indexers import limits, vectors
from indexers.errors import SettingError
from indexers.finite import finite_keys
from indexers.protocols import Sweep
from indexers.types import F32, Atom, Bool, Fingerprints, Form, HashParams, Items, Source, TableSize

DEFAULT_BITS = 128
HASH_LENGTHS = (8, 12, 16, 20)


def allowed_bits(dimension: int) -> list[int]:
    """The widths that vectors of this dimension can have: multiples of 8 that divide it."""
    longest = min(dimension, limits.MAX_BITS)
    return [bits for bits in range(8, longest + 1, 8) if dimension % bits == 0]


class BiHasher:
    """Hashes blocks of vectors of one dimension.

    Args:
        size: the tables' sizes.
        params: bits, seed (of the tables' orders) and dimension.
    """

    def __init__(self, size: TableSize, params: HashParams) -> None:
        assert params.dimension is not None
        self._size, self._params, self._dimension = size, params, params.dimension

    def learn(self, items: Items) -> None:
        """Without effect: signs need no counts."""

    def learnt(self) -> str:
        """Nothing, hence empty."""
        return ""

    def __call__(self, items: Items) -> Fingerprints:
        """Fingerprints of float vectors (n, D); EMPTY where all values are 0.

        Raises:
            SettingError: as `vectors.checked`.
        """
        rows, status, _ = vectors.checked(items, self._dimension, FAMILY.name)
        codes = np.zeros((len(rows), self._params.bits // 8), np.uint8)
        for block in vectors.blocks(len(rows)):
            codes[block] = np.packbits(self._bits(rows[block]), axis=1)
        empty = status > 0
        codes[empty] = 0
        keys = finite_keys(codes, self._size, self._params.seed)
        return Fingerprints(status, codes, keys, "bit")

    def _bits(self, rows: F32) -> Bool:
        width = self._params.bits
        sums = np.zeros((len(rows), width))
        for start in range(0, self._dimension, width):
            sums += rows[:, start : start + width]
        return sums >= 0


class BiHash:
    """The family: one finite code, read by every table in an order of its own."""

    name: ClassVar[str] = "bihash"
    version: ClassVar[int] = 1
    source: ClassVar[Source] = "vector"
    atom: ClassVar[Atom] = "bit"
    forms: ClassVar[tuple[Form, ...]] = ("bits",)
    kinds: ClassVar[tuple[str, ...]] = ("lsh", "flat", "multihash", "hnsw")
    reranks: ClassVar[tuple[str, ...]] = ("code",)
    reads: ClassVar[tuple[str, ...]] = ("dimension",)
    nested: ClassVar[bool] = True
    finite: ClassVar[bool] = True
    max_num_tables: ClassVar[int] = 64
    max_hash_length: ClassVar[int] = 64

    def sweep(self, dimension: int | None = None) -> Sweep:
        """Default sizes: the widest code of at most 128 bits.

        Raises:
            SettingError: the dimension is no multiple of 8.
        """
        known = DEFAULT_BITS if dimension is None else dimension
        allowed = allowed_bits(known)
        if not allowed:
            raise SettingError(_no_width(known))
        bits = max(bits for bits in allowed if bits <= DEFAULT_BITS)
        lengths = tuple(length for length in HASH_LENGTHS if length <= bits)
        return Sweep(bits, (5, 10, 15, 20, 25, 30, 40, 50), lengths)

    def check(self, size: TableSize, params: HashParams) -> None:
        """Refuse what cannot be served.

        Raises:
            SettingError: one line for each value out of range.
        """
        problems = vectors.dimension_problems(self.name, params.dimension)
        if params.dimension is not None and not problems:
            problems += _width_problems(params.bits, params.dimension)
        if params.bits < size.hash_length <= self.max_hash_length:
            problems.append(
                f"bihash: hash_length {size.hash_length} is longer than the code: "
                f"1 to {params.bits}"
            )
        limits.check(self, size, params, *problems)

    def hasher(self, size: TableSize, params: HashParams) -> BiHasher:
        """A hasher whose codes depend on (bits, dimension) and keys on the seed besides.

        Args:
            size: num_tables 1 to 64, hash_length 1 to 64 and at most bits.
            params: bits a multiple of 8 that divides the dimension; seed.

        Raises:
            SettingError: a value is out of range.
        """
        self.check(size, params)
        return BiHasher(size, params)


def _width_problems(bits: int, dimension: int) -> list[str]:
    allowed = allowed_bits(dimension)
    if bits in allowed:
        return []
    if not allowed:
        return [_no_width(dimension)]
    return [
        f"bihash: bits {bits} is out of range: a multiple of 8 that divides D {dimension}: "
        f"{', '.join(map(str, allowed))}"
    ]


def _no_width(dimension: int) -> str:
    return (
        f"bihash: no width of code fits D {dimension}, which is no multiple of 8: "
        "choose lsh, or vectors of another model"
    )


FAMILY = BiHash()
