"""Jaccard similarity: |A ∩ B| / |A ∪ B|, 0 … 1 (Jaccard 1912).

Of sequences as sets of their distinct hashes; of signatures as the share of equal rows, which
estimates it (Broder, "On the resemblance and containment of documents", 1997); of codes as sets
of the places of their ones. Two empty sets have no similarity: NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from indexers.similarity import _codes
from indexers.similarity._checks import check, masked
from indexers.similarity._sets import jaccard_matrix
from indexers.similarity._texts import nearest, pairs_above
from indexers.types import F64, U8, Fingerprints, Form

__all__ = ["SIMILARITY", "Jaccard", "nearest", "pairs_above"]


class Jaccard:
    """The similarity of sets."""

    name: ClassVar[str] = "jaccard"
    forms: ClassVar[tuple[Form, ...]] = ("sequence", "signature", "bits")
    least: ClassVar[Mapping[Form, float]] = {"sequence": 0.0, "signature": 0.0, "bits": 0.0}

    def fitted(self, documents: Fingerprints) -> Jaccard:  # noqa: ARG002  # nothing to know
        """Itself."""
        return self

    def matrix(self, queries: Fingerprints, documents: Fingerprints, form: Form) -> F64:
        """Quotients of whole numbers, so that equal fractions are equal values.

        Args:
            queries: m fingerprints.
            documents: n fingerprints.
            form: `sequence`, `signature` or `bits`.

        Returns:
            float64 (m, n), 0 … 1; NaN where either is not OK or both are empty.

        Raises:
            SettingError: the form is not compared, or its widths differ.
        """
        check(self, queries, documents, form)
        if not len(queries) or not len(documents):
            return np.empty((len(queries), len(documents)))
        if form == "signature":
            assert queries.signatures is not None
            assert documents.signatures is not None
            shares = _codes.agreements(queries.signatures.shape[1])
            matrix = _codes.by_differing_rows(queries.signatures, documents.signatures, shares)
        elif form == "bits":
            matrix = _of_bits(queries.codes, documents.codes)
        else:
            assert queries.hashes is not None
            assert documents.hashes is not None
            matrix = jaccard_matrix(queries.hashes, documents.hashes, multiset=False)
        return masked(matrix, queries, documents)


def _of_bits(codes: U8, document_codes: U8) -> F64:
    common = _codes.common_bits(codes, document_codes)
    union = _codes.set_bits(codes)[:, None] + _codes.set_bits(document_codes) - common
    result = np.full(common.shape, np.nan)
    np.divide(common, union, out=result, where=union > 0)
    return result


SIMILARITY = Jaccard()
