"""Files of vectors: `.npy`, or Parquet with a column of lists of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.collection.lines import brief, shown
from indexers.errors import CorpusError, InputError, MissingPackage, SettingError, pip_line
from indexers.types import F32

ID_COLUMNS = ("_id", "id", "doc_id", "document_id", "docid")

_NPY, _PARQUET = b"\x93NUMPY", b"PAR1"
_CHECK_ROWS = 8192
_WHAT = "give .npy with a float array (rows, D), or Parquet with a column of lists of numbers"


@dataclass(frozen=True, slots=True)
class VectorTable:
    """Vectors in the order of their file.

    Attributes:
        vectors: float32 (rows, D), finite.
        ids: one a row, unique; None where the file has none.
    """

    vectors: F32
    ids: Sequence[str] | None = None


def split(spec: str) -> tuple[Path, str | None]:
    """File and column of `FILE` or `FILE:COLUMN`; a file of the whole name goes first.

    Raises:
        CorpusError: there is no such file.
    """
    head, colon, column = spec.rpartition(":")
    if not spec or "\0" in spec:
        raise CorpusError(f"vectors {brief(spec)}: is no path; {_WHAT}")
    whole = Path(spec)
    path = Path(head) if colon and not whole.exists() else whole
    if not path.is_file():
        known = "is no file" if path.exists() else "no such file"
        raise CorpusError(f"{shown(path)}: {known}; {_WHAT}")
    return path, column if path is not whole else None


def dimension(spec: str) -> int:
    """D, from the head of the file.

    Raises:
        InputError: as `read_vectors`, as far as the head tells.
        MissingPackage: as `read_vectors`.
    """
    path, column = split(spec)
    if _is_parquet(path):
        return _parquet_dimension(path, column)
    return int(_mapped(path, column).shape[1])


def read_vectors(spec: str) -> VectorTable:
    """All vectors of `FILE` or `FILE:COLUMN`, rounded to float32.

    Args:
        spec: a column names the lists of a Parquet file; it may be left out where there is one
            such column. Its column of `ID_COLUMNS` (strings or integers) gives the ids.

    Raises:
        CorpusError: there is no such file, it is of another kind or shape, or a value is missing,
            NaN, infinite or beyond float32 (the first such row is named).
        SettingError: there is no such column, or the file has no columns.
        MissingPackage: pyarrow is needed and not installed.
    """
    path, column = split(spec)
    if _is_parquet(path):
        values, ids = _parquet(path, column)
    else:
        values, ids = _mapped(path, column), None
    with np.errstate(over="ignore"):  # what overflows is found as infinite
        vectors = np.ascontiguousarray(values, np.float32)
    for low in range(0, len(vectors), _CHECK_ROWS):
        good = np.isfinite(vectors[low : low + _CHECK_ROWS]).all(axis=1)
        if not good.all():
            raise _bad_row(path, low + int(np.argmin(good)))
    return VectorTable(vectors, ids)


def _bad_row(path: Path, row: int) -> CorpusError:
    return CorpusError(
        f"{shown(path)}: the vector in row {row} (from 0) has a value that is missing, NaN or "
        "infinite; mend or remove it"
    )


def _is_parquet(path: Path) -> bool:
    with _readable(path), path.open("rb") as stream:
        head = stream.read(len(_NPY))
    if head[: len(_PARQUET)] == _PARQUET:
        return True
    if head == _NPY:
        return False
    if head[:2] == b"PK":
        raise CorpusError(f"{shown(path)}: is an archive, such as .npz; save one array as .npy")
    raise CorpusError(f"{shown(path)}: is neither .npy nor Parquet; {_WHAT}")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except OSError as fault:
        reason = " ".join(str(fault.strerror or fault).split())[:120]
        raise CorpusError(f"{shown(path)}: cannot be read ({reason}); {_WHAT}") from fault
    except ValueError as fault:
        reason = " ".join(str(fault).split())[:120]
        raise CorpusError(f"{shown(path)}: is damaged ({reason}); {_WHAT}") from fault


def _mapped(path: Path, column: str | None) -> NDArray[Any]:
    """The array of a `.npy` file, not read yet."""
    if column is not None:
        raise SettingError(f"{shown(path)}: .npy has no columns: leave {column!r} out")
    with _readable(path):
        held = _open_npy(path)
    if held.dtype.kind != "f" or held.dtype.itemsize > 8:
        raise _other_array(path, f"holds {_kind(held.dtype)}")
    if held.ndim != 2 or not held.shape[1]:
        raise _other_array(path, f"has shape {held.shape}")
    return held


def _open_npy(path: Path) -> NDArray[Any]:
    with path.open("rb") as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_2_0
        if version == (1, 0):
            read = np.lib.format.read_array_header_1_0
        shape, _, dtype = read(stream)
    if dtype.hasobject or 0 in shape:  # neither can be mapped
        return np.empty(shape if not dtype.hasobject else (0,), dtype)
    held: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return held


def _kind(dtype: np.dtype[Any]) -> str:
    return "Python objects" if dtype.hasobject else f"{dtype.name} values"


def _other_array(path: Path, what: str) -> CorpusError:
    return CorpusError(
        f"{shown(path)}: {what}; it must be float16, float32 or float64 of shape (rows, D)"
    )


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as fault:
        raise MissingPackage(
            f"{shown(path)}: reading Parquet needs pyarrow: {pip_line('parquet')}, or "
            "give the vectors as .npy"
        ) from fault
    return pyarrow, pyarrow.parquet


def _list_columns(arrow: Any, schema: Any) -> list[str]:
    """Names of the columns of lists of numbers."""
    types = arrow.types
    return [
        one.name
        for one in schema
        if (
            types.is_list(one.type)
            or types.is_large_list(one.type)
            or types.is_fixed_size_list(one.type)
        )
        and (types.is_floating(one.type.value_type) or types.is_integer(one.type.value_type))
    ]


def _chosen(path: Path, arrow: Any, schema: Any, column: str | None) -> str:
    usable = _list_columns(arrow, schema)
    if column is None and len(usable) == 1:
        return usable[0]
    if column in usable:
        return str(column)
    there = ", ".join(usable) or f"none (there: {', '.join(schema.names) or 'no columns'})"
    if column is None:
        what = "which column holds the vectors is not clear"
    else:
        known = "is no list of numbers" if column in schema.names else "is not there"
        what = f"column {brief(column)} {known}"
    raise SettingError(f"{shown(path)}: {what}; choose FILE:COLUMN from: {there}")


def _parquet_dimension(path: Path, column: str | None) -> int:
    arrow, parquet = _pyarrow(path)
    with _readable(path), parquet.ParquetFile(path) as held:
        name = _chosen(path, arrow, held.schema_arrow, column)
        kind = held.schema_arrow.field(name).type
        if arrow.types.is_fixed_size_list(kind):
            return int(kind.list_size)
        for batch in held.iter_batches(batch_size=1, columns=[name]):
            first = batch.column(0)[0]
            if first.is_valid:
                return len(first)
            raise _bad_row(path, 0)
    raise CorpusError(f"{shown(path)}: holds no rows; {_WHAT}")


def _parquet(path: Path, column: str | None) -> tuple[NDArray[Any], list[str] | None]:
    arrow, parquet = _pyarrow(path)
    with _readable(path):
        schema = parquet.read_schema(path)
        name = _chosen(path, arrow, schema, column)
        id_column = next((one for one in ID_COLUMNS if one in schema.names), None)
        table = parquet.read_table(path, columns=[name, *([id_column] if id_column else [])])
    ids = None if id_column is None else _ids(path, id_column, table.column(id_column).to_pylist())
    return _lists(path, table.column(name).combine_chunks()), ids


def _lists(path: Path, lists: Any) -> NDArray[Any]:
    """A column of lists, all of one length, as an array (rows, D)."""
    if not len(lists):
        raise CorpusError(f"{shown(path)}: holds no rows; {_WHAT}")
    if lists.null_count:
        raise _bad_row(path, int(np.argmax(lists.is_null().to_numpy(zero_copy_only=False))))
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    other = np.flatnonzero(lengths != lengths[0])
    if len(other) or not lengths[0]:
        row = int(other[0]) if len(other) else 0
        raise CorpusError(
            f"{shown(path)}: the vector in row {row} (from 0) has {lengths[row]} values, that in "
            f"row 0 has {lengths[0]}; all must have the same D, at least 1"
        )
    flat = lists.flatten()
    if flat.null_count:
        place = int(np.argmax(flat.is_null().to_numpy(zero_copy_only=False)))
        raise _bad_row(path, place // int(lengths[0]))
    values: NDArray[Any] = flat.to_numpy(zero_copy_only=False).reshape(len(lists), -1)
    return values


def _ids(path: Path, column: str, values: list[object]) -> list[str]:
    seen: dict[str, int] = {}
    for row, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise CorpusError(
                f"{shown(path)}: {column} in row {row} (from 0) is {brief(value)}; ids must be "
                "strings or integers"
            )
        first = seen.setdefault(str(value), row)
        if first != row:
            raise CorpusError(
                f"{shown(path)}: {column} {brief(value)} is given twice, in rows {first} and {row} "
                "(from 0); remove one of the two"
            )
    return list(seen)
