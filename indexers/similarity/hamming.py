"""Hamming similarity of codes: 1 / (1 + d), d the number of differing bits (Hamming 1950).

Searches count bits − d, which ranks the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from indexers.codes import code_words
from indexers.similarity import _codes
from indexers.similarity._checks import check, masked
from indexers.similarity._counting import nearest_by_distance
from indexers.types import F64, I32, U8, Fingerprints, Form, Nearest

BLOCK = 1024
"""Queries whose answers' codes are compared at a time."""


def nearest(
    codes: U8, status: U8, query_codes: U8, query_status: U8, *, k: int, exclude: I32
) -> Nearest:
    """The k nearest documents by code with all that tie with the k-th.

    Similarity is 0 … bits; documents that differ in every bit are never listed.

    Args:
        codes: uint8 (n, bits / 8).
        status: uint8 (n,), `Status`; only OK documents are answers.
        query_codes: uint8 (queries, bits / 8).
        query_status: uint8 (queries,); a query that is not OK is not valid.
        k: at least 1.
        exclude: int32 (queries,), ordinal of the document that is the query itself, or -1.
    """
    return nearest_by_distance(
        code_words(codes),
        status,
        code_words(query_codes),
        query_status,
        k=k,
        exclude=exclude,
        by_bits=True,
        most=8 * codes.shape[1],
    )


def scores(codes: U8, query_codes: U8, answers: I32) -> F64:
    """Similarity of each query to its answers: float64 (queries, m), NaN where there is none.

    Args:
        codes: uint8 (n, bits / 8).
        query_codes: uint8 (queries, bits / 8).
        answers: int32 (queries, m), ordinals, padded with -1.
    """
    result = np.full(answers.shape, np.nan)
    for lo in range(0, len(answers), BLOCK):
        rows, columns = np.nonzero(answers[lo : lo + BLOCK] >= 0)
        rows += lo
        differing = codes[answers[rows, columns]] ^ query_codes[rows]
        distances = np.bitwise_count(differing).sum(axis=1, dtype=np.int64)
        result[rows, columns] = 8 * codes.shape[1] - distances
    return result


class Hamming:
    """The similarity of codes, above 0, at most 1."""

    name: ClassVar[str] = "hamming"
    forms: ClassVar[tuple[Form, ...]] = ("bits",)
    least: ClassVar[Mapping[Form, float]] = {}

    def fitted(self, documents: Fingerprints) -> Hamming:  # noqa: ARG002  # nothing to know
        """Itself."""
        return self

    def matrix(self, queries: Fingerprints, documents: Fingerprints, form: Form) -> F64:
        """A function of whole numbers, so that equal distances are equal values.

        Args:
            queries: m fingerprints.
            documents: n fingerprints.
            form: `bits`.

        Returns:
            float64 (m, n), 1 for equal ones; NaN where either is not OK.

        Raises:
            SettingError: the form is not compared, or its widths differ.
        """
        check(self, queries, documents, form)
        if not len(queries) or not len(documents):
            return np.empty((len(queries), len(documents)))
        table = _codes.inverse_distances(queries.bits)
        matrix = _codes.by_differing_bits(queries.codes, documents.codes, table)
        return masked(matrix, queries, documents)


SIMILARITY = Hamming()
