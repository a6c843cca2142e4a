"""Blocks of vectors, as every family over vectors takes them: checked, told apart, scaled.

`fixed_point` makes whole numbers of a vector, so that sums of products with other whole numbers
are exact in float64 whatever the order of the additions: no BLAS, thread or block changes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from indexers.errors import SettingError
from indexers.limits import MAX_BITS
from indexers.types import F32, F64, U8, Fingerprints, Items, Status

MAX_DIMENSION = 65_536
SCALE_BITS = 26
BLOCK_ROWS = 512
BLOCK_VALUES = 2**17

Peaks: TypeAlias = F32


def checked(items: Items, dimension: int, name: str) -> tuple[F32, U8, Peaks]:
    """One block of vectors, rounded to float32.

    Args:
        items: float16, float32 or float64 (n, D); anything of length 0 is no vectors.
        dimension: the D that is expected.
        name: of who asks, for messages.

    Returns:
        float32 (n, D) in C order; uint8 (n,), EMPTY for zero vectors, else OK; float32 (n,),
        the greatest absolute value of each row.

    Raises:
        SettingError: no two-dimensional array of floats, another D, or a value that is NaN,
            infinite or beyond float32 (the first such row is named).
    """
    given = np.asarray(items)
    if len(given.shape) and not len(given):
        given = np.zeros((0, dimension), np.float32)
    if given.ndim != 2 or given.dtype.kind != "f":
        raise SettingError(
            f"{name}: takes float vectors (n, D), not {given.dtype} {given.shape}: "
            "give a two-dimensional array of float32 or float64"
        )
    if given.shape[1] != dimension:
        raise SettingError(
            f"{name}: vectors have D {given.shape[1]}, expected {dimension}: "
            "documents and queries must come from one model"
        )
    with np.errstate(over="ignore"):  # what overflows is found as infinite
        vectors = np.ascontiguousarray(given, np.float32)
    peaks = np.zeros(len(vectors), np.float32)
    for rows in blocks(len(vectors)):
        peaks[rows] = np.abs(vectors[rows]).max(axis=1, initial=0)
    wrong = np.flatnonzero(~np.isfinite(peaks))
    if len(wrong):
        raise SettingError(
            f"{name}: the vector in row {wrong[0]} (from 0) has a value that is NaN or infinite, "
            f"as have {len(wrong) - 1} more: mend or remove them"
        )
    status = np.where(peaks > 0, Status.OK, Status.EMPTY).astype(np.uint8)
    return vectors, status, peaks


def dimension_problems(name: str, dimension: int | None) -> list[str]:
    """The problem with a dimension above the greatest, if there is one; `limits` tells others."""
    if dimension is None or dimension <= MAX_DIMENSION:
        return []
    return [f"{name}: dimension {dimension} is out of range: 1 to {MAX_DIMENSION}"]


def width_problems(name: str, bits: int) -> list[str]:
    """The problem with a width that must be whole bytes, if there is one."""
    if bits % 8 == 0 and 8 <= bits <= MAX_BITS:
        return []
    return [f"{name}: bits {bits} is out of range: a multiple of 8 from 8 to {MAX_BITS}"]


def blocks(n: int, width: int = 0) -> Iterator[slice]:
    """Slices that cover n rows, few enough rows each to stay in the processor's cache.

    Args:
        n: rows.
        width: float64 values that are made of each row.
    """
    rows = min(BLOCK_ROWS, max(BLOCK_VALUES // max(width, 1), 64))
    return (slice(low, min(low + rows, n)) for low in range(0, n, rows))


def fixed_point(vectors: F32, peaks: Peaks) -> F64:
    """Each vector times the power of two that brings its peak to 2^25 … 2^26, rounded.

    Args:
        vectors: float32 (n, D), finite.
        peaks: float32 (n,), the greatest absolute values of the rows.

    Returns:
        float64 (n, D), whole numbers of at most 2^26; half-way cases go to the even one.
    """
    exponents = np.frexp(peaks)[1]
    scales = np.ldexp(1.0, SCALE_BITS - exponents)
    scaled = vectors.astype(np.float64)  # in place is 4 times as fast as a multiply that casts
    scaled *= scales[:, None]
    np.rint(scaled, out=scaled)
    return scaled


def unit_length(vectors: F32) -> F32:
    """Each vector divided by its Euclidean length, zero vectors left zero: float32 (n, D).

    Squares are added in float64 by halving: the second half of the (zero-padded) row is added
    to the first until one value is left. The order is fixed, so the result is the same
    everywhere.
    """
    out = np.zeros_like(vectors)
    for rows in blocks(len(vectors)):
        block = vectors[rows].astype(np.float64)
        lengths = np.sqrt(_halved(block * block))
        lengths[lengths == 0] = 1
        out[rows] = block / lengths[:, None]
    return out


def fingerprints(items: Items, dimension: int, name: str) -> Fingerprints:
    """The vectors themselves at unit length; EMPTY where all values are 0.

    The arguments, and what is refused, are those of `checked`.
    """
    rows, status, _ = checked(items, dimension, name)
    codes, keys = np.zeros((len(rows), 0), np.uint8), np.zeros((0, 0, len(rows)), np.uint32)
    return Fingerprints(status, codes, keys, "bit", vectors=unit_length(rows))


def _halved(values: F64) -> F64:
    n, width = values.shape
    padded = np.zeros((n, 1 << max(width - 1, 0).bit_length()))
    padded[:, :width] = values
    while padded.shape[1] > 1:
        half = padded.shape[1] // 2
        padded = padded[:, :half] + padded[:, half:]
    total: F64 = padded[:, 0]
    return total
