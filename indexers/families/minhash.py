"""MinHash (Broder 1997) of the set of character n-grams, with datasketch's values.

A shingle's hash is the first 4 bytes of SHA-1 of its UTF-8, little-endian, then the finalizer
of MurmurHash3; permutation p of it is a[p] * h + b[p] modulo 2^32, a odd: the scheme
`affine32` of datasketch 2.0 at num_perm = 4,096. Row j of table t is permutation 64t + j; the
code is the lowest bit of permutations 0 to bits - 1 (Li and König 2010, b = 1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from indexers import limits
from indexers.kernels import minhash as kernel
from indexers.kernels import threads
from indexers.text import Shingler
from indexers.types import I64, U32, Atom, Fingerprints, Status, TableSize

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
        bits: width of the code.
        seed: of the permutations.
        shingle_size: code points a shingle.
        signatures: whether fingerprints carry the rows whose lowest bits make the code.
    """

    def __init__(
        self, size: TableSize, *, bits: int, seed: int, shingle_size: int, signatures: bool
    ) -> None:
        self._size, self._bits, self._signatures = size, bits, signatures
        self._shingler = Shingler(shingle_size)
        needed, self._key_places = _needed_rows(size, bits)
        a, b = permutations(seed)
        self._a, self._b = a[needed], b[needed]
        self._hashes = np.empty(0, np.uint32)

    def _learn(self) -> None:
        known = len(self._hashes)
        if known < self._shingler.size:
            new = shingle_hashes(self._shingler.shingles(known, self._shingler.size))
            self._hashes = np.concatenate((self._hashes, new))

    def __call__(self, texts: Sequence[str]) -> Fingerprints:
        """Fingerprints of raw texts; EMPTY where nothing is left after normalising."""
        block = self._shingler.block(texts)
        self._learn()
        n, hashes = len(texts), self._hashes
        codes = np.zeros((n, self._bits // 8), np.uint8)
        keys = np.zeros((self._size.num_tables, self._size.hash_length, n), np.uint32)
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
        empty = np.diff(block.offsets) == 0
        status = np.where(empty, Status.EMPTY, Status.OK).astype(np.uint8)
        return Fingerprints(status, codes, keys, "row", signatures if self._signatures else None)


class MinHash:
    """The family: 64 tables of 64 rows at most, from a pool of 4,096 permutations."""

    name: ClassVar[str] = "minhash"
    version: ClassVar[int] = 1
    atom: ClassVar[Atom] = "row"
    default_bits: ClassVar[int] = 1024
    default_num_tables: ClassVar[tuple[int, ...]] = (5, 10, 15, 20, 25, 30, 40, 50)
    default_hash_lengths: ClassVar[tuple[int, ...]] = (1, 2, 3, 4, 6, 8)
    max_num_tables: ClassVar[int] = POOL // TABLE_ROWS
    max_hash_length: ClassVar[int] = TABLE_ROWS

    def hasher(
        self,
        size: TableSize,
        *,
        bits: int,
        seed: int,
        shingle_size: int = 3,
        signatures: bool = False,
    ) -> MinHasher:
        """A hasher of codes and keys that depend on (seed, shingle_size) alone.

        Args:
            size: num_tables 1 to 64, hash_length 1 to 64.
            bits: a multiple of 64 up to 4,096.
            seed: 0 to 2^32 - 1.
            shingle_size: 1 to 7 code points.
            signatures: also give the rows whose lowest bits make the code.

        Raises:
            SettingError: a value is out of range.
        """
        limits.check(self, size, bits=bits, seed=seed, shingle_size=shingle_size)
        return MinHasher(
            size, bits=bits, seed=seed, shingle_size=shingle_size, signatures=signatures
        )


FAMILY = MinHash()
