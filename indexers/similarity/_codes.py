"""Similarities that are a function of the distance of codes or signatures."""

from __future__ import annotations

from typing import Any

import numpy as np

from indexers.codes import code_words
from indexers.kernels import threads
from indexers.types import F64, I64, U8, U32


def by_differing_bits(codes: U8, document_codes: U8, table: F64) -> F64:
    """table[Hamming distance]: float64 (m, n).

    Args:
        codes: uint8 (m, bits / 8).
        document_codes: uint8 (n, bits / 8).
        table: float64 (bits + 1,).
    """
    return _tabled(code_words(codes), code_words(document_codes), table, by_bits=True)


def by_differing_rows(signatures: U32, document_signatures: U32, table: F64) -> F64:
    """table[number of differing rows]: float64 (m, n).

    Args:
        signatures: uint32 (m, rows).
        document_signatures: uint32 (n, rows).
        table: float64 (rows + 1,).
    """
    return _tabled(signatures, document_signatures, table, by_bits=False)


def _tabled(queries: Any, documents: Any, table: F64, *, by_bits: bool) -> F64:
    from indexers.kernels.similarity import tabled_distances

    queries, columns = np.ascontiguousarray(queries), np.ascontiguousarray(documents.T)
    result = np.empty((len(queries), len(documents)))

    def work(lo: int, hi: int) -> None:
        tabled_distances(columns, queries, lo, hi, by_bits, table, result)

    threads.over_pairs(*result.shape, work)
    return result


def inverse_distances(most: int) -> F64:
    """1 / (1 + d) for d from 0 to `most`: float64 (most + 1,)."""
    return 1 / (1 + np.arange(most + 1))


def agreements(rows: int) -> F64:
    """Share of equal rows by the number of differing ones: float64 (rows + 1,)."""
    return (rows - np.arange(rows + 1)) / max(rows, 1)


def set_bits(codes: U8) -> I64:
    """Number of ones of each code: int64 (n,)."""
    ones: I64 = np.bitwise_count(codes).sum(axis=1, dtype=np.int64)
    return ones


def common_bits(codes: U8, document_codes: U8) -> F64:
    """Ones that both codes have: float64 (m, n), whole numbers.

    From the Hamming distance d: |a ∩ b| = (|a| + |b| − d) / 2.
    """
    halves = -0.5 * np.arange(8 * codes.shape[1] + 1)
    result = by_differing_bits(codes, document_codes, halves)
    result += 0.5 * set_bits(codes)[:, None]
    result += 0.5 * set_bits(document_codes)
    return result
