"""Jaccard similarity of multisets: Σ min(a, b) / Σ max(a, b) over the counts, 0 … 1.

Also known as Ruzicka similarity (Ružička 1958). Two empty multisets have none: NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from indexers.similarity._checks import check, masked
from indexers.similarity._sets import jaccard_matrix
from indexers.types import F64, Fingerprints, Form


class MultisetJaccard:
    """The similarity of sequences as multisets of their hashes."""

    name: ClassVar[str] = "multiset_jaccard"
    forms: ClassVar[tuple[Form, ...]] = ("sequence",)
    least: ClassVar[Mapping[Form, float]] = {"sequence": 0.0}

    def fitted(self, documents: Fingerprints) -> MultisetJaccard:  # noqa: ARG002  # nothing to know
        """Itself."""
        return self

    def matrix(self, queries: Fingerprints, documents: Fingerprints, form: Form) -> F64:
        """Quotients of whole numbers, so that equal fractions are equal values.

        Args:
            queries: m fingerprints.
            documents: n fingerprints.
            form: `sequence`.

        Returns:
            float64 (m, n), 0 … 1; NaN where either is not OK or both are empty.

        Raises:
            SettingError: the form is not compared.
        """
        check(self, queries, documents, form)
        if not len(queries) or not len(documents):
            return np.empty((len(queries), len(documents)))
        assert queries.hashes is not None
        assert documents.hashes is not None
        matrix = jaccard_matrix(queries.hashes, documents.hashes, multiset=True)
        return masked(matrix, queries, documents)


SIMILARITY = MultisetJaccard()
