"""Strings of an index and of its queries, compared by edit distance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexers.backends._folder import map_array
from indexers.index_types import IndexHandle
from indexers.types import F64, Fingerprints, Ragged


class Strings:
    """The stored strings and the queries' in memory, a character a byte: rapidfuzz compares text
    faster than bytes.
    """

    @staticmethod
    def store(folder: Path, documents: Fingerprints) -> None:
        """Write every document's string; one that is not OK has none, an empty one."""
        assert documents.strings is not None  # looked at when built
        np.save(folder / "strings_indptr.npy", documents.strings.indptr)
        np.save(folder / "strings_values.npy", documents.strings.values)

    def __init__(self, handle: IndexHandle, queries: Fingerprints) -> None:
        from rapidfuzz import process
        from rapidfuzz.distance import Levenshtein

        assert queries.strings is not None  # looked at when opened
        stored = Ragged(map_array(handle, "strings_indptr"), map_array(handle, "strings_values"))
        self._documents, self._queries = stored.strings(), queries.strings.strings()
        self._cdist: Any = process.cdist
        self._distance: Any = Levenshtein.distance

    def __len__(self) -> int:
        return len(self._documents)

    def similarities(self, query: int, rows: Sequence[int]) -> F64:
        """1 / (1 + edit distance) of the query to the strings of these rows: float64."""
        if not len(rows):
            return np.empty(0)
        chosen = [self._documents[row] for row in rows]
        distances = self._cdist(
            [self._queries[query]], chosen, scorer=self._distance, dtype=np.int32
        )
        result: F64 = 1 / (1 + distances[0].astype(np.float64))
        return result
