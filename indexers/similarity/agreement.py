"""Agreement of signatures: the share of rows that are equal, which estimates Jaccard.

Broder, "On the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from indexers.similarity import _codes
from indexers.similarity._checks import check, masked
from indexers.similarity._counting import nearest_by_distance
from indexers.types import F64, I32, U8, U32, Fingerprints, Form, Nearest


def nearest(
    signatures: U32, status: U8, query_signatures: U32, query_status: U8, *, k: int, exclude: I32
) -> Nearest:
    """The k nearest documents by signature with all that tie with the k-th.

    Similarity is matching rows / rows, 0 … 1; documents without a matching row are never listed.

    Args:
        signatures: uint32 (n, rows).
        status: uint8 (n,), `Status`; only OK documents are answers.
        query_signatures: uint32 (queries, rows).
        query_status: uint8 (queries,); a query that is not OK is not valid.
        k: at least 1.
        exclude: int32 (queries,), ordinal of the document that is the query itself, or -1.
    """
    rows = signatures.shape[1]
    counted = nearest_by_distance(
        np.ascontiguousarray(signatures),
        status,
        np.ascontiguousarray(query_signatures),
        query_status,
        k=k,
        exclude=exclude,
        by_bits=False,
        most=rows,
    )
    return Nearest(
        counted.indptr,
        counted.documents,
        counted.similarity / rows,
        counted.kth / rows,
        counted.valid,
    )


class Agreement:
    """The similarity of signatures, 0 … 1."""

    name: ClassVar[str] = "agreement"
    forms: ClassVar[tuple[Form, ...]] = ("signature",)
    least: ClassVar[Mapping[Form, float]] = {"signature": 0.0}

    def fitted(self, documents: Fingerprints) -> Agreement:  # noqa: ARG002  # nothing to know
        """Itself."""
        return self

    def matrix(self, queries: Fingerprints, documents: Fingerprints, form: Form) -> F64:
        """Shares of equal rows.

        Args:
            queries: m fingerprints.
            documents: n fingerprints.
            form: `signature`.

        Returns:
            float64 (m, n), 1 for equal ones; NaN where either is not OK.

        Raises:
            SettingError: the form is not compared, or its widths differ.
        """
        check(self, queries, documents, form)
        if not len(queries) or not len(documents):
            return np.empty((len(queries), len(documents)))
        assert queries.signatures is not None
        assert documents.signatures is not None
        shares = _codes.agreements(queries.signatures.shape[1])
        matrix = _codes.by_differing_rows(queries.signatures, documents.signatures, shares)
        return masked(matrix, queries, documents)


SIMILARITY = Agreement()
