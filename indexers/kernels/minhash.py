"""Minima of affine permutations over a document's shingles."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.types import I64, U8, U32


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
    """Codes, keys and signatures of documents lo to hi; those without tokens are passed over.

    Args:
        tokens: uint32, shingle ids.
        offsets: int64 (n + 1,).
        lo: first document.
        hi: one past the last.
        hashes: uint32 (shingles,).
        a: uint32 (permutations,), odd factors; the code's permutations come first.
        b: uint32 (permutations,), summands.
        key_places: int64 (num_tables,), which permutation is each key's first row.
        codes: uint8 (n, bits / 8), written.
        keys: uint32 (num_tables, rows, n), written.
        signatures: uint32 (n, bits) or (0, 0), written.
    """
    minima = np.empty(len(a), np.uint32)
    for i in range(lo, hi):
        start, stop = offsets[i], offsets[i + 1]
        if start == stop:
            continue
        minima[:] = np.uint32(0xFFFFFFFF)
        for token in range(start, stop, 4):
            h0 = hashes[tokens[token]]
            h1 = hashes[tokens[min(token + 1, stop - 1)]]
            h2 = hashes[tokens[min(token + 2, stop - 1)]]
            h3 = hashes[tokens[min(token + 3, stop - 1)]]
            for j in range(len(a)):
                p0 = np.uint32(a[j] * h0 + b[j])
                p1 = np.uint32(a[j] * h1 + b[j])
                p2 = np.uint32(a[j] * h2 + b[j])
                p3 = np.uint32(a[j] * h3 + b[j])
                minima[j] = min(minima[j], p0, p1, p2, p3)
        for byte in range(codes.shape[1]):
            packed = 0
            for bit in range(8):
                packed = packed << 1 | int(minima[8 * byte + bit] & np.uint32(1))
            codes[i, byte] = packed
        for table in range(len(key_places)):
            for row in range(keys.shape[1]):
                keys[table, row, i] = minima[key_places[table] + row]
        if len(signatures):
            signatures[i] = minima[: signatures.shape[1]]
