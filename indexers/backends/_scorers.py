"""How the brute-force backend compares one query with every document, a re-ranking a class.

Plain numpy, but for edit distances: each scorer stores what it compares, maps it, and gives
float64 scores of all stored documents.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexers.backends._cosine import check_dimensions, cosines
from indexers.backends._folder import map_array
from indexers.backends._ragged import distinct, find, grouped, runs
from indexers.backends._strings import Strings
from indexers.errors import SettingError
from indexers.index_types import IndexHandle
from indexers.types import F64, Fingerprints


class Scorer(ABC):
    """Compares queries with every document of an index."""

    @staticmethod
    @abstractmethod
    def store(folder: Path, documents: Fingerprints) -> None:
        """Write what is compared; all documents are OK."""

    @abstractmethod
    def __init__(self, handle: IndexHandle, queries: Fingerprints) -> None: ...

    @abstractmethod
    def scores(self, query: int) -> F64:
        """Similarity of every stored document to this query."""


class Codes(Scorer):
    """Bits less differing bits."""

    @staticmethod
    def store(folder: Path, documents: Fingerprints) -> None:
        """Write the packed codes."""
        np.save(folder / "codes.npy", documents.codes)

    def __init__(self, handle: IndexHandle, queries: Fingerprints) -> None:
        self._values, self._queries = map_array(handle, "codes"), queries.codes

    def scores(self, query: int) -> F64:
        """Bits less differing bits."""
        differing = np.bitwise_count(self._values ^ self._queries[query])
        same: F64 = 8.0 * self._values.shape[1] - differing.sum(axis=1, dtype=np.int64)
        return same


class Signatures(Scorer):
    """Agreeing rows."""

    @staticmethod
    def store(folder: Path, documents: Fingerprints) -> None:
        """Write the rows, where there are any."""
        if documents.signatures is not None:
            np.save(folder / "signatures.npy", documents.signatures)

    def __init__(self, handle: IndexHandle, queries: Fingerprints) -> None:
        if queries.signatures is None:
            raise SettingError("rerank 'signature' needs signatures: fingerprint the queries so")
        self._values, self._queries = map_array(handle, "signatures"), queries.signatures

    def scores(self, query: int) -> F64:
        """Agreeing rows."""
        agreeing: NDArray[Any] = (self._values == self._queries[query]).sum(axis=1)
        return agreeing.astype(np.float64)


class Sets(Scorer):
    """Jaccard similarity of the sets of hashes: shared / (|A| + |B| − shared)."""

    @staticmethod
    def store(folder: Path, documents: Fingerprints) -> None:
        """Write the distinct hashes of each document as rows of a vocabulary."""
        assert documents.hashes is not None  # looked at when built
        values, owners = distinct(documents.hashes)
        starts = runs(values)
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        sets = grouped(owners, rows, len(documents))
        np.save(folder / "vocabulary.npy", values[starts[:-1]])
        np.save(folder / "sets_indptr.npy", sets.indptr)
        np.save(folder / "sets_values.npy", sets.values.astype(np.int32))

    def __init__(self, handle: IndexHandle, queries: Fingerprints) -> None:
        assert queries.hashes is not None  # looked at when opened
        self._vocabulary = map_array(handle, "vocabulary")
        self._indptr = map_array(handle, "sets_indptr")
        self._rows = map_array(handle, "sets_values")
        values, owners = distinct(queries.hashes)
        self._queries = grouped(owners, find(self._vocabulary, values), len(queries))

    def scores(self, query: int) -> F64:
        """Shared hashes over the hashes of either."""
        mine = self._queries.row(query)
        wanted = np.zeros(len(self._vocabulary), np.bool_)
        wanted[mine[mine >= 0]] = True
        before = np.zeros(len(self._rows) + 1, np.int64)
        np.cumsum(wanted[self._rows], out=before[1:])
        shared = np.diff(before[self._indptr])
        either = len(mine) + np.diff(self._indptr) - shared
        result: F64 = shared / np.maximum(either, 1)
        return result


class Texts(Scorer):
    """Edit distance d of the strings as 1 / (1 + d)."""

    @staticmethod
    def store(folder: Path, documents: Fingerprints) -> None:
        """Write the strings."""
        Strings.store(folder, documents)

    def __init__(self, handle: IndexHandle, queries: Fingerprints) -> None:
        self._strings = Strings(handle, queries)
        self._all = range(len(self._strings))

    def scores(self, query: int) -> F64:
        """1 / (1 + edit distance)."""
        return self._strings.similarities(query, self._all)


class Vectors(Scorer):
    """Cosine, in float64."""

    @staticmethod
    def store(folder: Path, documents: Fingerprints) -> None:
        """Write the vectors."""
        assert documents.vectors is not None  # looked at when built
        np.save(folder / "vectors.npy", documents.vectors)

    def __init__(self, handle: IndexHandle, queries: Fingerprints) -> None:
        assert queries.vectors is not None  # looked at when opened
        self._values, self._queries = map_array(handle, "vectors"), queries.vectors
        check_dimensions(self._values.shape[1], queries.vectors.shape[1])

    def scores(self, query: int) -> F64:
        """Cosine."""
        return cosines(self._values, self._queries[query])


SCORERS: dict[str, type[Scorer]] = {
    "code": Codes,
    "signature": Signatures,
    "jaccard": Sets,
    "levenshtein": Texts,
    "cosine": Vectors,
}
