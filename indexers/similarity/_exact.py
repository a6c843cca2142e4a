"""Scalar products whose floating-point sums are exact, hence the same in every order.

A matrix product may add up in any order, which depends on the block's shape, the threads and
the machine. Here each row is scaled by a power of two and cut into a high and a low part of so
few bits that every partial sum of a product of parts fits the 53 bits of a float64: nothing is
ever rounded (Ozaki, Ogita, Oishi and Rump, "Error-free transformations of matrix
multiplication", 2012). The four products are added in a fixed order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from indexers.types import F32, F64, I32

_EXACT_BITS = 53


@dataclass(frozen=True, slots=True)
class Cut:
    """Rows as (high + low) · 2^exponent.

    Attributes:
        high: float64 (n, D), magnitudes at most 1.
        low: float64 (n, D).
        exponent: int32 (n,).
    """

    high: F64
    low: F64
    exponent: I32


def cut(vectors: F32) -> Cut:
    """Cut rows into parts; what is below 2^-44 of a row's greatest component is dropped for
    D up to 512, one bit more for each doubling of D.

    Args:
        vectors: float32 (n, D).
    """
    rows = vectors.astype(np.float64)
    log_width = max(rows.shape[1] - 1, 0).bit_length()
    high_bits = (_EXACT_BITS - log_width) // 2
    low_bits = (_EXACT_BITS + 2 + 2 * high_bits - log_width) // 2
    low_bits = min(low_bits, _EXACT_BITS + 1 - log_width)
    _, exponent = np.frexp(np.abs(rows).max(axis=1, initial=0.0))
    rows *= np.ldexp(1.0, -exponent)[:, None]
    high = _rounded(rows, high_bits)
    rows -= high
    return Cut(high, _rounded(rows, low_bits), exponent.astype(np.int32))


def _rounded(rows: F64, bits: int) -> F64:
    """To multiples of 2^-bits."""
    result = rows * 2.0**bits
    np.rint(result, out=result)
    result *= 2.0**-bits
    return result


def scaled_products(a: Cut, b: Cut) -> F64:
    """Products without the exponents of the rows: float64 (m, n)."""
    crossed = a.high @ b.low.T + a.low @ b.high.T
    result: F64 = a.high @ b.high.T
    result += crossed
    result += a.low @ b.low.T
    return result


def scaled_squares(a: Cut) -> F64:
    """The product of each row with itself, equal to `scaled_products` there: float64 (n,)."""
    crossed = 2 * (a.high * a.low).sum(axis=1)
    return np.asarray((a.high * a.high).sum(axis=1) + crossed + (a.low * a.low).sum(axis=1))
