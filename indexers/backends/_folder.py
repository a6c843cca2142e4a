"""Files of an index that lives in this process: written once, mapped by every reader."""

from __future__ import annotations

import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from indexers.backends._attributes import write_attributes
from indexers.backends._fits import needed_forms
from indexers.errors import BackendError, SettingError
from indexers.http_request import Transport
from indexers.index_types import (
    BackendConfig,
    Documents,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
)
from indexers.protocols import Searcher
from indexers.types import Fingerprints, Status


def fingerprints_of(what: Documents | Queries, spec: IndexSpec) -> Fingerprints:
    """The fingerprints, which every index in process needs, in the forms that its kind needs.

    Raises:
        BackendError: there are none, they lack a form, or their code has another width than
            the index.
    """
    found = what.fingerprints
    if found is None:
        raise BackendError(f"backend {spec.backend!r} searches fingerprints: none were given")
    if spec.bits is not None and spec.bits != found.bits:
        raise BackendError(
            f"backend {spec.backend!r}: the index has codes of {spec.bits} bits and the "
            f"fingerprints {found.bits}: fingerprint both with the same settings"
        )
    missing = [form for form in needed_forms(spec) if form not in found.forms]
    if missing:
        raise BackendError(
            f"backend {spec.backend!r}: kind {spec.kind!r} needs fingerprints with "
            f"{' and '.join(missing)}, and these have {', '.join(found.forms) or 'none'}: "
            f"fingerprint with family {spec.family}"
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
        write_attributes(folder, spec, documents)
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


class InProcess(ABC):
    """What backends in process share: an index is the files of a folder.

    A subclass names itself, builds, and says which searcher opens what it built.
    """

    remote: ClassVar[bool] = False

    def __init__(self, config: BackendConfig) -> None:
        del config  # nothing is to be reached or tagged

    @classmethod
    @abstractmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""

    @abstractmethod
    def searcher(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> Searcher:
        """Map the files of an index that was built for these parameters."""

    def open(
        self,
        handle: IndexHandle,
        params: SearchParams,
        queries: Queries,
        ids: Sequence[str],
        transport: Transport | None = None,
    ) -> Searcher:
        """Map the files.

        Raises:
            SettingError: the index was not built for these parameters.
        """
        del ids, transport  # ordinals are stored, and nothing leaves this process
        if problem := self.impossible(handle.spec, params):
            raise SettingError(problem)
        return self.searcher(handle, params, queries)

    def size_bytes(self, handle: IndexHandle, params: SearchParams) -> int:
        """Bytes of the whole index, where it serves one setting."""
        del params
        return handle.size_bytes

    def state(self, handle: IndexHandle) -> str:
        """Files do not change once they are written."""
        del handle
        return ""

    def drop(self, handle: IndexHandle) -> None:
        """Delete the files."""
        remove(Path(handle.location))

    def sweep(self) -> list[str]:
        """Nothing outlives the folders given to `build`."""
        return []
