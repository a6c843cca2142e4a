"""Raw arrays from files: codes, labels, neighbours, vectors. What is wrong is one line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.collection.lines import brief, numbered, shown
from indexers.errors import SettingError
from indexers.types import F64, I64, U8

BLOCK = 65_536
"""Rows looked at and packed at a time."""
MAX_BITS = 65_535
"""Distances are counted in 16 bits."""

AnyArray: TypeAlias = NDArray[Any]


def load(path: Path, dimensions: int, what: str) -> AnyArray:
    """A `.npy` file, mapped rather than read.

    Args:
        path: of the file.
        dimensions: how many the array must have; 0 for any.
        what: it holds, for messages.

    Raises:
        SettingError: it is missing, no `.npy` file, holds objects, or has other dimensions.
    """
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as fault:
        reason = fault.strerror or "cut short"
        raise SettingError(f"{shown(path)}: cannot be read ({reason}); give a .npy file") from fault
    except (ValueError, EOFError) as fault:
        raise SettingError(
            f"{shown(path)}: is no .npy file of numbers; save {what} with numpy.save"
        ) from fault
    if not isinstance(array, np.ndarray):
        array.close()
        raise SettingError(f"{shown(path)}: holds several arrays; save {what} as one .npy file")
    if dimensions and array.ndim != dimensions:
        shape = " × ".join(map(str, array.shape)) or "one number"
        form = "one row a code or vector" if dimensions == 2 else "one value a row"
        raise SettingError(f"{shown(path)}: {what} have the shape {shape}; give {form}")
    return array


def read_codes(path: Path, *, packed: bool, bits: int | None) -> tuple[int, U8]:
    """Codes as packed bytes, and their width B.

    Values 0/1 and −1/1 are told apart by looking: 1 is a set bit. Packed codes have bytes of 8
    bits, the first bit highest, and must be named as such, since bytes of 0 and 1 look like bits.

    Args:
        path: a `.npy` file (n, B), or packed (n, bytes).
        packed: the file holds packed bytes.
        bits: B of packed codes, or what the width must be; None for the file's own.

    Raises:
        SettingError: the file holds something else, or its width is not `bits`.
    """
    array = load(path, 2, "codes")
    if 0 in array.shape:
        raise SettingError(f"{shown(path)}: holds no codes; give one row a code")
    held = 8 * array.shape[1] if packed else array.shape[1]
    if held > MAX_BITS:
        raise SettingError(
            f"{shown(path)}: codes have {held} bits; at most {MAX_BITS} are compared"
        )
    if packed:
        return _packed_codes(path, array, held, held if bits is None else bits)
    if bits is not None and bits != held:
        raise SettingError(
            f"{shown(path)}: codes have {held} bits, --bits is {bits}; "
            "leave --bits out, or say --packed if each value is a byte of 8 bits"
        )
    return held, _packed_bits(path, array)


def _packed_codes(path: Path, array: AnyArray, held: int, bits: int) -> tuple[int, U8]:
    if array.dtype.kind not in "iu" or array.dtype.itemsize != 1:
        raise SettingError(f"{shown(path)}: packed codes are uint8, these are {array.dtype}")
    if not held - 8 < bits <= held:
        raise SettingError(
            f"{shown(path)}: {array.shape[1]} bytes hold {held - 7} to {held} bits, "
            f"--bits is {bits}"
        )
    codes = np.ascontiguousarray(array).view(np.uint8)
    spare = np.flatnonzero(codes[:, -1] & np.uint8((1 << (held - bits)) - 1))
    if len(spare):
        raise SettingError(
            f"{shown(path)} row {spare[0]}: sets a bit beyond the first {bits}; "
            "the bits that fill the last byte must be 0"
        )
    return bits, codes


def _packed_bits(path: Path, array: AnyArray) -> U8:
    """Pack 0/1 or −1/1; a file that holds both 0 and −1 never decided the sign of 0."""
    if array.dtype.kind not in "biuf":
        raise SettingError(f"{shown(path)}: codes are {array.dtype}; give numbers, 0/1 or -1/1")
    codes = np.empty((len(array), -(-array.shape[1] // 8)), np.uint8)
    zeros = minus = False
    for start in range(0, len(array), BLOCK):
        values = array[start : start + BLOCK]
        ones, zero, less = values == 1, values == 0, values == -1
        known = ones | zero | less
        if not known.all():
            raise _no_bit(path, values, np.argwhere(~known)[0], start)
        zeros, minus = zeros or bool(zero.any()), minus or bool(less.any())
        codes[start : start + BLOCK] = np.packbits(ones, axis=1)
    if zeros and minus:
        raise SettingError(
            f"{shown(path)}: holds 0 beside -1; codes are 0/1 or -1/1: decide which bit 0 is"
        )
    return codes


def _no_bit(path: Path, values: AnyArray, at: AnyArray, first: int) -> SettingError:
    row, column = at
    hint = "; packed bytes want --packed" if values.dtype == np.uint8 else ""
    return SettingError(
        f"{shown(path)} row {first + row}, column {column}: {values[row, column]:g} is no bit; "
        f"codes are 0/1 or -1/1{hint}"
    )


def read_labels(path: Path, query_path: Path | None) -> tuple[I64, I64]:
    """Labels of documents and of queries as numbers: equal labels, equal numbers.

    Args:
        path: `.npy` of numbers or strings, or text with one label a line.
        query_path: as `path`; None for no queries.

    Raises:
        SettingError: a file cannot be read, is not one label a row, or holds NaN.
    """
    sides = [_labels(path), np.empty(0, np.str_) if query_path is None else _labels(query_path)]
    if len({side.dtype.kind in "US" for side in sides if len(side)}) > 1:
        sides = [side.astype(np.str_) for side in sides]
    if query_path is None:
        sides[1] = sides[0][:0]
    _, numbers = np.unique(np.concatenate(sides), return_inverse=True)
    return numbers[: len(sides[0])].astype(np.int64), numbers[len(sides[0]) :].astype(np.int64)


def _labels(path: Path) -> AnyArray:
    if path.suffix != ".npy":
        return np.array([line for _, line in text_lines(path)], np.str_)
    labels = np.asarray(load(path, 0, "labels"))
    if labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    if labels.ndim != 1:
        shape = " × ".join(map(str, labels.shape))
        raise SettingError(
            f"{shown(path)}: labels have the shape {shape}; give one label a row "
            "(where several labels may agree, give --judgments)"
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        row = int(np.flatnonzero(np.isnan(labels))[0])
        raise SettingError(f"{shown(path)} row {row}: the label is NaN; give every row a label")
    if labels.dtype.kind not in "biufUS":
        raise SettingError(f"{shown(path)}: labels are {labels.dtype}; give numbers or strings")
    return labels


def text_lines(path: Path) -> list[tuple[int, str]]:
    """The lines of a text file that are not blank, trimmed, with their numbers.

    Raises:
        SettingError: it cannot be read, or is not UTF-8.
    """
    lines = []
    for number, line in numbered(path, SettingError):
        try:
            lines.append((number, line.decode("utf-8").strip()))
        except UnicodeDecodeError as fault:
            raise SettingError(
                f"{shown(path)} line {number}: is not UTF-8; save the file as UTF-8"
            ) from fault
    return lines


def read_ids(path: Path, rows: int) -> Sequence[str]:
    """One id a line, as many as there are rows.

    Raises:
        SettingError: their number differs, or one stands twice.
    """
    lines = text_lines(path)
    if len(lines) != rows:
        raise SettingError(f"{shown(path)}: holds {len(lines)} ids for {rows} rows")
    seen: dict[str, int] = {}
    for number, name in lines:
        if seen.setdefault(name, number) != number:
            raise SettingError(
                f"{shown(path)} line {number}: id {brief(name)} stands in line {seen[name]} already"
            )
    return list(seen)


def read_neighbours(path: Path, documents: int) -> I64:
    """Relevant documents of each query as row numbers, int64 (queries, K), padded with -1.

    Raises:
        SettingError: the file holds something else, or a number that is no row.
    """
    ids = np.asarray(load(path, 2, "neighbours"))
    if ids.dtype.kind not in "iu":
        raise SettingError(f"{shown(path)}: neighbours are {ids.dtype}; give whole row numbers")
    ids = ids.astype(np.int64)
    wrong = np.argwhere((ids < -1) | (ids >= documents))
    if len(wrong):
        row, column = wrong[0]
        raise SettingError(
            f"{shown(path)} row {row}: neighbour {ids[row, column]} is no row of the codes; "
            f"give 0 to {documents - 1}, or -1 for none"
        )
    return ids


def read_vectors(path: Path) -> F64:
    """Vectors, float64 (n, D).

    Raises:
        SettingError: the file holds something else, NaN or infinity.
    """
    array = load(path, 2, "vectors")
    if array.dtype.kind not in "iuf" or 0 in array.shape:
        raise SettingError(f"{shown(path)}: holds no vectors of numbers; give one row a vector")
    vectors = array.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise SettingError(
            f"{shown(path)} row {bad[0]}: holds NaN or infinity; mend the vector or leave it out"
        )
    return vectors
