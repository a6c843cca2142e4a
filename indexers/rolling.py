"""Rolling hashes of all k-grams of normalised texts, the base of Karp-Rabin and Winnowing.

The hash of units u(1) … u(k) is mix(Σ v(u(i)) * B^(k - i)) modulo 2^64 (Karp and Rabin 1987 with
seeded random values of the units: the randomised integer division of Lemire and Kaser,
"Recursive n-gram hashing is pairwise independent, at best", 2010). mix is the finalizer of
splitmix64, so that all bits of a hash depend on all units; gamma is its increment. B is
mix(seed + gamma) with its lowest three bits set to 101: powers of such a B differ in their low
bits, so that few k-grams of the same units in another order meet. A code point c has the value
mix(s + gamma * c), s = mix(seed + 2 * gamma); a word's value takes in its code points one by one,
as `indexers.kernels.rolling.word_values` tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from indexers.atoms import GAMMA, mixed
from indexers.kernels import rolling as kernel
from indexers.kernels import shingles, threads
from indexers.normaliser import normalise
from indexers.types import I64, U8, U64, HashParams, Ragged, Status

CHUNK = 1 << 21
"""Characters hashed at a time, so that the arrays of a chunk stay small."""
_NO_WORD = re.compile(r"\W+")


def chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Successive texts of at least `CHUNK` characters together (the last ones: of any length)."""
    start, held = 0, 0
    for i, text in enumerate(texts):
        held += len(text)
        if held >= CHUNK:
            yield texts[start : i + 1]
            start, held = i + 1, 0
    if start < len(texts):
        yield texts[start:]


def status_of(texts: Sequence[str], hashes: Ragged) -> U8:
    """Statuses of texts by their hashes: uint8 (n,).

    Without a hash, TOO_SHORT where characters are left after normalising (k-grams of words, and
    no word), else EMPTY.
    """
    status = np.full(len(texts), Status.OK, np.uint8)
    for row in np.flatnonzero(np.diff(hashes.indptr) == 0).tolist():
        status[row] = Status.TOO_SHORT if normalise(texts[row]) else Status.EMPTY
    return status


class Roller:
    """Hashes the k-grams of texts; depends on `seed`, `shingle_size` and `unit` alone.

    Args:
        params: how to hash; `unit` tells whether k-grams are of code points or of words
            (runs of `\\w` in the normalised text).
    """

    def __init__(self, params: HashParams) -> None:
        self._size, self._words = params.shingle_size, params.unit == "word"
        # as an array: numpy warns of the overflow of scalars
        drawn = mixed(np.uint64(params.seed) + np.array([1, 2], np.uint64) * GAMMA)
        self._base, self._start = drawn[0] & ~np.uint64(7) | np.uint64(5), drawn[1]

    def __call__(self, texts: Sequence[str]) -> Ragged:
        """Hashes of all k-grams of raw texts, in the order of the text.

        A text that is not empty but shorter than `shingle_size` is one k-gram.
        """
        values, starts, lengths = self._values(texts)
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(np.maximum(lengths - self._size + 1, lengths > 0), out=offsets[1:])
        hashes = np.empty(offsets[-1], np.uint64)

        def roll(lo: int, hi: int) -> None:
            kernel.roll(values, starts, lengths, lo, hi, self._size, self._base, offsets, hashes)

        threads.over(len(texts), roll)
        return Ragged(offsets, hashes)

    def _encoded(self, text: str) -> bytes:
        # the kernel folds ASCII, much faster than `normalise`
        text = text if text.isascii() else normalise(text)
        if self._words:
            text = _NO_WORD.sub(" ", text)
        return text.encode("utf-8", "surrogatepass")

    def _values(self, texts: Sequence[str]) -> tuple[U64, I64, I64]:
        """Values of the units: text i has lengths[i] of them from starts[i] on."""
        encoded = [self._encoded(text) for text in texts]
        starts = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=starts[1:])
        data = np.frombuffer(b"".join(encoded), np.uint8)
        units, values = np.empty(len(data), np.uint32), np.empty(len(data), np.uint64)
        lengths = np.empty(len(encoded), np.int64)
        of_units = kernel.word_values if self._words else kernel.char_values

        def evaluate(lo: int, hi: int) -> None:
            shingles.decode(data, starts, lo, hi, units, lengths)
            of_units(units, starts, lengths, lo, hi, self._start, values)

        threads.over(len(encoded), evaluate)
        return values, starts, lengths
