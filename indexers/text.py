"""Shingles of normalised text (n-grams of code points or of words) as vocabulary ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import get_args

import numpy as np

from indexers.errors import SettingError
from indexers.kernels import shingles as chars
from indexers.kernels import threads, words
from indexers.limits import SHINGLE_SIZES
from indexers.normaliser import normalise
from indexers.types import I32, I64, U8, U32, U64, Status, Unit

_CODE_POINTS = 0x110000
_ERRORS = "surrogatepass"  # a lone surrogate is kept as a code point of its own


@dataclass(frozen=True, slots=True)
class TokenBlock:
    """Shingles of a block of texts.

    Attributes:
        offsets: int64 (n + 1,); text i's tokens are offsets[i] to offsets[i + 1].
        tokens: int32, vocabulary ids of the successive shingles.
        status: uint8 (n,): EMPTY where nothing is left after normalising, TOO_SHORT where
            characters are left and no word is, though shingles are of words; else OK.
    """

    offsets: I64
    tokens: I32
    status: U8


@dataclass(frozen=True, slots=True)
class _Units:
    """Code points of a block: text i has lengths[i] of them from starts[i] on.

    For shingles of words the code points are those of the words, joined by one space; text i
    has counts[i] words, told by `words.split`. For code points, counts are the lengths.
    """

    units: U32
    starts: I64
    lengths: I64
    counts: I64
    ends: I32
    hashes: U64


@cache
def _is_word() -> U8:
    """Whether a code point is a `\\w` of regular expressions: uint8 (0x110000,)."""
    table = np.zeros(_CODE_POINTS, np.uint8)
    for run in re.finditer(r"\w+", "".join(map(chr, range(_CODE_POINTS)))):
        table[run.start() : run.end()] = 1
    return table


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
    threads.over(len(encoded), lambda lo, hi: chars.decode(data, starts, lo, hi, units, lengths))
    return _Units(units, starts, lengths, lengths, np.empty(0, np.int32), np.empty(0, np.uint64))


def _split(decoded: _Units) -> _Units:
    n = len(decoded.lengths)
    places = (len(decoded.units) + n + 1) // 2
    ends, hashes = np.empty(places, np.int32), np.empty(places, np.uint64)
    counts, is_word = np.empty(n, np.int64), _is_word()

    def split(lo: int, hi: int) -> None:
        words.split(
            decoded.units, decoded.starts, decoded.lengths, lo, hi, is_word, ends, hashes, counts
        )

    threads.over(n, split)
    return _Units(decoded.units, decoded.starts, decoded.lengths, counts, ends, hashes)


class Shingler:
    """Turns blocks of texts into vocabulary ids; the vocabulary grows from block to block.

    Ids are given by first appearance, so they depend on the texts and their order alone. Words
    are runs of `\\w`: letters and digits of any script, and the underscore; a run of Chinese is
    one word. An n-gram of words is the words joined by one space. N-grams of words, and of more
    than three code points, are told apart by a 64-bit hash: in a vocabulary of ten million, two
    meet with probability 3e-6.

    Args:
        shingle_size: code points or words a shingle, 1 to 7.
        unit: what a shingle is made of.

    Raises:
        SettingError: the size is out of range, or the unit unknown.
    """

    def __init__(self, shingle_size: int, unit: Unit = "char") -> None:
        if shingle_size not in SHINGLE_SIZES:
            raise SettingError(
                f"shingle size {shingle_size}: choose from "
                f"{SHINGLE_SIZES[0]} to {SHINGLE_SIZES[-1]}"
            )
        if unit not in get_args(Unit):
            raise SettingError(f"unit {unit!r}: choose from {', '.join(get_args(Unit))}")
        self.shingle_size = shingle_size
        self.unit = unit
        self.size = 0
        self._make_room(1 << 15)
        self._letters = np.empty((1 << 14) * max(shingle_size, 8), np.uint32)

    def _make_room(self, slots: int) -> None:
        self._keys = np.empty(slots, np.uint64)
        self._ids = np.full(slots, -1, np.int32)
        self._bounds = np.zeros(slots // 2 + 1, np.int64)

    def _grow(self, longest: int) -> None:
        """Double the table, and make room for the letters of a text of this length as well."""
        keys, ids, bounds, letters = self._keys, self._ids, self._bounds, self._letters
        self._make_room(2 * len(ids))
        chars.rehash(keys, ids, self._keys, self._ids)
        self._bounds[: len(bounds)] = bounds
        self._letters = np.empty(2 * len(letters) + self.shingle_size * longest, np.uint32)
        self._letters[: len(letters)] = letters

    def block(self, texts: Sequence[str]) -> TokenBlock:
        """Ids of the successive shingles of each text, normalised; new shingles get new ids.

        A text that has units but fewer than the size is one shingle; one without has none.
        """
        decoded = self._units(texts)
        block, misses = self._find(decoded)
        todo = np.flatnonzero(misses)
        while len(todo):
            done, self.size = self._learn(decoded, todo, block)
            todo = todo[done:]
            if len(todo):
                self._grow(int(decoded.lengths[todo[0]]))
        return block

    def _units(self, texts: Sequence[str]) -> _Units:
        decoded = _decode(texts)
        return _split(decoded) if self.unit == "word" else decoded

    def _find(self, decoded: _Units) -> tuple[TokenBlock, I64]:
        n = len(decoded.lengths)
        offsets = np.zeros(n + 1, np.int64)
        counts = np.maximum(decoded.counts - self.shingle_size + 1, decoded.counts > 0)
        np.cumsum(counts, out=offsets[1:])
        tokens = np.empty(offsets[-1], np.int32)
        misses = np.empty(n, np.int64)
        table = (self.shingle_size, self._keys, self._ids, offsets, tokens, misses)

        def find(lo: int, hi: int) -> None:
            if self.unit == "word":
                words.find(decoded.starts, decoded.hashes, decoded.counts, lo, hi, *table)
            else:
                chars.find(decoded.units, decoded.starts, decoded.lengths, lo, hi, *table)

        threads.over(n, find)
        status = np.where(decoded.counts > 0, Status.OK, Status.TOO_SHORT)
        status = np.where(decoded.lengths > 0, status, Status.EMPTY).astype(np.uint8)
        return TokenBlock(offsets, tokens, status), misses

    def _learn(self, decoded: _Units, todo: I64, block: TokenBlock) -> tuple[int, int]:
        table = (self.shingle_size, self._keys, self._ids, block.offsets, block.tokens)
        room = (self._letters, self._bounds, self.size)
        units, starts = decoded.units, decoded.starts
        if self.unit == "word":
            ends, hashes, counts = decoded.ends, decoded.hashes, decoded.counts
            return words.learn(units, starts, ends, hashes, counts, todo, *table, *room)
        return chars.learn(units, starts, decoded.lengths, todo, *table, *room)

    def shingles(self, start: int, stop: int) -> list[bytes]:
        """UTF-8 of the shingles with ids start to stop, 0 <= start <= stop <= `size`."""
        bounds = self._bounds[start : stop + 1]
        letters = self._letters[bounds[0] : bounds[-1]]
        joined = letters.astype("<u4").tobytes().decode("utf-32-le", _ERRORS)
        places = (bounds - bounds[0]).tolist()
        return [joined[low:high].encode("utf-8", _ERRORS) for low, high in pairwise(places)]
