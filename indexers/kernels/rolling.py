"""Rolling hashes of k-grams, and the selection of Winnowing."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.kernels.mix import GAMMA, mix
from indexers.types import I64, U32, U64

_SPACE = np.uint32(32)


@njit(cache=True, nogil=True)
def char_values(
    units: U32, starts: I64, lengths: I64, lo: int, hi: int, start: np.uint64, values: U64
) -> None:
    """Values of the code points of texts lo to hi, in place of each.

    Args:
        units: uint32, code points; text i has lengths[i] of them from starts[i] on.
        starts: int64 (n + 1,).
        lengths: int64 (n,).
        lo: first text.
        hi: one past the last.
        start: seeded.
        values: uint64, as long as `units`; receives mix(start + gamma * code point).
    """
    for i in range(lo, hi):
        for at in range(starts[i], starts[i] + lengths[i]):
            values[at] = mix(start + GAMMA * np.uint64(units[at]))


@njit(cache=True, nogil=True)
def word_values(
    units: U32, starts: I64, lengths: I64, lo: int, hi: int, start: np.uint64, values: U64
) -> None:
    """Values of the words of texts lo to hi, parted by single spaces; lengths become theirs.

    A word's value starts at `start`; each code point c makes v into mix(v + gamma * (c + 1)).

    Args:
        units: as in `char_values`.
        starts: as in `char_values`.
        lengths: code points before, words afterwards.
        lo: first text.
        hi: one past the last.
        start: seeded.
        values: as long as `units`; receives text i's values from starts[i] on.
    """
    for i in range(lo, hi):
        out, value = starts[i], start
        for at in range(starts[i], starts[i] + lengths[i]):
            if units[at] == _SPACE:
                values[out] = value
                out += 1
                value = start
            else:
                value = mix(value + GAMMA * np.uint64(np.int64(units[at]) + 1))
        if lengths[i] > 0:
            values[out] = value
            out += 1
        lengths[i] = out - starts[i]


@njit(cache=True, nogil=True)
def roll(
    values: U64,
    starts: I64,
    lengths: I64,
    lo: int,
    hi: int,
    size: int,
    base: np.uint64,
    offsets: I64,
    hashes: U64,
) -> None:
    """Hashes of the k-grams of texts lo to hi; a shorter text is one k-gram.

    Args:
        values: uint64, of the units; text i has lengths[i] of them from starts[i] on.
        starts: int64 (n + 1,).
        lengths: int64 (n,).
        lo: first text.
        hi: one past the last.
        size: units a k-gram.
        base: odd.
        offsets: int64 (n + 1,), where each text's hashes go.
        hashes: uint64 (offsets[n],), receives them in the order of the text.
    """
    highest = np.uint64(1)
    for _ in range(size - 1):
        highest *= base
    for i in range(lo, hi):
        state = np.uint64(0)
        at, out = starts[i], offsets[i]
        for j in range(min(size, lengths[i])):
            state = state * base + values[at + j]
        if lengths[i] > 0:
            hashes[out] = mix(state)
        for j in range(1, offsets[i + 1] - out):
            state = (state - values[at + j - 1] * highest) * base + values[at + j + size - 1]
            hashes[out + j] = mix(state)


@njit(cache=True, nogil=True)
def select(
    hashes: U64, offsets: I64, lo: int, hi: int, window: int, positions: I64, counts: I64
) -> None:
    """Positions of the rightmost minimum of each window, for lists lo to hi, each told once.

    Args:
        hashes: uint64; list i is offsets[i] to offsets[i + 1].
        offsets: int64 (n + 1,).
        lo: first list.
        hi: one past the last.
        window: hashes a window; a shorter list is one window.
        positions: int64, as long as `hashes`; receives list i's from offsets[i] on, counted
            from 0 at its start, ascending.
        counts: int64 (n,), receives how many there are.
    """
    for i in range(lo, hi):
        first, length = offsets[i], offsets[i + 1] - offsets[i]
        width, out, least = min(window, length), first, -1
        for j in range(length):
            begin = j - width + 1
            if least < 0 or hashes[first + j] <= hashes[first + least]:
                least = j
            elif least < begin:
                least = j
                for back in range(j - 1, begin - 1, -1):
                    if hashes[first + back] < hashes[first + least]:
                        least = back
            elif begin != 0:
                continue
            if begin >= 0:
                positions[out] = least
                out += 1
        counts[i] = out - first


@njit(cache=True, nogil=True)
def gather(
    hashes: U64, offsets: I64, lo: int, hi: int, positions: I64, indptr: I64, kept: U64
) -> None:
    """The hashes at the positions that `select` gave, list after list.

    Args:
        hashes: as in `select`.
        offsets: as in `select`.
        lo: first list.
        hi: one past the last.
        positions: from `select`.
        indptr: int64 (n + 1,), where each list's kept hashes go.
        kept: uint64 (indptr[n],), receives them.
    """
    for i in range(lo, hi):
        for j in range(indptr[i + 1] - indptr[i]):
            kept[indptr[i] + j] = hashes[offsets[i] + positions[offsets[i] + j]]
