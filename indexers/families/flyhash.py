"""FlyHash (Dasgupta, Stevens, Navlakha 2017) of n-grams of characters or words.

Every shingle excites FAN_OUT of the code's `bits` units, drawn at random by its hash, with its
weight: 1, or its inverse document frequency (`indexers.weights`), once for each occurrence. The
bits / 16 units with the greatest sums win and are the 1s of the code; ties are won by the lower
unit, and a unit without any excitation never wins, so that a text with few shingles has fewer
1s.

This is the paper's sparse binary projection read by columns: there every unit samples a fixed
number of features, here every feature reaches a fixed number of units, which asks for no
vocabulary. All units sample alike, so that centring the features (the paper's first step) would
take the same from every sum and change no winner. Few units a feature serve texts better than
the paper's tenth of all: a sum of many shingles says less about each.

A code is not a prefix of a wider one: which units win depends on all of them. Table t reads the
code in an order of its own (`indexers.finite`); a sixteenth of the bits are 1, so that a key of
h bits tells about as much as h / 3 bits of a balanced code. The traditional seed is 55.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from indexers import limits
from indexers.finite import finite_keys
from indexers.kernels import flyhash as kernel
from indexers.kernels import threads
from indexers.learnt import KnownWeights, LearntWeights
from indexers.protocols import Sweep
from indexers.text import Shingler
from indexers.types import Atom, Fingerprints, Form, HashParams, Source, TableSize
from indexers.weights import DocumentFrequencies

FAN_OUT = 3
"""Units that a shingle excites."""
UNITS_A_WINNER = 16


class FlyHasher:
    """Hashes blocks of texts; keeps the units of every distinct shingle seen.

    Args:
        size: the tables' sizes.
        params: how to hash.
    """

    def __init__(self, size: TableSize, params: HashParams) -> None:
        self._size, self._bits, self._seed = size, params.bits, params.seed
        self._shingler = Shingler(params.shingle_size, params.unit)
        self._frequencies: DocumentFrequencies | KnownWeights | None = None
        if params.weighting == "idf":
            self._frequencies = DocumentFrequencies()
        self._units = np.zeros((0, FAN_OUT), np.uint32)
        self._base = hashlib.blake2b(
            digest_size=16, key=params.seed.to_bytes(8, "little"), person=b"flyhash"
        )

    def _digest(self, shingle: bytes) -> bytes:
        base = self._base.copy()
        base.update(shingle)
        return base.digest()

    def _extend(self) -> None:
        start, stop = len(self._units), self._shingler.size
        if stop == start:
            return
        joined = b"".join(map(self._digest, self._shingler.shingles(start, stop)))
        digests = np.frombuffer(joined, ">u8").astype(np.uint64).reshape(-1, 2)
        new = np.empty((stop - start, FAN_OUT), np.uint32)
        kernel.connect(digests, self._bits, new)
        self._units = np.concatenate((self._units, new))

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
        codes = np.zeros((len(items), self._bits // 8), np.uint8)
        units, weights = self._units, np.zeros(0, np.uint8)
        if self._frequencies is not None:
            weights = self._frequencies.of(self._shingler)
        winners = self._bits // UNITS_A_WINNER

        def hash_slice(lo: int, hi: int) -> None:
            kernel.hash_documents(
                block.tokens.view(np.uint32), block.offsets, lo, hi, units, weights, winners, codes
            )

        threads.over(len(items), hash_slice)
        keys = finite_keys(codes, self._size, self._seed)
        keys[:, :, block.status != 0] = 0
        return Fingerprints(block.status, codes, keys, "bit")


class FlyHash:
    """The family: sparse codes of fixed width, read in an order of each table's own."""

    name: ClassVar[str] = "flyhash"
    version: ClassVar[int] = 1
    source: ClassVar[Source] = "text"
    atom: ClassVar[Atom] = "bit"
    forms: ClassVar[tuple[Form, ...]] = ("bits",)
    kinds: ClassVar[tuple[str, ...]] = ("lsh", "flat", "multihash", "hnsw")
    reranks: ClassVar[tuple[str, ...]] = ("code",)
    reads: ClassVar[tuple[str, ...]] = ("shingle_size", "unit", "weighting")
    nested: ClassVar[bool] = True
    finite: ClassVar[bool] = True
    max_num_tables: ClassVar[int] = 64
    max_hash_length: ClassVar[int] = 64

    def sweep(self, dimension: int | None = None) -> Sweep:  # noqa: ARG002  # texts have none
        """Default sizes: long keys, since most bits are 0."""
        return Sweep(2048, (5, 10, 15, 20, 25, 30, 40, 50), (24, 32, 48, 64))

    def check(self, size: TableSize, params: HashParams) -> None:
        """Refuse sizes and parameters out of range: bits are whole 64-bit words up to 4,096.

        Raises:
            SettingError: one line for each value out of range.
        """
        limits.check(self, size, params, *limits.word_bits(self, params.bits))

    def hasher(self, size: TableSize, params: HashParams) -> FlyHasher:
        """A hasher of codes and keys that depend on `params` alone, never on sizes.

        Args:
            size: num_tables 1 to 64, hash_length 1 to 64.
            params: bits, seed, shingle_size, unit, weighting.

        Raises:
            SettingError: a value is out of range.
        """
        self.check(size, params)
        return FlyHasher(size, params)


FAMILY = FlyHash()
