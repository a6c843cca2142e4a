"""Inverted index: which documents share tokens with a query, and how many."""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.types import F64, I32, I64, Bool


@njit(cache=True, nogil=True)
def shared_tokens(tokens: I64, starts: I64, postings: I32, n: int) -> I32:
    """How many of the query's tokens each document has: int32 (n,).

    Args:
        tokens: int64, distinct rows of the vocabulary; -1 for a token that no document has.
        starts: int64 (vocabulary + 1,), where the postings of each token begin.
        postings: int32, documents with each token, no document twice.
        n: number of documents.
    """
    common = np.zeros(n, np.int32)
    for token in tokens:
        if token >= 0:
            for i in range(starts[token], starts[token + 1]):
                common[postings[i]] += 1
    return common


@njit(cache=True, nogil=True)
def search_sets(
    tokens: I64, size: int, starts: I64, postings: I32, sizes: I32, passing: Bool, k: int
) -> tuple[I32, F64]:
    """The k documents of greatest Jaccard similarity among those that share a token.

    Args:
        tokens: as for `shared_tokens`.
        size: distinct tokens of the query, unknown ones included.
        starts: as for `shared_tokens`.
        postings: as for `shared_tokens`.
        sizes: int32 (n,), distinct tokens of each document.
        passing: bool (n,), documents that may be answered; empty for all.
        k: answers wanted.

    Returns:
        int32 (m,) documents and float64 (m,) similarities, by (similarity falling, document).
    """
    n = len(sizes)
    common = shared_tokens(tokens, starts, postings, n)
    k = min(k, n)
    documents = np.empty(k, np.int32)
    similarities = np.empty(k, np.float64)
    found = 0
    for document in range(n):
        shared = int(common[document])
        if shared == 0 or (len(passing) > 0 and not passing[document]):
            continue
        similarity = shared / (size + int(sizes[document]) - shared)
        if found == k:
            # documents come in rising order: one that ties with the last loses
            if similarity <= similarities[k - 1]:
                continue
            found -= 1
        i = found
        while i > 0 and similarities[i - 1] < similarity:
            documents[i] = documents[i - 1]
            similarities[i] = similarities[i - 1]
            i -= 1
        documents[i] = document
        similarities[i] = similarity
        found += 1
    return documents[:found].copy(), similarities[:found].copy()
