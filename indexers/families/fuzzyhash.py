"""FuzzyHash: context triggered piecewise hashes (Kornblum 2006), the digests of ssdeep.

The string is the digest `size:part:part` of the normalised text's UTF-8. The hashes are those
of the character n-grams of both parts, each with the block size of its part (the second part's
is twice the first's), so that the first part of one digest meets the second of another that has
half its block size. The hash of an n-gram is mix(mix(mix(seed + gamma) + block size * gamma) + w)
modulo 2^64, where w is the number that its ASCII bytes spell, the first the most significant,
mix the finalizer of splitmix64 and gamma its increment. A part shorter than n is one n-gram.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from indexers import limits
from indexers.atoms import GAMMA, mixed
from indexers.kernels import ctph, threads
from indexers.kernels import fuzzyhash as kernel
from indexers.normaliser import normalise
from indexers.protocols import Sweep
from indexers.types import U8, Atom, Fingerprints, Form, HashParams, Ragged, Source, TableSize

SMALLEST_BYTES = 1 << 18
"""Bytes of a block below which a second thread costs more than it saves."""


class FuzzyHasher:
    """Hashes blocks of texts; keeps nothing between them.

    Args:
        params: how to hash.
    """

    def __init__(self, params: HashParams) -> None:
        self._size = params.shingle_size
        # as an array: numpy warns of the overflow of scalars
        self._start = mixed(np.array([params.seed], np.uint64) + GAMMA)[0]

    def learn(self, items: Sequence[str]) -> None:
        """Nothing to learn: digests have no weights."""

    def learnt(self) -> str:
        """Nothing, hence empty."""
        return ""

    def __call__(self, items: Sequence[str]) -> Fingerprints:
        """Fingerprints of raw texts.

        EMPTY where nothing is left after normalising; LOW_ENTROPY where the text is one piece
        repeated at least eight times; that, or TOO_SHORT under 32 bytes, where pieces give the
        digest fewer than four different characters or repeat themselves.
        """
        n = len(items)
        status, strings = self._digests(items)
        codes, keys = np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32)
        hashes = self._hashes(strings)
        return Fingerprints(status, codes, keys, "bit", hashes=hashes, strings=strings)

    def _digests(self, items: Sequence[str]) -> tuple[U8, Ragged]:
        n = len(items)
        # ASCII is folded by the kernel, much faster than by `normalise`
        encoded = [
            (text if text.isascii() else normalise(text)).encode("utf-8", "surrogatepass")
            for text in items
        ]
        starts, indptr = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, n), out=starts[1:])
        data = np.frombuffer(b"".join(encoded), np.uint8)
        texts, rows = np.empty_like(data), np.empty((n, ctph.WIDEST), np.uint8)
        lengths, status = np.empty(n, np.int64), np.empty(n, np.uint8)

        def digest(lo: int, hi: int) -> None:
            ctph.digests(data, starts, lo, hi, texts, rows, lengths, status)

        threads.over_bytes(starts, digest, SMALLEST_BYTES)
        np.cumsum(lengths, out=indptr[1:])
        return status, Ragged(indptr, rows[np.arange(ctph.WIDEST) < lengths[:, None]])

    def _hashes(self, strings: Ragged) -> Ragged:
        offsets = np.zeros_like(strings.indptr)
        hashes = np.empty(len(strings.values), np.uint64)
        kernel.gram_hashes(strings.values, strings.indptr, self._size, self._start, offsets, hashes)
        return Ragged(offsets, hashes[: offsets[-1]].copy())


class FuzzyHash:
    """The family: CTPH digests."""

    name: ClassVar[str] = "fuzzyhash"
    version: ClassVar[int] = 1
    source: ClassVar[Source] = "text"
    atom: ClassVar[Atom] = "bit"
    forms: ClassVar[tuple[Form, ...]] = ("string", "sequence")
    kinds: ClassVar[tuple[str, ...]] = ("tokens", "flat")
    reranks: ClassVar[tuple[str, ...]] = ("levenshtein",)
    reads: ClassVar[tuple[str, ...]] = ("shingle_size",)
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

    def hasher(self, size: TableSize, params: HashParams) -> FuzzyHasher:
        """A hasher of digests, which depend on the text alone, and of their n-grams.

        Args:
            size: without effect.
            params: seed and shingle_size, of the hashes of the digests' n-grams.

        Raises:
            SettingError: a value is out of range.
        """
        self.check(size, params)
        return FuzzyHasher(params)


FAMILY = FuzzyHash()
