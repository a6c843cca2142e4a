"""FAISS in process: exhaustive search of codes or vectors, and multi-index hashing with hash maps.

`multihash` is Norouzi, Punjani and Fleet, "Fast search in Hamming space with multi-index
hashing" (CVPR 2012), without flipped bits: map t holds bits t · hash_length and following of the
code, so that it serves the one (num_tables, hash_length) it was built for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from indexers import registry
from indexers.backends._cosine import check_dimensions, cosines
from indexers.backends._fits import misfit
from indexers.backends._folder import InProcess, fingerprints_of, map_array, write_index
from indexers.errors import BackendError, MissingPackage, SettingError
from indexers.index_types import (
    BackendInfo,
    Documents,
    Hits,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
)
from indexers.protocols import Searcher
from indexers.types import F32, U8, Fingerprints, Progress, Status, no_progress

FILE = "index.faiss"
SPARE = 16
"""Vectors asked for beyond the k: float32 sums may put near-equal ones in another order."""


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingPackage(
            "backend 'faiss' needs a package that is not installed: pip install faiss-cpu"
        ) from error
    return faiss


class CodeSearcher:
    """A binary index read from its file, with the queries' codes."""

    def __init__(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> None:
        fingerprints = fingerprints_of(queries, handle.spec)
        self._status = np.asarray(fingerprints.status)
        self._codes = np.ascontiguousarray(fingerprints.codes)
        self._bits, self._k = fingerprints.bits, params.k
        self._ordinals = map_array(handle, "ordinals")
        self._index = _read(_faiss().read_index_binary, handle)

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


class VectorSearcher:
    """An index of vectors read from its file; cosines of what it finds are taken in float64."""

    def __init__(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> None:
        fingerprints = fingerprints_of(queries, handle.spec)
        assert fingerprints.vectors is not None  # looked at above
        self._status = np.asarray(fingerprints.status)
        self._queries = np.ascontiguousarray(fingerprints.vectors)
        self._k = params.k
        self._ordinals = map_array(handle, "ordinals")
        faiss = _faiss()
        index = self._index = _read(faiss.read_index, handle)
        check_dimensions(index.d, self._queries.shape[1])
        self._vectors = np.zeros((0, index.d), np.float32)
        if index.ntotal:  # a view of what the index holds
            held = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d)
            self._vectors = held.reshape(index.ntotal, index.d)

    def search(self, query: int) -> Hits:
        """Answers to the query of this row.

        At the boundary of the k-th cosine, which of the tied documents is given is FAISS' own.
        """
        if self._status[query] != Status.OK:
            return Hits(np.empty(0, np.int32), np.empty(0))
        wanted = self._queries[query]
        _, positions = self._index.search(wanted[None], self._k + SPARE)
        positions = positions[0][positions[0] >= 0]  # FAISS pads with -1
        ordinals = self._ordinals[positions]
        scores = cosines(self._vectors[positions], wanted)
        best = np.lexsort((ordinals, -scores))[: self._k]
        return Hits(ordinals[best], scores[best])

    def close(self) -> None:
        """Let go of the index."""
        del self._vectors
        self._index = None


def _read(read: Any, handle: IndexHandle) -> Any:
    """The index in its file, mapped where this version of the library can map the kind.

    Raises:
        BackendError: the file is gone or damaged.
    """
    path = Path(handle.location) / FILE
    try:
        return read(str(path), getattr(_faiss(), "IO_FLAG_MMAP_IFC", 0))
    except RuntimeError as error:
        problem = f"index file {path} cannot be opened: {_first_line(error)}; build it again"
        raise BackendError(problem) from error


class Faiss(InProcess):
    """Binary indexes and flat indexes of vectors."""

    name: ClassVar[str] = "faiss"
    kinds: ClassVar[tuple[str, ...]] = ("flat", "multihash")

    @classmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""
        if problem := misfit(cls.name, cls.kinds, spec, params):
            return problem
        if params.rerank == "signature":
            return "faiss has no rerank 'signature': choose code"
        if params.rerank not in ("code", "cosine"):
            return (
                f"faiss compares codes or vectors, and {spec.family} has neither: "
                "choose tables by tokens, or exact"
            )
        return _multihash_problem(spec, params) if spec.kind == "multihash" else None

    def check(self) -> BackendInfo:
        """Its version is that of the library."""
        return BackendInfo(f"faiss {_faiss().__version__}")

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Add all documents that are OK, in the order of their ordinals."""

        def write(fingerprints: Fingerprints) -> None:
            rows = np.flatnonzero(fingerprints.status == Status.OK)
            if fingerprints.vectors is not None and spec.bits is None:
                _write_vectors(fingerprints.vectors[rows], folder)
            else:
                _write_codes(spec, fingerprints.codes[rows], folder)
            np.save(folder / "ordinals.npy", rows.astype(np.int32))
            progress(len(fingerprints))

        return write_index(spec, documents, folder, write)

    def searcher(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> Searcher:
        """Map the files."""
        searcher = VectorSearcher if handle.spec.bits is None else CodeSearcher
        return searcher(handle, params, queries)


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


def _write_vectors(vectors: F32, folder: Path) -> None:
    faiss = _faiss()
    index = faiss.IndexFlatIP(vectors.shape[1])
    if len(vectors):
        index.add(np.ascontiguousarray(vectors))
    faiss.write_index(index, str(folder / FILE))


def _write_codes(spec: IndexSpec, codes: U8, folder: Path) -> None:
    index = _empty_binary_index(spec)
    if len(codes):
        index.add(np.ascontiguousarray(codes))
    _faiss().write_index_binary(index, str(folder / FILE))


def _empty_binary_index(spec: IndexSpec) -> Any:
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
