"""The file of an hnswlib graph: read whole by the library, and its vectors mapped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from indexers.errors import BackendError, MissingPackage, pip_line
from indexers.index_types import IndexHandle
from indexers.types import F32

FILE = "index.hnswlib"
_HEADER = np.dtype(
    [
        *((name, "<u8") for name in ("level0", "capacity", "count", "stride", "label", "vector")),
        *((name, "<i4") for name in ("levels", "entry")),
        *((name, "<u8") for name in ("max_m", "max_m0", "m")),
        ("factor", "<f8"),
        ("ef_construction", "<u8"),
    ]
)
"""What stands before the elements, as `HierarchicalNSW::saveIndex` of hnswlib 0.8 writes it."""


def library() -> Any:
    """The package.

    Raises:
        MissingPackage: it is not installed.
    """
    try:
        import hnswlib
    except ImportError as error:
        raise MissingPackage(
            "backend 'hnswlib' needs a package that is not installed: "
            f"{pip_line('hnswlib')} (it is compiled: a C++ compiler must be there)"
        ) from error
    return hnswlib


def read(handle: IndexHandle, space: str, dimension: int) -> Any:
    """The graph in its file; an empty one, which cannot be searched, where nothing was indexed.

    Raises:
        BackendError: the file is gone or damaged.
    """
    index = library().Index(space, dimension)
    if not handle.documents:
        return index
    path = Path(handle.location) / FILE
    try:
        index.load_index(str(path))
    except (RuntimeError, MemoryError) as error:
        raise _unreadable(path, str(error) or "not an index") from error
    if index.get_current_count() != handle.documents:
        raise _unreadable(path, f"it holds {index.get_current_count()} documents")
    return index


def mapped_vectors(handle: IndexHandle, index: Any) -> F32:
    """The vectors in the file: float32 (n, D), in the order in which they were added.

    The library gives vectors back as lists, which takes longer than a search.

    Raises:
        BackendError: the file is laid out in another way.
    """
    if not handle.documents:
        return np.zeros((0, index.dim), np.float32)
    path = Path(handle.location) / FILE
    header = np.fromfile(path, _HEADER, 1)[0]
    element = np.dtype(
        {
            "names": ["vector"],
            "formats": [("<f4", (index.dim,))],
            "offsets": [int(header["vector"])],
            "itemsize": int(header["stride"]),
        }
    )
    held = np.memmap(path, element, "r", _HEADER.itemsize, handle.documents)["vector"]
    ends = [0, handle.documents - 1]
    if not np.array_equal(held[ends], np.asarray(index.get_items(ends), np.float32)):
        raise _unreadable(path, "its layout is not that of hnswlib 0.8")
    return held


def _unreadable(path: Path, why: str) -> BackendError:
    reason = why.strip().splitlines()[0]
    return BackendError(f"index file {path} cannot be opened: {reason}; build it again")
