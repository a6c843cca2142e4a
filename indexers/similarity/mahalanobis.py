"""Mahalanobis similarity: the exponent −½ ΔᵀΣ⁻¹Δ of a normal density, at most 0.

The density exp(−½ ΔᵀΣ⁻¹Δ) itself (Mahalanobis 1936) falls below the least float64 at exponents
under −745: all wide signatures then tie at 0, and a ranking by it is their stored order. The
exponent ranks the same and does not underflow.

Σ is the identity, unless `fitted` to documents with codes: then it is the diagonal of the
variances p(1 − p) of their bits, p being the share of ones. Bits that are the same in all
documents have no variance and are left out: they would add the same to every document.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from indexers.errors import SettingError
from indexers.similarity import _codes
from indexers.similarity._checks import check, masked
from indexers.similarity._exact import cut, scaled_products, scaled_squares
from indexers.types import F32, F64, U8, Fingerprints, Form, Status

BLOCK = 1024
"""Vectors or codes that are held as float64 at a time."""


class Mahalanobis:
    """The similarity of coordinates, weighted by the inverse of their variance.

    Args:
        weights: float64 (bits,), the diagonal of Σ⁻¹ for codes; None for the identity.
    """

    name: ClassVar[str] = "mahalanobis"
    forms: ClassVar[tuple[Form, ...]] = ("vector", "bits")
    least: ClassVar[Mapping[Form, float]] = {}

    def __init__(self, weights: F64 | None = None) -> None:
        self._weights = None if weights is None else _summable(weights)

    def fitted(self, documents: Fingerprints) -> Mahalanobis:
        """The same with the variances of the bits of documents; Σ of vectors stays the identity.

        Args:
            documents: those that are OK count; without any that has a code, Σ is the identity.
        """
        codes = documents.codes[documents.status == Status.OK]
        if codes.size == 0:
            return Mahalanobis()
        n = len(codes)
        ones = sum(
            np.unpackbits(codes[lo : lo + BLOCK], axis=1).sum(axis=0, dtype=np.int64)
            for lo in range(0, n, BLOCK)
        )
        varied = np.asarray(ones * (n - ones), np.float64)
        weights = np.zeros(len(varied))
        return Mahalanobis(np.divide(n * n, varied, out=weights, where=varied > 0))

    def matrix(self, queries: Fingerprints, documents: Fingerprints, form: Form) -> F64:
        """Exponents, from exact sums: the same in every block.

        Args:
            queries: m fingerprints.
            documents: n fingerprints.
            form: `vector` or `bits`.

        Returns:
            float64 (m, n), at most 0, and 0 for equal ones; NaN where either is not OK.

        Raises:
            SettingError: the form is not compared, its widths differ, or another than that of
                the documents that this was fitted to.
        """
        check(self, queries, documents, form)
        if not len(queries) or not len(documents):
            return np.empty((len(queries), len(documents)))
        if form == "vector":
            assert queries.vectors is not None
            assert documents.vectors is not None
            matrix = _of_vectors(queries.vectors, documents.vectors)
        elif self._weights is None:
            halves: F64 = 0.0 - 0.5 * np.arange(queries.bits + 1, dtype=np.float64)
            matrix = _codes.by_differing_bits(queries.codes, documents.codes, halves)
        elif len(self._weights) != queries.bits:
            raise SettingError(
                f"mahalanobis: fitted to {len(self._weights)} bits, given {queries.bits}: "
                "fit it to documents of the same parameters"
            )
        else:
            matrix = _of_bits(queries.codes, documents.codes, self._weights)
        return masked(matrix, queries, documents)


def _summable(weights: F64) -> F64:
    """Weights with so few bits that any sum of them and of their doubles is exact."""
    total = float(np.sum(weights))
    places = 50 - math.frexp(total)[1]
    return np.asarray(np.ldexp(np.rint(np.ldexp(weights, places)), -places))


def _of_bits(codes: U8, document_codes: U8, weights: F64) -> F64:
    result = np.empty((len(codes), len(document_codes)))
    for top in range(0, len(codes), BLOCK):
        mine = np.unpackbits(codes[top : top + BLOCK], axis=1) * weights
        for left in range(0, len(document_codes), BLOCK):
            theirs = np.unpackbits(document_codes[left : left + BLOCK], axis=1).astype(np.float64)
            differing = mine.sum(axis=1)[:, None] + theirs @ weights - 2 * (mine @ theirs.T)
            result[top : top + BLOCK, left : left + BLOCK] = 0.0 - 0.5 * differing
    return result


def _of_vectors(vectors: F32, document_vectors: F32) -> F64:
    """−½ (|a|² + |b|² − 2 a·b), which is 0 for equal ones since the three terms are exact."""
    result = np.empty((len(vectors), len(document_vectors)))
    for top in range(0, len(vectors), BLOCK):
        mine = cut(vectors[top : top + BLOCK])
        scale = np.ldexp(1.0, mine.exponent)[:, None]
        squares = scaled_squares(mine)[:, None] * scale * scale
        for left in range(0, len(document_vectors), BLOCK):
            theirs = cut(document_vectors[left : left + BLOCK])
            their_scale = np.ldexp(1.0, theirs.exponent)
            products = scaled_products(mine, theirs)
            products *= scale * -2
            products *= their_scale
            products += squares + scaled_squares(theirs) * their_scale * their_scale
            result[top : top + BLOCK, left : left + BLOCK] = 0.0 - 0.5 * np.maximum(products, 0)
    return result


SIMILARITY = Mahalanobis()
