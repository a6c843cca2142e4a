"""Agreement of signatures: the share of rows that are equal, which estimates Jaccard.

Broder, "On the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

import numpy as np

from indexers.similarity._counting import nearest_by_distance
from indexers.types import I32, U8, U32, Nearest


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
