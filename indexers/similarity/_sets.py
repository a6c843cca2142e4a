"""Jaccard similarities of lists of hashes, as sets or as multisets, exact in whole numbers."""

from __future__ import annotations

import numpy as np

from indexers.kernels import threads
from indexers.types import F64, I32, I64, U64, Ragged

BLOCK = 8192
"""Documents a block: their counters stay in a core's cache."""
MOST_WORDS = 16
"""64-bit words a document for elements that are frequent in a block."""
FREQUENT = 0.03
"""Share of a block's documents from which a bit in each is cheaper than a list of those."""


class _Vocabulary:
    """The elements of the queries, numbered."""

    def __init__(self, queries: Ragged, *, copies: bool) -> None:
        from indexers.kernels.similarity_sets import elements, learn

        self._copies = copies
        self.offsets, values, numbers = elements(queries.indptr, _hashes(queries), copies)
        self.tokens, self._table, firsts = learn(values, numbers)
        self._values, self._numbers = values[firsts], numbers[firsts]

    @property
    def size(self) -> int:
        return len(self._values)

    def look_up(self, documents: Ragged) -> tuple[I64, I32, I64]:
        """Offsets and tokens of documents, and how many have each token."""
        from indexers.kernels.similarity_sets import elements, find

        offsets, values, numbers = elements(documents.indptr, _hashes(documents), self._copies)
        counts = np.zeros(self.size, np.int64)
        tokens = find(values, numbers, self._table, self._values, self._numbers, counts)
        return offsets, tokens, counts


def jaccard_matrix(queries: Ragged, documents: Ragged, *, multiset: bool) -> F64:
    """|A ∩ B| / |A ∪ B|: float64 (m, n), NaN where both are empty.

    Args:
        queries: m lists of uint64.
        documents: n lists of uint64.
        multiset: count the copies of a value: Σ min / Σ max of the counts.
    """
    vocabulary = _Vocabulary(queries, copies=multiset)
    result = np.empty((len(queries), len(documents)))
    for first in range(0, len(documents), BLOCK):
        _fill(result, vocabulary, documents.part(first, first + BLOCK), first)
    return result


def _fill(result: F64, vocabulary: _Vocabulary, documents: Ragged, first: int) -> None:
    from indexers.kernels.jaccard import index_block
    from indexers.kernels.similarity_sets import jaccard_block

    offsets, tokens, counts = vocabulary.look_up(documents)
    slots, words = _slots(counts, len(documents))
    block = (slots, *index_block(offsets, tokens, slots, counts, words), np.diff(offsets), first)

    def work(lo: int, hi: int) -> None:
        jaccard_block(vocabulary.offsets, vocabulary.tokens, lo, hi, *block, result)

    threads.over_pairs(len(result), len(documents), work)


def _slots(counts: I64, documents: int) -> tuple[I32, int]:
    """The bit of each frequent token, -1 for the others, and the words that hold the bits."""
    frequent = np.flatnonzero(counts > FREQUENT * documents)
    frequent = frequent[np.argsort(-counts[frequent], kind="stable")][: 64 * MOST_WORDS]
    slots = np.full(len(counts), -1, np.int32)
    slots[frequent] = np.arange(len(frequent))
    return slots, -(-len(frequent) // 64)


def _hashes(lists: Ragged) -> U64:
    return np.ascontiguousarray(lists.values, np.uint64)
