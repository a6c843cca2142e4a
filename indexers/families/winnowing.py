"""Winnowing (Schleimer, Wilkerson, Aiken 2003): a share of the rolling hashes of all k-grams.

Of each window of successive hashes the least is kept, the rightmost where several are least,
each position once. Two texts that share a run of at least window + k - 1 units share a kept
hash. The hashes are those of `indexers.rolling`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from indexers import limits, rolling
from indexers.errors import SettingError
from indexers.kernels import rolling as kernel
from indexers.kernels import threads
from indexers.protocols import Sweep
from indexers.types import (
    I64,
    U64,
    Atom,
    Fingerprints,
    Form,
    HashParams,
    Ragged,
    Source,
    TableSize,
)


def select(hashes: U64, window: int) -> I64:
    """Positions of the hashes that Winnowing keeps, ascending from 0.

    Args:
        hashes: uint64 (m,), of the k-grams in the order of the text.
        window: hashes a window, at least 1; where there are fewer, all of them are one window.

    Raises:
        SettingError: the window is below 1.
    """
    if window < 1:
        raise SettingError(f"window {window} is out of range: at least 1")
    hashes = np.ascontiguousarray(hashes, np.uint64)
    offsets = np.array([0, len(hashes)], np.int64)
    positions, counts = np.empty(len(hashes), np.int64), np.empty(1, np.int64)
    kernel.select(hashes, offsets, 0, 1, window, positions, counts)
    return positions[: counts[0]]


def winnowed(hashes: Ragged, window: int) -> Ragged:
    """The kept hashes of every list, in order; `window` is at least 1."""
    n, offsets = len(hashes), hashes.indptr
    positions, counts = np.empty(len(hashes.values), np.int64), np.empty(n, np.int64)
    threads.over(
        n,
        lambda lo, hi: kernel.select(hashes.values, offsets, lo, hi, window, positions, counts),
    )
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    kept = np.empty(indptr[-1], np.uint64)
    threads.over(
        n,
        lambda lo, hi: kernel.gather(hashes.values, offsets, lo, hi, positions, indptr, kept),
    )
    return Ragged(indptr, kept)


class WinnowingHasher:
    """Hashes blocks of texts; keeps nothing between them.

    Args:
        params: how to hash.
    """

    def __init__(self, params: HashParams) -> None:
        self._roll, self._window = rolling.Roller(params), params.window

    def learn(self, items: Sequence[str]) -> None:
        """Nothing to learn: hashes have no weights."""

    def learnt(self) -> str:
        """Nothing, hence empty."""
        return ""

    def __call__(self, items: Sequence[str]) -> Fingerprints:
        """Fingerprints of raw texts; their status is that of `rolling.status_of`."""
        hashes = Ragged.concatenated(
            [winnowed(self._roll(chunk), self._window) for chunk in rolling.chunks(items)]
        )
        n = len(items)
        status = rolling.status_of(items, hashes)
        codes, keys = np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32)
        return Fingerprints(status, codes, keys, "bit", hashes=hashes)


class Winnowing:
    """The family: sequences of selected hashes."""

    name: ClassVar[str] = "winnowing"
    version: ClassVar[int] = 2
    source: ClassVar[Source] = "text"
    atom: ClassVar[Atom] = "bit"
    forms: ClassVar[tuple[Form, ...]] = ("sequence",)
    kinds: ClassVar[tuple[str, ...]] = ("tokens", "flat")
    reranks: ClassVar[tuple[str, ...]] = ("jaccard",)
    reads: ClassVar[tuple[str, ...]] = ("shingle_size", "unit", "window")
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

    def hasher(self, size: TableSize, params: HashParams) -> WinnowingHasher:
        """A hasher of sequences that depend on seed, shingle_size, unit and window alone.

        Args:
            size: without effect.
            params: seed, shingle_size (k), unit, window.

        Raises:
            SettingError: a value is out of range.
        """
        self.check(size, params)
        return WinnowingHasher(params)


FAMILY = Winnowing()
