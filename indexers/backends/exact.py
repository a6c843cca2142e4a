"""Brute force in plain numpy by (score, id): not fast, obviously right. The oracle."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from indexers.backends._folder import InProcess, fingerprints_of, map_array, write_index
from indexers.errors import SettingError
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


class ExactSearcher:
    """Compares a query with every document."""

    def __init__(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> None:
        self._queries = fingerprints_of(queries, handle.spec)
        self._k = params.k
        self._by_signature = params.rerank == "signature"
        self._ordinals = map_array(handle, "ordinals")
        if self._by_signature and self._queries.signatures is None:
            raise SettingError("rerank 'signature' needs signatures: fingerprint the queries so")
        self._values = map_array(handle, "signatures" if self._by_signature else "codes")

    def _scores(self, query: int) -> NDArray[Any]:
        if self._by_signature:
            assert self._queries.signatures is not None  # looked at when opened
            equal = self._values == self._queries.signatures[query]
            scores: NDArray[Any] = equal.sum(axis=1)
            return scores
        differing = np.bitwise_count(self._values ^ self._queries.codes[query])
        distances: NDArray[Any] = differing.sum(axis=1, dtype=np.int64)
        return self._queries.bits - distances

    def search(self, query: int) -> Hits:
        """Answers to the query of this row."""
        if self._queries.status[query] != Status.OK:
            return Hits(np.empty(0, np.int32), np.empty(0))
        scores = self._scores(query)
        best = np.lexsort((self._ordinals, -scores))[: self._k]
        return Hits(self._ordinals[best], scores[best].astype(np.float64))

    def close(self) -> None:
        """Let go of the mapped files."""
        del self._values, self._ordinals


class Exact(InProcess):
    """Brute force in numpy."""

    name: ClassVar[str] = "exact"
    kinds: ClassVar[tuple[str, ...]] = ("flat",)

    @classmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""
        if spec.kind not in cls.kinds:
            return f"exact has no kind {spec.kind!r}: choose from {', '.join(cls.kinds)}"
        if spec.bits is None:
            return "flat needs bits"
        if params.rerank not in ("code", "signature"):
            return f"exact has no rerank {params.rerank!r}: choose from code, signature"
        return None

    def check(self) -> BackendInfo:
        """Its version is numpy's."""
        return BackendInfo(f"numpy {version('numpy')}")

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Store the codes, and signatures where there are some, of documents that are OK."""

        def write(fingerprints: Fingerprints) -> None:
            rows = np.flatnonzero(fingerprints.status == Status.OK)
            np.save(folder / "ordinals.npy", rows.astype(np.int32))
            np.save(folder / "codes.npy", fingerprints.codes[rows])
            if fingerprints.signatures is not None:
                np.save(folder / "signatures.npy", fingerprints.signatures[rows])
            progress(len(fingerprints))

        return write_index(spec, documents, folder, write)

    def searcher(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> Searcher:
        """Map the files."""
        return ExactSearcher(handle, params, queries)


BACKEND = Exact
