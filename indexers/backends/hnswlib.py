"""Graphs of hnswlib in process: `hnsw` over codes and vectors.

A code enters as a vector of ±1, bit by bit: squared Euclidean distance is then 4 × Hamming, whole
numbers that float32 holds exactly. Vectors are compared by inner product, and the cosines of what
is found are taken again in float64. A graph is built by one thread from a fixed seed: the same
documents give the same file, for one build of the library on one kind of processor.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from indexers import graph
from indexers.backends._cosine import SPARE, check_dimensions, cosines
from indexers.backends._fits import misfit, no_code_or_vector
from indexers.backends._folder import InProcess, fingerprints_of, map_array, write_index
from indexers.backends._hnswlib_file import FILE, library, mapped_vectors, read
from indexers.backends._passing import allowed
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
from indexers.types import F32, I64, U8, Fingerprints, Progress, Status, no_progress

BLOCK = 8192
"""Documents added at a time: codes take 32 times their size on the way in."""
SEED = 100


class GraphSearcher:
    """A graph read from its file, with the queries' codes or vectors."""

    def __init__(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> None:
        fingerprints = fingerprints_of(queries, handle.spec)
        self._status, self._bits = np.asarray(fingerprints.status), handle.spec.bits
        asked = _rows(fingerprints, handle.spec)
        self._asked = asked if self._bits is None else _signs(asked)
        dimension = int(map_array(handle, "dimension"))
        check_dimensions(dimension, self._asked.shape[1])
        self._ordinals = map_array(handle, "ordinals")
        self._k, width = params.k, graph.ef_search_of(params)
        spare = 0 if self._bits is not None else min(SPARE, width - params.k)
        self._wanted = min(params.k + spare, len(self._ordinals))
        self._index = read(handle, _space(handle.spec), dimension)
        if self._wanted:
            self._index.set_ef(width)
        self._vectors = mapped_vectors(handle, self._index) if self._bits is None else None
        mask = allowed(handle, params)
        self._how: dict[str, Any] = {}
        if mask is not None:
            # called for every node that the search looks at: a list answers faster than an array
            self._how["filter"] = mask[self._ordinals].tolist().__getitem__
            self._wanted = min(self._wanted, int(np.count_nonzero(mask[self._ordinals])))

    def search(self, query: int) -> Hits:
        """Answers to the query of this row; fewer than k where the search reaches fewer.

        At the boundary of the k-th, which of the tied documents is given is hnswlib's own.
        """
        if self._status[query] != Status.OK or not self._wanted:
            return Hits(np.empty(0, np.int32), np.empty(0))
        positions, distances = self._nearest(self._asked[query])
        ordinals = self._ordinals[positions]
        if self._bits is not None:
            scores = self._bits - distances.astype(np.float64) / 4
        else:
            assert self._vectors is not None  # until it is closed
            scores = cosines(self._vectors[positions], self._asked[query])
        best = np.lexsort((ordinals, -scores))[: self._k]
        return Hits(ordinals[best], scores[best])

    def _nearest(self, query: F32) -> tuple[I64, F32]:
        """As many as are asked for, or all that the search reaches.

        The library refuses to give fewer than it is asked for, so the number is looked for by
        halving; the width of the search stays the same, and with it what is found.
        """
        low, high = 0, self._wanted
        best = np.empty(0, np.int64), np.empty(0, np.float32)
        count = high
        while low < high:
            try:
                labels, distances = self._index.knn_query(query, count, num_threads=1, **self._how)
            except RuntimeError:
                high = count - 1
            else:
                best, low = (labels[0].astype(np.int64), distances[0]), count
            count = (low + high + 1) // 2
        return best

    def close(self) -> None:
        """Let go of the index."""
        self._index = self._vectors = None


class Hnswlib(InProcess):
    """Graphs over codes, and over vectors."""

    name: ClassVar[str] = "hnswlib"
    kinds: ClassVar[tuple[str, ...]] = ("hnsw",)

    @classmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""
        if problem := misfit(cls.name, cls.kinds, spec, params):
            return problem
        return no_code_or_vector(cls.name, spec, params) or graph.problem(spec, params)

    def check(self) -> BackendInfo:
        """Its version is that of the library."""
        library()
        return BackendInfo(f"hnswlib {version('hnswlib')}")

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Add all documents that are OK, in the order of their ordinals."""

        def write(fingerprints: Fingerprints) -> None:
            rows = np.flatnonzero(fingerprints.status == Status.OK)
            held = _rows(fingerprints, spec)
            dimension = held.shape[1] if spec.bits is None else spec.bits
            np.save(folder / "dimension.npy", np.int64(dimension))
            np.save(folder / "ordinals.npy", rows.astype(np.int32))
            if len(rows):
                index = library().Index(_space(spec), dimension)
                index.init_index(
                    len(rows),
                    M=graph.m_of(spec),
                    ef_construction=graph.ef_construction_of(spec),
                    random_seed=SEED,
                )
                _add(index, spec, held, rows, progress)
                index.save_index(str(folder / FILE))
            progress(len(fingerprints) - len(rows))

        return write_index(spec, documents, folder, write)

    def searcher(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> Searcher:
        """Read the file."""
        return GraphSearcher(handle, params, queries)


def _space(spec: IndexSpec) -> str:
    return "ip" if spec.bits is None else "l2"


def _rows(fingerprints: Fingerprints, spec: IndexSpec) -> Any:
    """Codes, or vectors where the index has none."""
    if spec.bits is not None:
        return fingerprints.codes
    assert fingerprints.vectors is not None  # `fingerprints_of` saw to it
    return np.ascontiguousarray(fingerprints.vectors)


def _signs(codes: U8) -> F32:
    """Bits as ±1: float32 (n, bits)."""
    return 2 * np.unpackbits(codes, axis=1).astype(np.float32) - 1


def _add(index: Any, spec: IndexSpec, held: Any, rows: I64, progress: Progress) -> None:
    """Label each by its position; one thread, since several would race for the links."""
    for start in range(0, len(rows), BLOCK):
        part = held[rows[start : start + BLOCK]]
        entering = part if spec.bits is None else _signs(part)
        index.add_items(entering, np.arange(start, start + len(part)), num_threads=1)
        progress(len(part))


BACKEND = Hnswlib
