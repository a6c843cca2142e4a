"""Rolling hashes of all k-grams (Karp and Rabin 1987), told in `indexers.rolling`.

Only compared, not searched: Winnowing keeps a share of the same hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from indexers import limits, rolling
from indexers.protocols import Sweep
from indexers.types import Atom, Fingerprints, Form, HashParams, Ragged, Source, TableSize


class KarpRabinHasher:
    """Hashes blocks of texts; keeps nothing between them.

    Args:
        params: how to hash.
    """

    def __init__(self, params: HashParams) -> None:
        self._roll = rolling.Roller(params)

    def learn(self, items: Sequence[str]) -> None:
        """Nothing to learn: hashes have no weights."""

    def learnt(self) -> str:
        """Nothing, hence empty."""
        return ""

    def __call__(self, items: Sequence[str]) -> Fingerprints:
        """Fingerprints of raw texts; their status is that of `rolling.status_of`."""
        hashes = Ragged.concatenated([self._roll(chunk) for chunk in rolling.chunks(items)])
        n = len(items)
        status = rolling.status_of(items, hashes)
        codes, keys = np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32)
        return Fingerprints(status, codes, keys, "bit", hashes=hashes)


class KarpRabin:
    """The family: sequences of the hashes of all k-grams."""

    name: ClassVar[str] = "karp_rabin"
    version: ClassVar[int] = 2
    source: ClassVar[Source] = "text"
    atom: ClassVar[Atom] = "bit"
    forms: ClassVar[tuple[Form, ...]] = ("sequence",)
    kinds: ClassVar[tuple[str, ...]] = ()
    reranks: ClassVar[tuple[str, ...]] = ("jaccard",)
    reads: ClassVar[tuple[str, ...]] = ("shingle_size", "unit")
    nested: ClassVar[bool] = True
    finite: ClassVar[bool] = False
    max_num_tables: ClassVar[int] = 0
    max_hash_length: ClassVar[int] = 0

    def sweep(self, dimension: int | None = None) -> Sweep:  # noqa: ARG002  # texts have none
        """No sizes: there are neither tables nor a code."""
        return Sweep(None)

    def check(self, size: TableSize, params: HashParams) -> None:
        """Refuse parameters out of range; `size` and `bits` are without effect.

        Raises:
            SettingError: one line for each value out of range.
        """
        limits.check(self, size, params)

    def hasher(self, size: TableSize, params: HashParams) -> KarpRabinHasher:
        """A hasher of sequences that depend on seed, shingle_size and unit alone.

        Args:
            size: without effect.
            params: seed, shingle_size (k), unit.

        Raises:
            SettingError: a value is out of range.
        """
        self.check(size, params)
        return KarpRabinHasher(params)


FAMILY = KarpRabin()
