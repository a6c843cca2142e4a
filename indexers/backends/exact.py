"""Brute force in plain numpy by (score, id): not fast, obviously right. The oracle."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

import numpy as np

from indexers import registry
from indexers.backends._fits import misfit
from indexers.backends._folder import InProcess, fingerprints_of, map_array, write_index
from indexers.backends._passing import allowed
from indexers.backends._scorers import SCORERS
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
from indexers.types import Fingerprints, Progress, Status, no_progress


class ExactSearcher:
    """Compares a query with every document."""

    def __init__(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> None:
        fingerprints = fingerprints_of(queries, handle.spec)
        self._status, self._k = np.asarray(fingerprints.status), params.k
        self._ordinals = map_array(handle, "ordinals")
        self._scorer = SCORERS[params.rerank](handle, fingerprints)
        mask = allowed(handle, params)
        self._kept = None if mask is None else np.flatnonzero(mask[self._ordinals])

    def search(self, query: int) -> Hits:
        """Answers to the query of this row."""
        if self._status[query] != Status.OK:
            return Hits(np.empty(0, np.int32), np.empty(0))
        scores = self._scorer.scores(query)
        ordinals = self._ordinals
        if self._kept is not None:
            ordinals, scores = ordinals[self._kept], scores[self._kept]
        best = np.lexsort((ordinals, -scores))[: self._k]
        return Hits(ordinals[best], scores[best])

    def close(self) -> None:
        """Let go of the mapped files."""
        del self._scorer, self._ordinals


class Exact(InProcess):
    """Brute force in numpy."""

    name: ClassVar[str] = "exact"
    kinds: ClassVar[tuple[str, ...]] = ("flat",)

    @classmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""
        return misfit(cls.name, cls.kinds, spec, params)

    def check(self) -> BackendInfo:
        """Its version is numpy's."""
        return BackendInfo(f"numpy {version('numpy')}")

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Store what is compared, for every re-ranking of the family, of documents that are OK."""
        reranks = registry.family(spec.family).reranks if spec.family else ("code", "signature")

        def write(fingerprints: Fingerprints) -> None:
            rows = np.flatnonzero(fingerprints.status == Status.OK)
            np.save(folder / "ordinals.npy", rows.astype(np.int32))
            kept = replace(fingerprints, keys=fingerprints.keys[:0]).take(rows)
            for rerank in reranks:
                SCORERS[rerank].store(folder, kept)
            progress(len(fingerprints))

        return write_index(spec, documents, folder, write)

    def searcher(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> Searcher:
        """Map the files."""
        return ExactSearcher(handle, params, queries)


BACKEND = Exact
