"""Ranking by BM25 in process: what plain text search would give."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from harness.collection.types import Corpus
from indexers.types import F64, I32, Bool, Nearest, Progress, no_progress

K1, B = 1.2, 0.75
"""Parameters of Lucene's default, as search engines have them."""
_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Lower-cased runs of letters, digits and underscores."""
    return _WORD.findall(text.lower())


def nearest(
    corpus: Corpus, *, k: int, passing: Bool | None = None, progress: Progress = no_progress
) -> Nearest:
    """The k best documents of each query with the whole tie class of the k-th.

    Scores are Lucene's variant of BM25 (Kamphuis et al., ECIR 2020), every word of the query
    counted as often as it stands there. Documents without a common word score 0 and are not
    listed; a query's own document is left out.

    Args:
        corpus: documents and queries.
        k: how many, at least 1.
        passing: bool (documents,), those that may be answered; None for all. Words are weighted
            by all documents, as in an engine that filters.
        progress: called with the number of queries done since the last call.
    """
    import bm25s

    ids, vocabulary = _tokens(corpus.texts)
    index = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64")
    if vocabulary:  # without a word in any document there is nothing to index
        index.index((ids, vocabulary), show_progress=False)
    rows = []
    for text, own in zip(corpus.query_texts, corpus.query_self, strict=True):
        known = index.get_tokens_ids(words(text)) if vocabulary else []
        scores = np.asarray(index.get_scores_from_ids(known)) if known else np.zeros(0)
        if passing is not None and len(scores):
            scores = np.where(passing, scores, 0.0)
        rows.append(_best(scores, int(own), k))
        progress(1)
    return Nearest(
        indptr=np.cumsum([0, *(len(documents) for documents, _, _ in rows)], dtype=np.int64),
        documents=np.concatenate([documents for documents, _, _ in rows]),
        similarity=np.concatenate([scores for _, scores, _ in rows]),
        kth=np.array([kth for _, _, kth in rows], dtype=np.float64),
        valid=np.array([bool(words(text)) for text in corpus.query_texts]),
    )


def _tokens(texts: Sequence[str]) -> tuple[list[list[int]], dict[str, int]]:
    """Word numbers of each text and the vocabulary: numbers are shared, words would not be."""
    vocabulary: dict[str, int] = {}
    ids = [[vocabulary.setdefault(w, len(vocabulary)) for w in words(text)] for text in texts]
    return ids, vocabulary


def _best(scores: F64, own: int, k: int) -> tuple[I32, F64, float]:
    """Documents at or above the k-th score and above 0, best first, then by ordinal."""
    if own >= 0 and len(scores):
        scores[own] = 0.0
    found = np.flatnonzero(scores > 0)
    if len(found) < k:
        kth = 0.0
    else:
        kth = float(-np.partition(-scores[found], k - 1)[k - 1])
        found = found[scores[found] >= kth]
    order = np.lexsort((found, -scores[found]))
    return found[order].astype(np.int32), scores[found][order], kth
