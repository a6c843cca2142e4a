"""Files of an index that lives in this process: written once, mapped by every reader."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.errors import BackendError
from indexers.types import (
    Documents,
    Fingerprints,
    IndexHandle,
    IndexSpec,
    Queries,
    Status,
)


def fingerprints_of(what: Documents | Queries, spec: IndexSpec) -> Fingerprints:
    """The fingerprints, which every index in process needs.

    Raises:
        BackendError: there are none, or their code has another width than the index.
    """
    found = what.fingerprints
    if found is None:
        raise BackendError(f"backend {spec.backend!r} searches fingerprints: none were given")
    if spec.bits != found.bits:
        raise BackendError(
            f"backend {spec.backend!r}: the index has codes of {spec.bits} bits and the "
            f"fingerprints {found.bits}: fingerprint both with the same settings"
        )
    return found


def write_index(
    spec: IndexSpec, documents: Documents, folder: Path, write: Callable[[Fingerprints], None]
) -> IndexHandle:
    """Run `write`, which fills the folder; leave nothing there if it fails.

    Raises:
        BackendError: a file could not be written.
    """
    fingerprints = fingerprints_of(documents, spec)
    start = time.perf_counter()
    try:
        write(fingerprints)
    except BaseException as error:
        remove(folder)
        if isinstance(error, OSError):
            raise BackendError(f"index files below {folder} cannot be written: {error}") from error
        raise
    size_bytes = sum(file.stat().st_size for file in folder.iterdir())
    indexed = int(np.count_nonzero(fingerprints.status == Status.OK))
    return IndexHandle(spec, str(folder), indexed, size_bytes, time.perf_counter() - start)


def map_array(handle: IndexHandle, name: str) -> NDArray[Any]:
    """The array of this name, mapped read-only.

    Raises:
        BackendError: its file is gone or damaged.
    """
    path = Path(handle.location) / f"{name}.npy"
    try:
        return np.asarray(np.load(path, mmap_mode="r"))
    except (OSError, ValueError) as error:
        raise BackendError(
            f"index file {path} cannot be opened: {error}; build it again"
        ) from error


def remove(folder: Path) -> None:
    """Delete the folder with all its files; it is no error if it is gone."""
    shutil.rmtree(folder, ignore_errors=True)
