"""SimHash (Charikar 2002) of character n-grams weighted by term frequency.

Each shingle owns an endless stream of bits. A document's bit is 1 where more than half of its
shingle occurrences have a 1, that is where the sum of +-1 over them is above 0. The code is
the first `bits` bits; table t reads bits 32t to 32t + 31.

The stream starts with the 16 bytes of BLAKE2b of the shingle's UTF-8, personalised `simhash`
and keyed by the seed as 8 little-endian bytes, read as two big-endian words; later words are
told in `indexers.kernels.simhash.stream_words`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from indexers import limits
from indexers.errors import SettingError
from indexers.kernels import simhash as kernel
from indexers.kernels import threads
from indexers.text import Shingler
from indexers.types import I64, U64, Atom, Fingerprints, Status, TableSize

TABLE_BITS = 32
COMPAT_BITS = (64, 128)


def _needed_bits(size: TableSize, bits: int) -> tuple[I64, I64]:
    """Places in the stream that are read, and where each table's first bit is among them."""
    first = TABLE_BITS * np.arange(size.num_tables)
    keys = (first[:, None] + np.arange(size.hash_length)).ravel()
    needed = np.union1d(np.arange(bits), keys).astype(np.int64)
    return needed, np.searchsorted(needed, first).astype(np.int64)


class SimHasher:
    """Hashes blocks of texts; keeps the bits of every distinct shingle seen.

    Args:
        size: the tables' sizes.
        bits: width of the code.
        seed: of the streams.
        shingle_size: code points a shingle.
        compat: start each stream with the last `bits` bits of MD5, as `simhash` does.
    """

    def __init__(
        self, size: TableSize, *, bits: int, seed: int, shingle_size: int, compat: bool = False
    ) -> None:
        self._size, self._bits = size, bits
        self._shingler = Shingler(shingle_size)
        self._needed, self._key_places = _needed_bits(size, bits)
        self._words = np.zeros((0, -(-len(self._needed) // 64)), np.uint64)
        self._known = 0
        self._compat = compat
        self._base = hashlib.blake2b(
            digest_size=16, key=seed.to_bytes(8, "little"), person=b"simhash"
        )

    def _digest(self, shingle: bytes) -> bytes:
        if self._compat:
            digest = hashlib.md5(shingle, usedforsecurity=False).digest()
            return digest[8:] + digest[:8] if self._bits == 64 else digest
        base = self._base.copy()
        base.update(shingle)
        return base.digest()

    def _learn(self) -> None:
        start, stop = self._known, self._shingler.size
        if stop == start:
            return
        joined = b"".join(map(self._digest, self._shingler.shingles(start, stop)))
        digests = np.frombuffer(joined, ">u8").astype(np.uint64).reshape(-1, 2)
        if stop > len(self._words):
            words = np.zeros((max(stop, 2 * len(self._words)), self._words.shape[1]), np.uint64)
            words[:start] = self._words[:start]
            self._words = words
        kernel.stream_words(digests, self._needed, self._words[start:stop])
        self._known = stop

    def __call__(self, texts: Sequence[str]) -> Fingerprints:
        """Fingerprints of raw texts; EMPTY where nothing is left after normalising."""
        block = self._shingler.block(texts)
        self._learn()
        n = len(texts)
        codes = np.zeros((n, self._bits // 8), np.uint8)
        keys = np.zeros((self._size.num_tables, 1, n), np.uint32)
        words: U64 = self._words

        def hash_slice(lo: int, hi: int) -> None:
            kernel.hash_documents(
                block.tokens.view(np.uint32),
                block.offsets,
                lo,
                hi,
                words,
                self._key_places,
                self._size.hash_length,
                codes,
                keys,
            )

        threads.over(n, hash_slice)
        empty = np.diff(block.offsets) == 0
        status = np.where(empty, Status.EMPTY, Status.OK).astype(np.uint8)
        return Fingerprints(status, codes, keys, "bit")


class SimHash:
    """The family: endless streams, so tables are independent and never run out."""

    name: ClassVar[str] = "simhash"
    version: ClassVar[int] = 1
    atom: ClassVar[Atom] = "bit"
    default_bits: ClassVar[int] = 128
    default_num_tables: ClassVar[tuple[int, ...]] = (5, 10, 15, 20, 25, 30, 40, 50)
    default_hash_lengths: ClassVar[tuple[int, ...]] = (8, 12, 16, 20)
    max_num_tables: ClassVar[int] = 64
    max_hash_length: ClassVar[int] = TABLE_BITS

    def hasher(
        self,
        size: TableSize,
        *,
        bits: int,
        seed: int,
        shingle_size: int = 3,
        signatures: bool = False,
        compat: bool = False,
    ) -> SimHasher:
        """A hasher of codes and keys that depend on (seed, shingle_size) alone.

        Args:
            size: num_tables 1 to 64, hash_length 1 to 32.
            bits: a multiple of 64 up to 4,096.
            seed: 0 to 2^32 - 1; without effect under `compat`.
            shingle_size: 1 to 7 code points.
            signatures: must be False.
            compat: codes of 64 or 128 bits equal to those of the `simhash` package
                (`Simhash(counts, f=bits)` with its MD5 of the shingles' UTF-8).

        Raises:
            SettingError: a value is out of range.
        """
        limits.check(self, size, bits=bits, seed=seed, shingle_size=shingle_size)
        if signatures:
            raise SettingError("simhash has no signatures: leave `signatures` False")
        if compat and bits not in COMPAT_BITS:
            raise SettingError(f"simhash: bits {bits} with `compat`: choose 64 or 128")
        return SimHasher(size, bits=bits, seed=seed, shingle_size=shingle_size, compat=compat)


FAMILY = SimHash()
