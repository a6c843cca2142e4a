"""FAISS in process: exhaustive Hamming search, and multi-index hashing with hash maps.

`multihash` is Norouzi, Punjani and Fleet, "Fast search in Hamming space with multi-index
hashing" (CVPR 2012), without flipped bits: map t holds bits t · hash_length and following of the
code, so that it serves the one (num_tables, hash_length) it was built for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from indexers import registry
from indexers.backends._folder import InProcess, fingerprints_of, map_array, write_index
from indexers.errors import BackendError, MissingPackage, SettingError
from indexers.types import (
    BackendInfo,
    Documents,
    Fingerprints,
    Hits,
    IndexHandle,
    IndexSpec,
    Progress,
    Queries,
    Searcher,
    SearchParams,
    Status,
    no_progress,
)

FILE = "index.faiss"


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingPackage(
            "backend 'faiss' needs a package that is not installed: pip install faiss-cpu"
        ) from error
    return faiss


class FaissSearcher:
    """An index read from its file, with the queries' codes."""

    def __init__(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> None:
        faiss = _faiss()
        fingerprints = fingerprints_of(queries, handle.spec)
        self._status = fingerprints.status
        self._codes = np.ascontiguousarray(fingerprints.codes)
        self._bits, self._k = fingerprints.bits, params.k
        self._ordinals = map_array(handle, "ordinals")
        path = Path(handle.location) / FILE
        # maps what this version of the library can map of the kind, reads the rest
        flags = getattr(faiss, "IO_FLAG_MMAP_IFC", 0)
        try:
            self._index = faiss.read_index_binary(str(path), flags)
        except RuntimeError as error:
            problem = f"index file {path} cannot be opened: {_first_line(error)}; build it again"
            raise BackendError(problem) from error

    def search(self, query: int) -> Hits:
        """Answers to the query of this row.

        At the boundary of the k-th distance, which of the tied documents is given is FAISS' own.
        """
        if self._status[query] != Status.OK:
            return Hits(np.empty(0, np.int32), np.empty(0))
        distances, positions = self._index.search(self._codes[query : query + 1], self._k)
        found = positions[0] >= 0  # FAISS pads with -1
        ordinals, distance = self._ordinals[positions[0][found]], distances[0][found]
        best = np.lexsort((ordinals, distance))
        return Hits(ordinals[best], (self._bits - distance[best]).astype(np.float64))

    def close(self) -> None:
        """Let go of the index."""
        self._index = None


class Faiss(InProcess):
    """Binary indexes of FAISS."""

    name: ClassVar[str] = "faiss"
    kinds: ClassVar[tuple[str, ...]] = ("flat", "multihash")

    @classmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""
        if spec.kind not in cls.kinds:
            return f"faiss has no kind {spec.kind!r}: choose from {', '.join(cls.kinds)}"
        if spec.bits is None:
            return f"{spec.kind} needs bits"
        if params.rerank != "code":
            return f"faiss has no rerank {params.rerank!r}: choose code"
        return _multihash_problem(spec, params) if spec.kind == "multihash" else None

    def check(self) -> BackendInfo:
        """Its version is that of the library."""
        return BackendInfo(f"faiss {_faiss().__version__}")

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Add all documents that are OK, in the order of their ordinals."""

        def write(fingerprints: Fingerprints) -> None:
            index = _empty_index(spec)
            rows = np.flatnonzero(fingerprints.status == Status.OK)
            if len(rows):
                index.add(np.ascontiguousarray(fingerprints.codes[rows]))
            np.save(folder / "ordinals.npy", rows.astype(np.int32))
            _faiss().write_index_binary(index, str(folder / FILE))
            progress(len(fingerprints))

        return write_index(spec, documents, folder, write)

    def searcher(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> Searcher:
        """Map the files."""
        return FaissSearcher(handle, params, queries)


def _multihash_problem(spec: IndexSpec, params: SearchParams) -> str | None:
    tables, length = params.num_tables or 0, params.hash_length or 0
    if spec.family is not None and registry.family(spec.family).atom != "bit":
        return f"multihash takes its keys from bits, and {spec.family} makes them from rows"
    if tables < 1 or length < 1:
        return "multihash needs num_tables and hash_length, at least 1"
    if spec.bits is not None and tables * length > spec.bits:
        return f"multihash: {tables} tables × {length} bits exceed the {spec.bits} bits of the code"
    if (spec.num_tables, spec.hash_lengths) != (tables, (length,)):
        return (
            f"a multihash index serves one setting: built for {spec.num_tables} tables × "
            f"{', '.join(map(str, spec.hash_lengths))} bits, asked for {tables} × {length}"
        )
    return None


def _empty_index(spec: IndexSpec) -> Any:
    faiss = _faiss()
    if spec.kind == "flat":
        return faiss.IndexBinaryFlat(spec.bits)
    lengths = spec.hash_lengths
    params = SearchParams(1, spec.num_tables, lengths[0] if lengths else None)
    if problem := _multihash_problem(spec, params):
        raise SettingError(problem)
    return faiss.IndexBinaryMultiHash(spec.bits, spec.num_tables, lengths[0])


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


BACKEND = Faiss
