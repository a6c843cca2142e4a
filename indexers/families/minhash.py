"""MinHash (Broder 1997) of the set of n-grams of characters or words, with datasketch's values.

A shingle's hash is the first 4 bytes of SHA-1 of its UTF-8, little-endian, then the finalizer
of MurmurHash3; permutation p of it is a[p] * h + b[p] modulo 2^32, a odd: the scheme
`affine32` of datasketch 2.0 at num_perm = 4,096. Row j of table t is permutation 64t + j. A set
has no weights: `weighting` is without effect.

The code has one bit of each of permutations 0 to bits - 1 (Li and König 2010, b = 1): the
highest bit of minimum * 0x9E3779B1 modulo 2^32. The lowest bit of the minimum itself would be
that of h, flipped or not: with a odd, a set of one shingle would have one of two codes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from indexers import limits
from indexers.kernels import minhash as kernel
from indexers.kernels import threads
from indexers.kernels.lanes import ROWS
from indexers.protocols import Sweep
from indexers.text import Shingler
from indexers.types import I64, U32, Atom, Fingerprints, Form, HashParams, Source, TableSize

POOL = 4096
"""Permutations drawn for a seed; the values depend on it."""
TABLE_ROWS = 64


def permutations(seed: int) -> tuple[U32, U32]:
    """Factors and summands of the pool, uint32 (4096,) each, as datasketch draws them."""
    random = np.random.RandomState(seed)
    a = random.randint(0, 1 << 31, POOL, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    return a, random.randint(0, 1 << 32, POOL, dtype=np.uint32)


def _needed_rows(size: TableSize, bits: int) -> tuple[I64, I64]:
    """Permutations that are read, and where each table's first row is among them."""
    first = TABLE_ROWS * np.arange(size.num_tables)
    rows = (first[:, None] + np.arange(size.hash_length)).ravel()
    needed = np.union1d(np.arange(bits), rows).astype(np.int64)
    return needed, np.searchsorted(needed, first).astype(np.int64)


def shingle_hashes(shingles: Sequence[bytes]) -> U32:
    """Hash of each shingle before it is permuted, uint32 (shingles,)."""
    joined = b"".join(hashlib.sha1(s, usedforsecurity=False).digest()[:4] for s in shingles)
    h = np.frombuffer(joined, "<u4").astype(np.uint32)
    h = (h ^ h >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    h = (h ^ h >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return h ^ h >> np.uint32(16)


class MinHasher:
    """Hashes blocks of texts; keeps the hash of every distinct shingle seen.

    Args:
        size: the tables' sizes.
        params: how to hash.
    """

    def __init__(self, size: TableSize, params: HashParams) -> None:
        self._size, self._bits, self._signatures = size, params.bits, params.signatures
        self._shingler = Shingler(params.shingle_size, params.unit)
        needed, self._key_places = _needed_rows(size, params.bits)
        a, b = permutations(params.seed)
        padded = np.resize(needed, -(-len(needed) // ROWS) * ROWS)
        self._a, self._b = a[padded], b[padded]
        self._hashes = np.empty(0, np.uint32)

    def _extend(self) -> None:
        known = len(self._hashes)
        if known < self._shingler.size:
            new = shingle_hashes(self._shingler.shingles(known, self._shingler.size))
            self._hashes = np.concatenate((self._hashes, new))

    def learn(self, items: Sequence[str]) -> None:
        """Nothing to learn: a set has no weights."""

    def learnt(self) -> str:
        """Nothing, hence empty."""
        return ""

    def __call__(self, items: Sequence[str]) -> Fingerprints:
        """Fingerprints of raw texts; their status is that of `indexers.text.TokenBlock`."""
        block = self._shingler.block(items)
        self._extend()
        n, hashes = len(items), self._hashes
        codes = np.zeros((n, self._bits // 8), np.uint8)
        keys = np.empty((self._size.num_tables, self._size.hash_length, n), np.uint32)
        signatures = np.zeros((n, self._bits) if self._signatures else (0, 0), np.uint32)

        def hash_slice(lo: int, hi: int) -> None:
            kernel.hash_documents(
                block.tokens.view(np.uint32),
                block.offsets,
                lo,
                hi,
                hashes,
                self._a,
                self._b,
                self._key_places,
                codes,
                keys,
                signatures,
            )

        threads.over(n, hash_slice)
        return Fingerprints(
            block.status, codes, keys, "row", signatures if self._signatures else None
        )


class MinHash:
    """The family: 64 tables of 64 rows at most, from a pool of 4,096 permutations."""

    name: ClassVar[str] = "minhash"
    version: ClassVar[int] = 2
    source: ClassVar[Source] = "text"
    atom: ClassVar[Atom] = "row"
    forms: ClassVar[tuple[Form, ...]] = ("bits", "signature")
    kinds: ClassVar[tuple[str, ...]] = ("lsh", "flat", "multihash", "hnsw")
    reranks: ClassVar[tuple[str, ...]] = ("code", "signature")
    reads: ClassVar[tuple[str, ...]] = ("shingle_size", "unit", "signatures")
    nested: ClassVar[bool] = True
    finite: ClassVar[bool] = False
    max_num_tables: ClassVar[int] = POOL // TABLE_ROWS
    max_hash_length: ClassVar[int] = TABLE_ROWS

    def sweep(self, dimension: int | None = None) -> Sweep:  # noqa: ARG002  # texts have none
        """Default sizes."""
        return Sweep(1024, (5, 10, 15, 20, 25, 30, 40, 50), (1, 2, 3, 4, 6, 8))

    def check(self, size: TableSize, params: HashParams) -> None:
        """Refuse sizes and parameters out of range: bits are whole 64-bit words up to 4,096.

        Raises:
            SettingError: one line for each value out of range.
        """
        limits.check(self, size, params, *limits.word_bits(self, params.bits))

    def hasher(self, size: TableSize, params: HashParams) -> MinHasher:
        """A hasher of codes and keys that depend on `params` alone, never on sizes.

        Args:
            size: num_tables 1 to 64, hash_length 1 to 64.
            params: bits, seed, shingle_size, unit, signatures.

        Raises:
            SettingError: a value is out of range.
        """
        self.check(size, params)
        return MinHasher(size, params)


FAMILY = MinHash()
