"""SimHash (Charikar 2002) of n-grams of characters or words, weighted by tf or tf-idf.

Each shingle owns an endless stream of bits. A document's bit is 1 where the sum of +-weight over
its shingle occurrences is above 0; a weight is 1, or the inverse document frequency of
`indexers.weights`, a whole number of eighths, so that sums are exact. The code is the first
`bits` bits; table t reads bits 32t to 32t + 31.

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
from indexers.learnt import KnownWeights, LearntWeights
from indexers.protocols import Sweep
from indexers.text import Shingler
from indexers.types import I64, U64, Atom, Fingerprints, Form, HashParams, Source, TableSize
from indexers.weights import DocumentFrequencies

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
        params: how to hash.
        compat: start each stream with the last `bits` bits of MD5, as `simhash` does.
    """

    def __init__(self, size: TableSize, params: HashParams, *, compat: bool = False) -> None:
        self._size, self._bits = size, params.bits
        self._shingler = Shingler(params.shingle_size, params.unit)
        self._frequencies: DocumentFrequencies | KnownWeights | None = None
        if params.weighting == "idf":
            self._frequencies = DocumentFrequencies()
        self._needed, self._key_places = _needed_bits(size, params.bits)
        width = -(-len(self._needed) // 64)
        self._width = 2 if width <= 2 else kernel.LANES * -(-width // kernel.LANES)
        self._words = np.zeros((1, self._width), np.uint64)
        self._known = 0
        self._compat = compat
        self._base = hashlib.blake2b(
            digest_size=16, key=params.seed.to_bytes(8, "little"), person=b"simhash"
        )

    def _digest(self, shingle: bytes) -> bytes:
        if self._compat:
            digest = hashlib.md5(shingle, usedforsecurity=False).digest()
            return digest[8:] + digest[:8] if self._bits == 64 else digest
        base = self._base.copy()
        base.update(shingle)
        return base.digest()

    def _extend(self) -> None:
        """Write the words of the shingles that are new; a row of zeros stays at the end."""
        start, stop = self._known, self._shingler.size
        if stop == start:
            return
        joined = b"".join(map(self._digest, self._shingler.shingles(start, stop)))
        digests = np.frombuffer(joined, ">u8").astype(np.uint64).reshape(-1, 2)
        if stop >= len(self._words):
            words = np.zeros((max(stop + 1, 2 * len(self._words)), self._width), np.uint64)
            words[:start] = self._words[:start]
            self._words = words
        kernel.stream_words(digests, self._needed, self._words[start:stop])
        self._known = stop

    def learn(self, items: Sequence[str]) -> None:
        """Count the documents that hold each shingle, where weights need it."""
        if self._frequencies is not None:
            self._frequencies.learn(self._shingler.block(items), self._shingler.size)

    def learnt(self) -> str:
        """Digest of the document frequencies; empty where weights need none."""
        return "" if self._frequencies is None else self._frequencies.digest()

    def weights_learnt(self) -> LearntWeights | None:
        """Weight of every shingle that was learnt from; None where all weights are one."""
        return None if self._frequencies is None else self._frequencies.table(self._shingler)

    def use_weights(self, learnt: LearntWeights) -> None:
        """Weight by these, and learn no more."""
        self._frequencies = KnownWeights(learnt)

    def __call__(self, items: Sequence[str]) -> Fingerprints:
        """Fingerprints of raw texts; their status is that of `indexers.text.TokenBlock`."""
        block = self._shingler.block(items)
        self._extend()
        n = len(items)
        weights = np.zeros(0, np.uint8)
        if self._frequencies is not None:
            weights = self._frequencies.of(self._shingler)
        codes = np.zeros((n, self._bits // 8), np.uint8)
        keys = np.empty((self._size.num_tables, 1, n), np.uint32)
        words: U64 = self._words

        def hash_slice(lo: int, hi: int) -> None:
            kernel.hash_documents(
                block.tokens.view(np.uint32),
                block.offsets,
                lo,
                hi,
                words,
                weights,
                self._key_places,
                self._size.hash_length,
                codes,
                keys,
            )

        threads.over(n, hash_slice)
        return Fingerprints(block.status, codes, keys, "bit")


class SimHash:
    """The family: endless streams, so tables are independent and never run out."""

    name: ClassVar[str] = "simhash"
    version: ClassVar[int] = 1
    source: ClassVar[Source] = "text"
    atom: ClassVar[Atom] = "bit"
    forms: ClassVar[tuple[Form, ...]] = ("bits",)
    kinds: ClassVar[tuple[str, ...]] = ("lsh", "flat", "multihash", "hnsw")
    reranks: ClassVar[tuple[str, ...]] = ("code",)
    reads: ClassVar[tuple[str, ...]] = ("shingle_size", "unit", "weighting")
    nested: ClassVar[bool] = True
    finite: ClassVar[bool] = False
    max_num_tables: ClassVar[int] = 64
    max_hash_length: ClassVar[int] = TABLE_BITS

    def sweep(self, dimension: int | None = None) -> Sweep:  # noqa: ARG002  # texts have none
        """Default sizes."""
        return Sweep(128, (5, 10, 15, 20, 25, 30, 40, 50), (8, 12, 16, 20))

    def check(self, size: TableSize, params: HashParams) -> None:
        """Refuse sizes and parameters out of range: bits are whole 64-bit words up to 4,096.

        Raises:
            SettingError: one line for each value out of range.
        """
        limits.check(self, size, params, *limits.word_bits(self, params.bits))

    def hasher(self, size: TableSize, params: HashParams, *, compat: bool = False) -> SimHasher:
        """A hasher of codes and keys that depend on `params` alone, never on sizes.

        Args:
            size: num_tables 1 to 64, hash_length 1 to 32.
            params: bits, seed (without effect under `compat`), shingle_size, unit, weighting.
            compat: codes of 64 or 128 bits equal to those of the `simhash` package
                (`Simhash(counts, f=bits)` with its MD5 of the shingles' UTF-8).

        Raises:
            SettingError: a value is out of range.
        """
        self.check(size, params)
        if compat and params.bits not in COMPAT_BITS:
            raise SettingError(f"simhash: bits {params.bits} with `compat`: choose 64 or 128")
        return SimHasher(size, params, compat=compat)


FAMILY = SimHash()
