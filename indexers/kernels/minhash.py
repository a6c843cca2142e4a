"""Minima of affine permutations over a document's shingles."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.kernels.lanes import ROWS, lower_eight
from indexers.types import I64, U8, U32

_FIBONACCI = np.uint32(0x9E3779B1)  # 2^32 over the golden ratio, to the next prime
_TILE = 64  # documents whose keys are written together: whole cache lines of each table


@njit(cache=True, nogil=True)
def _distinct(tokens: U32, document: int, hashes: U32, last: I64, found: U32) -> int:
    """Hashes of a document's distinct tokens; the last is repeated up to a multiple of 8.

    Args:
        tokens: uint32, at least one.
        document: its number.
        hashes: uint32 (shingles,).
        last: int64 (shingles,), the last document that held each shingle, updated.
        found: uint32 (len(tokens) + 8 at least), receives the hashes.

    Returns:
        How many hashes there are, a multiple of 8.
    """
    size = 0
    for token in tokens:
        found[size] = hashes[token]
        size += last[token] != document
        last[token] = document
    while size & 7:
        found[size] = found[size - 1]
        size += 1
    return size


@njit(cache=True, nogil=True)
def _lower(found: U32, a: U32, b: U32, minima: U32) -> None:
    """Take eight hashes' permuted values into the minima."""
    eight = (found[0], found[1], found[2], found[3], found[4], found[5], found[6], found[7])
    for row in range(0, len(a), ROWS):
        lower_eight(minima, a, b, row, eight)


@njit(cache=True, nogil=True)
def hash_documents(
    tokens: U32,
    offsets: I64,
    lo: int,
    hi: int,
    hashes: U32,
    a: U32,
    b: U32,
    key_places: I64,
    codes: U8,
    keys: U32,
    signatures: U32,
) -> None:
    """Codes, keys and signatures of documents lo to hi; zeros for those without tokens.

    Args:
        tokens: uint32, shingle ids.
        offsets: int64 (n + 1,).
        lo: first document.
        hi: one past the last.
        hashes: uint32 (shingles,).
        a: uint32 (permutations,), odd factors; the code's permutations come first, and their
            number is a multiple of ROWS.
        b: uint32 (permutations,), summands.
        key_places: int64 (num_tables,), which permutation is each key's first row.
        codes: uint8 (n, bits / 8), written.
        keys: uint32 (num_tables, rows, n), written.
        signatures: uint32 (n, bits) or (0, 0), written.
    """
    longest = 0
    for i in range(lo, hi):
        longest = max(longest, offsets[i + 1] - offsets[i])
    last, found = np.full(len(hashes), -1, np.int64), np.empty(longest + 8, np.uint32)
    rows = np.empty((_TILE, len(a)), np.uint32)
    for first in range(lo, hi, _TILE):
        stop = min(first + _TILE, hi)
        for i in range(first, stop):
            minima = rows[i - first]
            if offsets[i] == offsets[i + 1]:
                minima[:] = 0
                continue
            minima[:] = np.uint32(0xFFFFFFFF)
            size = _distinct(tokens[offsets[i] : offsets[i + 1]], i, hashes, last, found)
            for at in range(0, size, 8):
                _lower(found[at : at + 8], a, b, minima)
            for byte in range(codes.shape[1]):
                packed = 0
                for bit in range(8):
                    mixed = np.uint32(minima[8 * byte + bit] * _FIBONACCI)
                    packed = packed << 1 | int(mixed >> np.uint32(31))
                codes[i, byte] = packed
            if len(signatures):
                signatures[i] = minima[: signatures.shape[1]]
        for table in range(len(key_places)):
            for row in range(keys.shape[1]):
                for i in range(first, stop):
                    keys[table, row, i] = rows[i - first, key_places[table] + row]
