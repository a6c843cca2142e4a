"""Candidates of many queries, found block by block, as one list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from indexers.types import F64, I32, Bool, Nearest


@dataclass(frozen=True, slots=True)
class Found:
    """int32 (m,) queries and ordinals, float64 (m,) similarities."""

    queries: I32
    ordinals: I32
    similarity: F64


def joined(parts: Sequence[Found]) -> Found:
    """All candidates, in the order of the parts."""
    return Found(
        np.concatenate([np.empty(0, np.int32), *(p.queries for p in parts)]),
        np.concatenate([np.empty(0, np.int32), *(p.ordinals for p in parts)]),
        np.concatenate([np.empty(0), *(p.similarity for p in parts)]),
    )


def listed(found: Found, keep: Bool, kth: F64, valid: Bool) -> Nearest:
    """The candidates that are kept, by query, falling similarity, then ordinal."""
    queries, ordinals = found.queries[keep], found.ordinals[keep]
    similarity = found.similarity[keep]
    order = np.lexsort((ordinals, -similarity, queries))
    indptr = np.zeros(len(kth) + 1, np.int64)
    np.cumsum(np.bincount(queries, minlength=len(kth)), out=indptr[1:])
    return Nearest(indptr, ordinals[order], similarity[order], kth, valid)
