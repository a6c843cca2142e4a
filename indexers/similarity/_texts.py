"""Exact Jaccard neighbours of texts: |A ∩ B| / |A ∪ B| of sets of distinct shingles.

Sets of the shingles of normalised text (Broder, "On the resemblance and containment of
documents", 1997). Documents pass in blocks, so that memory does not grow with the corpus; the
result depends on nothing but the texts. Equal fractions give equal float64 quotients, so that
ties are ties.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indexers.errors import SettingError
from indexers.kernels import threads
from indexers.listing import Found, joined, listed
from indexers.text import Shingler
from indexers.types import F64, I32, I64, Nearest, Progress, no_progress

BLOCK = 16_384
"""Documents a block: its bits and counts stay in a core's cache."""
CHUNK = 64
"""Queries a piece of work."""


def nearest(
    documents: Sequence[str],
    queries: Sequence[str],
    *,
    k: int,
    exclude: I32,
    shingle_size: int = 3,
    progress: Progress = no_progress,
) -> Nearest:
    """The k nearest documents of each query with all that tie with the k-th.

    A document without shingles is no one's neighbour; a query without is not valid. Documents
    without any common shingle (similarity 0) are never listed.

    Args:
        documents: raw texts by ordinal.
        queries: raw texts.
        k: at least 1.
        exclude: int32 (queries,), ordinal of the document that is the query itself, or -1.
        shingle_size: characters a shingle.
        progress: told of documents done.

    Raises:
        SettingError: the shingle size is out of range.
    """
    best = np.zeros((len(queries), k))
    search = _Search(queries, exclude, shingle_size, minimum=0.0, best=best)
    found = search.run(documents, progress)
    held = search.nonempty - search.excluded
    last = np.clip(np.minimum(held, k) - 1, 0, None)
    kth = best[np.arange(len(queries)), last]
    keep = found.similarity >= kth[found.queries]
    return listed(found, keep, kth, search.valid)


def pairs_above(
    documents: Sequence[str],
    queries: Sequence[str],
    *,
    minimum: float,
    exclude: I32,
    shingle_size: int = 3,
    progress: Progress = no_progress,
) -> Nearest:
    """All documents of similarity `minimum` (above 0, at most 1) or more, of each query.

    The arguments are those of `nearest`; `kth` of the result is `minimum` for each query.

    Raises:
        SettingError: the shingle size or the minimum is out of range.
    """
    if not 0 < minimum <= 1:
        raise SettingError(f"minimum similarity {minimum}: choose above 0, at most 1")
    best = np.empty((len(queries), 0))
    search = _Search(queries, exclude, shingle_size, minimum=minimum, best=best)
    found = search.run(documents, progress)
    kth = np.full(len(queries), minimum)
    return listed(found, np.ones(len(found.queries), np.bool_), kth, search.valid)


class _Search:
    """Prepared queries, and the vocabulary that they share with the documents."""

    def __init__(
        self, queries: Sequence[str], exclude: I32, shingle_size: int, minimum: float, best: F64
    ) -> None:
        self._shingler = Shingler(shingle_size)
        # queries come first: a token is in a query exactly if it is below `_known`
        self._offsets, self._tokens = self._sets(queries)
        self._known = self._shingler.size
        self._exclude = np.ascontiguousarray(exclude, np.int32)
        self._minimum, self._best = minimum, best
        self.valid = np.diff(self._offsets) > 0
        self.nonempty = 0
        self.excluded = np.zeros(len(queries), np.int64)

    def _sets(self, texts: Sequence[str]) -> tuple[I64, I32]:
        from indexers.kernels.jaccard import distinct

        block = self._shingler.block(texts)
        offsets, tokens = distinct(block.offsets, block.tokens, self._shingler.size)
        return offsets, tokens

    def run(self, documents: Sequence[str], progress: Progress) -> Found:
        """Pass over all documents, block by block."""
        parts: list[Found] = []
        for first in range(0, len(documents), BLOCK):
            texts = documents[first : first + BLOCK]
            parts += self._block(texts, first)
            progress(len(texts))
        return joined(parts)

    def _block(self, texts: Sequence[str], first: int) -> list[Found]:
        from indexers.kernels.jaccard import FREQUENT, index_block, score_block

        offsets, tokens = self._sets(texts)
        sizes = np.diff(offsets)
        self._count(sizes, first)
        counts = np.bincount(tokens[tokens < self._known], minlength=self._known)
        slots = np.full(self._known, -1, np.int32)
        frequent = np.argsort(-counts, kind="stable")[:FREQUENT]
        slots[frequent] = np.arange(len(frequent))
        block = (slots, *index_block(offsets, tokens, slots, counts, FREQUENT // 64), sizes, first)

        def score(lo: int) -> Found:
            hi = min(lo + CHUNK, len(self.valid))
            found, ordinals, similarity = score_block(
                self._offsets,
                self._tokens,
                lo,
                hi,
                self._exclude,
                *block,
                self._minimum,
                self._best,
            )
            queries = np.repeat(np.arange(lo, hi, dtype=np.int32), found)
            return Found(queries, ordinals, similarity)

        return threads.mapped(score, range(0, len(self.valid), CHUNK))

    def _count(self, sizes: I64, first: int) -> None:
        self.nonempty += int(np.count_nonzero(sizes))
        inside = self._exclude - first
        here = (inside >= 0) & (inside < len(sizes))
        self.excluded[here] += sizes[inside[here]] > 0
