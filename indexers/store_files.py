"""The .npy files of fingerprints, written a block at a time in memory that does not grow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

from indexers.manifest import Array
from indexers.types import Fingerprints, Ragged

FIXED = ("status", "codes", "keys", "signatures", "vectors")
RAGGED = ("hashes", "strings")
NAMES = (*FIXED, *(f"{name}_{part}" for name in RAGGED for part in ("indptr", "values")))
"""Every file that fingerprints can have, less its suffix."""


def arrays_of(fp: Fingerprints) -> dict[str, Array]:
    """The arrays of fingerprints under the names of their files; without what is None."""
    arrays = {name: getattr(fp, name) for name in FIXED}
    for name in RAGGED:
        ragged: Ragged | None = getattr(fp, name)
        if ragged is not None:
            arrays[f"{name}_indptr"], arrays[f"{name}_values"] = ragged.indptr, ragged.values
    return {name: array for name, array in arrays.items() if array is not None}


def read_back(path: Path) -> Array:
    """The array of this file, mapped read-only unless it is empty."""
    try:
        array: Array = np.load(path, mmap_mode="r")
    except ValueError:  # an array without entries cannot be mapped
        array = np.load(path)
    return array


class BlockWriter:
    """Writes the fingerprints of n documents, given in blocks from the first to the last.

    Args:
        folder: receives the files.
        n: how many documents will be given.
    """

    def __init__(self, folder: Path, n: int) -> None:
        self._folder, self._n = folder, n
        self._done = 0
        self._put: dict[str, Callable[[Array], None]] = {}
        self._close: list[Callable[[], None]] = []

    def add(self, block: Fingerprints) -> None:
        """Write the next documents."""
        for name, array in arrays_of(block).items():
            if name not in self._put:
                self._put[name] = self._opened(name, array)
            self._put[name](array)
        self._done += len(block)

    def close(self) -> None:
        """Complete the files."""
        for close in self._close:
            close()
        self._close = []

    def arrays(self) -> dict[str, Array]:
        """What the closed files hold."""
        return {name: read_back(self._path(name)) for name in self._put}

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.npy"

    def _opened(self, name: str, block: Array) -> Callable[[Array], None]:
        if name.endswith("_values"):
            return self._appending(name, block)
        if name.endswith("_indptr"):
            return self._counting(name)
        return self._in_place(name, block)

    def _in_place(self, name: str, block: Array) -> Callable[[Array], None]:
        """A file of known size, mapped."""
        last = name == "keys"  # documents are its last axis
        shape = (*block.shape[:-1], self._n) if last else (self._n, *block.shape[1:])
        if 0 in shape:
            np.save(self._path(name), np.empty(shape, block.dtype))
            return lambda _: None
        file = npy.open_memmap(self._path(name), "w+", block.dtype, shape)
        self._close.append(file.flush)

        def put(array: Array) -> None:
            rows = slice(self._done, self._done + (array.shape[-1] if last else len(array)))
            file[(..., rows) if last else rows] = array

        return put

    def _counting(self, name: str) -> Callable[[Array], None]:
        file = npy.open_memmap(self._path(name), "w+", np.int64, (self._n + 1,))
        self._close.append(file.flush)

        def put(indptr: Array) -> None:
            stop = self._done + len(indptr)
            file[self._done + 1 : stop] = file[self._done] + indptr[1:]

        return put

    def _appending(self, name: str, block: Array) -> Callable[[Array], None]:
        """A file that grows; its header has room for any length and is written again at the end."""
        file = self._path(name).open("wb")
        written = 0
        dtype = block.dtype
        _header(file, dtype, 0)
        start = file.tell()

        def put(values: Array) -> None:
            nonlocal written
            file.write(np.ascontiguousarray(values, dtype).tobytes())
            written += len(values)

        def close() -> None:
            with file:
                file.seek(0)
                _header(file, dtype, written)
                assert file.tell() == start

        self._close.append(close)
        return put


def _header(file: BinaryIO, dtype: np.dtype[np.generic], length: int) -> None:
    descr = npy.dtype_to_descr(dtype)
    npy.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": (length,)})
