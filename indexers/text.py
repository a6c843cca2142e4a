"""Shingles of normalised text (character n-grams of code points) as vocabulary ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from indexers.errors import SettingError
from indexers.kernels import shingles as kernel
from indexers.kernels import threads
from indexers.normaliser import normalise
from indexers.types import I32, I64, U32

SHINGLE_SIZES = range(1, 8)
_ERRORS = "surrogatepass"  # a lone surrogate is kept as a code point of its own


@dataclass(frozen=True, slots=True)
class TokenBlock:
    """Shingles of a block of texts.

    Attributes:
        offsets: int64 (n + 1,); text i's tokens are offsets[i] to offsets[i + 1].
        tokens: int32, vocabulary ids of the successive shingles; -1 where unknown (`lookup`).
    """

    offsets: I64
    tokens: I32


@dataclass(frozen=True, slots=True)
class _Units:
    """Code points of a block: text i has lengths[i] of them from starts[i] on."""

    units: U32
    starts: I64
    lengths: I64


def _decode(texts: Sequence[str]) -> _Units:
    # ASCII is folded by the kernel, much faster than by `normalise`
    encoded = [
        (text if text.isascii() else normalise(text)).encode("utf-8", _ERRORS) for text in texts
    ]
    starts = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=starts[1:])
    data = np.frombuffer(b"".join(encoded), np.uint8)
    units = np.empty(len(data), np.uint32)
    lengths = np.empty(len(encoded), np.int64)
    threads.over(len(encoded), lambda lo, hi: kernel.decode(data, starts, lo, hi, units, lengths))
    return _Units(units, starts, lengths)


class Shingler:
    """Turns blocks of texts into vocabulary ids; the vocabulary grows from block to block.

    Ids are given by first appearance, so they depend on the texts and their order alone. Two
    shingles of more than three code points are told apart by a 64-bit hash: in a vocabulary
    of ten million, two meet with probability 3e-6.

    Args:
        shingle_size: code points a shingle, 1 to 7.

    Raises:
        SettingError: the size is out of range.
    """

    def __init__(self, shingle_size: int) -> None:
        if shingle_size not in SHINGLE_SIZES:
            raise SettingError(
                f"shingle size {shingle_size}: choose from "
                f"{SHINGLE_SIZES[0]} to {SHINGLE_SIZES[-1]}"
            )
        self.shingle_size = shingle_size
        self.size = 0
        self._make_room(1 << 15)

    def _make_room(self, slots: int) -> None:
        self._keys = np.empty(slots, np.uint64)
        self._ids = np.full(slots, -1, np.int32)
        self._grams = np.zeros((slots // 2, self.shingle_size), np.uint32)
        self._gram_lengths = np.empty(slots // 2, np.uint8)

    def _grow(self) -> None:
        keys, ids, grams, lengths = self._keys, self._ids, self._grams, self._gram_lengths
        self._make_room(2 * len(ids))
        kernel.rehash(keys, ids, self._keys, self._ids)
        self._grams[: len(grams)] = grams
        self._gram_lengths[: len(lengths)] = lengths

    def block(self, texts: Sequence[str]) -> TokenBlock:
        """Ids of the successive shingles of each text, normalised; new shingles get new ids.

        A text that is not empty but shorter than the size is one shingle; an empty one has
        none.
        """
        decoded = _decode(texts)
        block, misses = self._find(decoded)
        todo = np.flatnonzero(misses)
        while len(todo):
            done, self.size = kernel.learn(
                decoded.units,
                decoded.starts,
                decoded.lengths,
                todo,
                self.shingle_size,
                self._keys,
                self._ids,
                block.offsets,
                block.tokens,
                self._grams,
                self._gram_lengths,
                self.size,
            )
            todo = todo[done:]
            if len(todo):
                self._grow()
        return block

    def lookup(self, texts: Sequence[str]) -> TokenBlock:
        """Like `block` without learning: unknown shingles are -1."""
        return self._find(_decode(texts))[0]

    def _find(self, decoded: _Units) -> tuple[TokenBlock, I64]:
        n = len(decoded.lengths)
        counts = np.maximum(decoded.lengths - self.shingle_size + 1, decoded.lengths > 0)
        offsets = np.zeros(n + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        tokens = np.empty(offsets[-1], np.int32)
        misses = np.empty(n, np.int64)

        def find(lo: int, hi: int) -> None:
            kernel.find(
                decoded.units,
                decoded.starts,
                decoded.lengths,
                lo,
                hi,
                self.shingle_size,
                self._keys,
                self._ids,
                offsets,
                tokens,
                misses,
            )

        threads.over(n, find)
        return TokenBlock(offsets, tokens), misses

    def shingles(self, start: int, stop: int) -> list[bytes]:
        """UTF-8 of the shingles with ids start to stop, 0 <= start <= stop <= `size`."""
        grams, size = self._grams[start:stop], self.shingle_size
        joined = grams.astype("<u4").tobytes().decode("utf-32-le", _ERRORS)
        lengths = self._gram_lengths[start:stop].tolist()
        return [
            joined[i * size : i * size + length].encode("utf-8", _ERRORS)
            for i, length in enumerate(lengths)
        ]
