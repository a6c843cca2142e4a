"""FAISS in process: exhaustive search, multi-index hashing with hash maps, and graphs.

`multihash` is Norouzi, Punjani and Fleet, "Fast search in Hamming space with multi-index
hashing" (CVPR 2012), without flipped bits: map t holds bits t · hash_length and following of the
code, so that it serves the one (num_tables, hash_length) it was built for.

`hnsw` (see `indexers.graph`) compares codes by Hamming distance and vectors by inner product. It is
built by one thread from fixed seeds: the same documents give the same file, for one version of
FAISS on one kind of processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from indexers import graph, registry
from indexers.backends._faiss_search import FILE, CodeSearcher, VectorSearcher, library
from indexers.backends._fits import misfit, no_code_or_vector
from indexers.backends._folder import InProcess, write_index
from indexers.errors import SettingError
from indexers.index_types import (
    BackendInfo,
    Documents,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
)
from indexers.protocols import Searcher
from indexers.types import F32, U8, Fingerprints, Progress, Status, no_progress

BLOCK = 8192
"""Documents that enter a graph at a time: between blocks an interrupt is heeded."""


class Faiss(InProcess):
    """Binary indexes, and indexes of vectors."""

    name: ClassVar[str] = "faiss"
    kinds: ClassVar[tuple[str, ...]] = ("flat", "multihash", "hnsw")

    @classmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""
        if problem := misfit(cls.name, cls.kinds, spec, params):
            return problem
        if problem := no_code_or_vector(cls.name, spec, params):
            return problem
        if spec.kind == "hnsw":
            return graph.problem(spec, params)
        if spec.kind == "multihash" and params.filter is not None:
            return "multihash of faiss answers without a filter: choose flat or hnsw, or tables"
        return _multihash_problem(spec, params) if spec.kind == "multihash" else None

    def check(self) -> BackendInfo:
        """Its version is that of the library."""
        return BackendInfo(f"faiss {library().__version__}")

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Add all documents that are OK, in the order of their ordinals."""

        def write(fingerprints: Fingerprints) -> None:
            rows = np.flatnonzero(fingerprints.status == Status.OK)
            path = str(folder / FILE)
            if fingerprints.vectors is not None and spec.bits is None:
                vectors = _empty_vector_index(spec, fingerprints.vectors.shape[1])
                _add(vectors, spec, fingerprints.vectors[rows], progress)
                library().write_index(vectors, path)
            else:
                codes = _empty_binary_index(spec)
                _add(codes, spec, fingerprints.codes[rows], progress)
                library().write_index_binary(codes, path)
            np.save(folder / "ordinals.npy", rows.astype(np.int32))
            progress(len(fingerprints) - len(rows))

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


def _empty_vector_index(spec: IndexSpec, dimension: int) -> Any:
    faiss = library()
    if spec.kind == "flat":
        return faiss.IndexFlatIP(dimension)
    return _graph(
        faiss.IndexHNSWFlat(dimension, graph.m_of(spec), faiss.METRIC_INNER_PRODUCT), spec
    )


def _empty_binary_index(spec: IndexSpec) -> Any:
    faiss = library()
    if spec.kind == "flat":
        return faiss.IndexBinaryFlat(spec.bits)
    if spec.kind == "hnsw":
        return _graph(faiss.IndexBinaryHNSW(spec.bits, graph.m_of(spec)), spec)
    lengths = spec.hash_lengths
    params = SearchParams(1, spec.num_tables, lengths[0] if lengths else None)
    if problem := _multihash_problem(spec, params):
        raise SettingError(problem)
    return faiss.IndexBinaryMultiHash(spec.bits, spec.num_tables, lengths[0])


def _graph(index: Any, spec: IndexSpec) -> Any:
    index.hnsw.efConstruction = graph.ef_construction_of(spec)
    return index


def _add(index: Any, spec: IndexSpec, rows: U8 | F32, progress: Progress) -> None:
    """Add the rows; a graph in blocks, by one thread, since several would race for its links."""
    block = BLOCK if spec.kind == "hnsw" else max(len(rows), 1)
    with _one_thread() if spec.kind == "hnsw" else nullcontext():
        for start in range(0, len(rows), block):
            part = np.ascontiguousarray(rows[start : start + block])
            index.add(part)
            progress(len(part))


@contextmanager
def _one_thread() -> Iterator[None]:
    faiss = library()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


BACKEND = Faiss
