"""Inverted index in process: documents by the hashes they have, ranked by a similarity."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np

from indexers.backends._folder import fingerprints_of, map_array
from indexers.backends._passing import allowed
from indexers.backends._ragged import distinct, find, grouped, runs
from indexers.backends._strings import Strings
from indexers.index_types import Hits, IndexHandle, Queries, SearchParams
from indexers.types import F64, I32, Fingerprints, Ragged, Status


def write_postings(folder: Path, documents: Fingerprints) -> None:
    """Write the documents of each distinct hash; those that are not OK are in none.

    Strings are written too where there are some.
    """
    assert documents.hashes is not None  # looked at when built
    usable = np.asarray(documents.status) == Status.OK
    values, owners = distinct(documents.hashes)
    indexed = usable[owners]
    values, owners = values[indexed], owners[indexed].astype(np.int32)
    starts = runs(values)
    sizes = np.bincount(owners, minlength=len(documents)).astype(np.int32)
    for name, array in (
        ("vocabulary", values[starts[:-1]]),
        ("starts", starts),
        ("postings", owners),
        ("sizes", sizes),
    ):
        np.save(folder / f"{name}.npy", array)
    if documents.strings is not None:
        Strings.store(folder, documents)


class _Postings:
    """Mapped postings with the queries' tokens as rows of the vocabulary."""

    def __init__(self, handle: IndexHandle, queries: Fingerprints) -> None:
        assert queries.hashes is not None  # looked at when opened
        values, owners = distinct(queries.hashes)
        rows = find(map_array(handle, "vocabulary"), values)
        self._tokens: Ragged = grouped(owners, rows, len(queries))
        self.starts = map_array(handle, "starts")
        self.postings = map_array(handle, "postings")
        self.sizes = map_array(handle, "sizes")

    def tokens(self, query: int) -> Any:
        """Rows of the query's distinct tokens, -1 for those that no document has."""
        return self._tokens.row(query)


class JaccardSearcher:
    """Documents that share a hash, by Jaccard similarity of the sets; safe in several threads."""

    def __init__(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> None:
        from indexers.kernels.postings import search_sets

        fingerprints = fingerprints_of(queries, handle.spec)
        self._status, self._k = np.asarray(fingerprints.status), params.k
        self._index = _Postings(handle, fingerprints)
        mask = allowed(handle, params)
        self._passing = np.zeros(0, np.bool_) if mask is None else mask
        self._kernel = cast(Any, search_sets)
        if len(self._status):  # compiles now, not within a measured query
            self._answer(0)

    def _answer(self, query: int) -> tuple[I32, F64]:
        index, tokens = self._index, self._index.tokens(query)
        found: tuple[I32, F64] = self._kernel(
            tokens, len(tokens), index.starts, index.postings, index.sizes, self._passing, self._k
        )
        return found

    def search(self, query: int) -> Hits:
        """Answers to the query of this row."""
        if self._status[query] != Status.OK:
            return Hits(np.empty(0, np.int32), np.empty(0))
        return Hits(*self._answer(query))

    def close(self) -> None:
        """Let go of the mapped files."""
        del self._index


class LevenshteinSearcher:
    """Documents that share a hash, by the edit distance of their strings."""

    def __init__(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> None:
        from indexers.kernels.postings import shared_tokens

        fingerprints = fingerprints_of(queries, handle.spec)
        self._status, self._k = np.asarray(fingerprints.status), params.k
        self._index = _Postings(handle, fingerprints)
        self._strings = Strings(handle, fingerprints)
        self._passing = allowed(handle, params)
        self._kernel = cast(Any, shared_tokens)
        if len(self._status):  # compiles now, not within a measured query
            self._candidates(0)

    def _candidates(self, query: int) -> I32:
        index = self._index
        shared = self._kernel(index.tokens(query), index.starts, index.postings, len(index.sizes))
        found = shared if self._passing is None else shared * self._passing
        return np.flatnonzero(found).astype(np.int32)

    def search(self, query: int) -> Hits:
        """Answers to the query of this row."""
        if self._status[query] != Status.OK:
            return Hits(np.empty(0, np.int32), np.empty(0))
        candidates = self._candidates(query)
        scores = self._strings.similarities(query, candidates.tolist())
        best = np.argsort(-scores, kind="stable")[: self._k]  # candidates rise already
        return Hits(candidates[best], scores[best])

    def close(self) -> None:
        """Let go of the mapped files."""
        del self._index, self._strings


SEARCHERS: dict[str, type[JaccardSearcher] | type[LevenshteinSearcher]] = {
    "jaccard": JaccardSearcher,
    "levenshtein": LevenshteinSearcher,
}
"""By the re-ranking."""
