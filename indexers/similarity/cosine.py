"""Cosine similarity: a·b / (|a| |b|), −1 … 1 for vectors, 0 … 1 for codes as 0/1 vectors.

Computed in float64 from exact sums (`_exact`), so that a value does not depend on the block it
is computed in. A vector of zeros has no direction: NaN; a code of zeros has nothing in common
with another (0), and no similarity to another of zeros (NaN).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from indexers.similarity import _codes
from indexers.similarity._checks import check, masked
from indexers.similarity._exact import cut, scaled_products, scaled_squares
from indexers.types import F32, F64, U8, Fingerprints, Form

BLOCK = 1024
"""Vectors whose parts are held at a time."""


class Cosine:
    """The similarity of directions."""

    name: ClassVar[str] = "cosine"
    forms: ClassVar[tuple[Form, ...]] = ("vector", "bits")
    least: ClassVar[Mapping[Form, float]] = {"bits": 0.0}

    def fitted(self, documents: Fingerprints) -> Cosine:  # noqa: ARG002  # nothing to know
        """Itself."""
        return self

    def matrix(self, queries: Fingerprints, documents: Fingerprints, form: Form) -> F64:
        """Cosines of the angles.

        Args:
            queries: m fingerprints.
            documents: n fingerprints.
            form: `vector` or `bits`.

        Returns:
            float64 (m, n), −1 … 1, exactly 1 for equal ones; NaN where either is not OK or
            has no direction.

        Raises:
            SettingError: the form is not compared, or its widths differ.
        """
        check(self, queries, documents, form)
        if not len(queries) or not len(documents):
            return np.empty((len(queries), len(documents)))
        if form == "bits":
            matrix = _of_bits(queries.codes, documents.codes)
        else:
            assert queries.vectors is not None
            assert documents.vectors is not None
            matrix = _of_vectors(queries.vectors, documents.vectors)
        return masked(matrix, queries, documents)


def _of_vectors(vectors: F32, document_vectors: F32) -> F64:
    result = np.empty((len(vectors), len(document_vectors)))
    for top in range(0, len(vectors), BLOCK):
        mine = cut(vectors[top : top + BLOCK])
        squares = scaled_squares(mine)[:, None]
        for left in range(0, len(document_vectors), BLOCK):
            theirs = cut(document_vectors[left : left + BLOCK])
            # the root of x·x is x: equal vectors get exactly 1
            lengths = np.sqrt(squares * scaled_squares(theirs))
            products = scaled_products(mine, theirs)
            cosines = np.full(products.shape, np.nan)
            np.divide(products, lengths, out=cosines, where=lengths > 0)
            result[top : top + BLOCK, left : left + BLOCK] = np.clip(cosines, -1, 1)
    return result


def _of_bits(codes: U8, document_codes: U8) -> F64:
    mine, theirs = _codes.set_bits(codes)[:, None], _codes.set_bits(document_codes)
    common = _codes.common_bits(codes, document_codes)
    lengths = np.sqrt(mine * theirs)
    cosines: F64 = np.where(mine + theirs > 0, 0.0, np.nan)
    np.divide(common, lengths, out=cosines, where=lengths > 0)
    return cosines


SIMILARITY = Cosine()
