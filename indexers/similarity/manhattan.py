"""Manhattan similarity: 1 / (1 + Σ |aᵢ − bᵢ|), above 0, at most 1.

On codes the distance is the Hamming distance, so that both similarities are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from indexers.kernels import threads
from indexers.similarity import _codes
from indexers.similarity._checks import check, masked
from indexers.types import F32, F64, Fingerprints, Form


class Manhattan:
    """The similarity of coordinates, one by one."""

    name: ClassVar[str] = "manhattan"
    forms: ClassVar[tuple[Form, ...]] = ("vector", "bits")
    least: ClassVar[Mapping[Form, float]] = {}

    def fitted(self, documents: Fingerprints) -> Manhattan:  # noqa: ARG002  # nothing to know
        """Itself."""
        return self

    def matrix(self, queries: Fingerprints, documents: Fingerprints, form: Form) -> F64:
        """Differences are summed in float64 in the order of the coordinates.

        Args:
            queries: m fingerprints.
            documents: n fingerprints.
            form: `vector` or `bits`.

        Returns:
            float64 (m, n), 1 for equal ones; NaN where either is not OK.

        Raises:
            SettingError: the form is not compared, or its widths differ.
        """
        check(self, queries, documents, form)
        if not len(queries) or not len(documents):
            return np.empty((len(queries), len(documents)))
        if form == "bits":
            table = _codes.inverse_distances(queries.bits)
            matrix = _codes.by_differing_bits(queries.codes, documents.codes, table)
        else:
            assert queries.vectors is not None
            assert documents.vectors is not None
            matrix = _of_vectors(queries.vectors, documents.vectors)
        return masked(matrix, queries, documents)


def _of_vectors(vectors: F32, document_vectors: F32) -> F64:
    from indexers.kernels.similarity import manhattan

    queries = np.ascontiguousarray(vectors, np.float32)
    columns = np.ascontiguousarray(document_vectors.T, np.float32)
    result = np.empty((len(vectors), len(document_vectors)))
    threads.over_pairs(*result.shape, lambda lo, hi: manhattan(columns, queries, lo, hi, result))
    return result


SIMILARITY = Manhattan()
