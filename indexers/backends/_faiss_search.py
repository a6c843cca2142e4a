"""FAISS indexes read from their files and searched, and the package itself where it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from indexers.backends._cosine import SPARE, check_dimensions, cosines
from indexers.backends._folder import fingerprints_of, map_array
from indexers.backends._passing import allowed
from indexers.errors import BackendError, MissingPackage
from indexers.graph import ef_search_of
from indexers.index_types import Hits, IndexHandle, Queries, SearchParams
from indexers.types import I32, Status

FILE = "index.faiss"


def library() -> Any:
    """The package.

    Raises:
        MissingPackage: it is not installed.
    """
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
        self._index = _read(library().read_index_binary, handle)
        _set_width(self._index, handle, params)
        self._passing = _Passing(handle, params, self._ordinals)

    def search(self, query: int) -> Hits:
        """Answers to the query of this row.

        At the boundary of the k-th distance, which of the tied documents is given is FAISS' own.
        """
        if self._status[query] != Status.OK:
            return Hits(np.empty(0, np.int32), np.empty(0))
        how = self._passing.how
        distances, positions = self._index.search(self._codes[query : query + 1], self._k, **how)
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
        self._k, self._asked = params.k, params.k + SPARE
        if handle.spec.kind == "hnsw":  # more answers than ef_search would widen the search
            self._asked = min(self._asked, ef_search_of(params))
        self._ordinals = map_array(handle, "ordinals")
        index = self._index = _read(library().read_index, handle)
        check_dimensions(index.d, self._queries.shape[1])
        _set_width(index, handle, params)
        self._vectors = _held(index, handle)
        self._passing = _Passing(handle, params, self._ordinals)

    def search(self, query: int) -> Hits:
        """Answers to the query of this row.

        At the boundary of the k-th cosine, which of the tied documents is given is FAISS' own.
        """
        if self._status[query] != Status.OK:
            return Hits(np.empty(0, np.int32), np.empty(0))
        wanted = self._queries[query]
        _, positions = self._index.search(wanted[None], self._asked, **self._passing.how)
        positions = positions[0][positions[0] >= 0]  # FAISS pads with -1
        ordinals = self._ordinals[positions]
        scores = cosines(self._vectors[positions], wanted)
        best = np.lexsort((ordinals, -scores))[: self._k]
        return Hits(ordinals[best], scores[best])

    def close(self) -> None:
        """Let go of the index."""
        del self._vectors
        self._index = None


class _Passing:
    """What tells FAISS which positions may be answered; nothing where all may.

    Attributes:
        how: further arguments of a search.
    """

    def __init__(self, handle: IndexHandle, params: SearchParams, ordinals: I32) -> None:
        mask = allowed(handle, params)
        self.how: dict[str, Any] = {}
        if mask is None:
            return
        faiss = library()
        # FAISS keeps addresses alone: bits, selector and parameters must live as long as this
        self._bits = np.packbits(mask[ordinals], bitorder="little")
        self._selector = faiss.IDSelectorBitmap(self._bits)
        if handle.spec.kind == "hnsw":
            asked = faiss.SearchParametersHNSW(sel=self._selector, efSearch=ef_search_of(params))
        else:
            asked = faiss.SearchParameters(sel=self._selector)
        self.how["params"] = asked


def _set_width(index: Any, handle: IndexHandle, params: SearchParams) -> None:
    if handle.spec.kind == "hnsw":  # every searcher has read an index of its own
        index.hnsw.efSearch = ef_search_of(params)


def _held(index: Any, handle: IndexHandle) -> Any:
    """A view of the vectors that the index holds: float32 (n, D)."""
    if not index.ntotal:
        return np.zeros((0, index.d), np.float32)
    faiss = library()
    flat = faiss.downcast_index(index.storage) if handle.spec.kind == "hnsw" else index
    held = faiss.rev_swig_ptr(flat.get_xb(), index.ntotal * index.d)
    return held.reshape(index.ntotal, index.d)


def _read(read: Any, handle: IndexHandle) -> Any:
    """The index in its file, mapped where this version of the library can map the kind.

    Raises:
        BackendError: the file is gone or damaged.
    """
    path = Path(handle.location) / FILE
    try:
        return read(str(path), getattr(library(), "IO_FLAG_MMAP_IFC", 0))
    except RuntimeError as error:
        problem = f"index file {path} cannot be opened: {_first_line(error)}; build it again"
        raise BackendError(problem) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
