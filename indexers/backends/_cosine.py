"""Cosine of one query with vectors of an index, the very values of the similarity."""

from __future__ import annotations

import numpy as np

from indexers import registry
from indexers.errors import BackendError
from indexers.types import F32, F64, Fingerprints

SPARE = 16
"""Vectors asked for beyond the k: float32 sums may put near-equal ones in another order."""


def cosines(vectors: F32, query: F32) -> F64:
    """Cosine of each vector with the query: float64 (n,), the same whatever else is in the block.

    Args:
        vectors: float32 (n, D), none of them zero.
        query: float32 (D,), not zero.
    """
    cosine = registry.similarity("cosine")
    matrix = cosine.matrix(_fingerprints(query[None]), _fingerprints(vectors), "vector")
    return matrix.ravel()


def _fingerprints(vectors: F32) -> Fingerprints:
    n = len(vectors)
    codes, keys = np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32)
    return Fingerprints(np.zeros(n, np.uint8), codes, keys, "bit", vectors=vectors)


def check_dimensions(indexed: int, asked: int) -> None:
    """Refuse queries of another dimension.

    Raises:
        BackendError: they differ.
    """
    if indexed != asked:
        raise BackendError(
            f"vectors of D {indexed} are indexed and the queries have D {asked}: "
            "make both with one model"
        )
