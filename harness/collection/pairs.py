"""Pairs of queries and documents above a similarity, set beside the judgments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.collection import truth
from harness.collection.types import Corpus


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and a document, at least as similar as asked for, or judged.

    Attributes:
        similarity: Jaccard of their shingles; None where it is below the minimum.
        label: as judged; None where it is not.
    """

    query_id: str
    document_id: str
    similarity: float | None
    label: float | None


def judged_pairs(corpus: Corpus, minimum: float) -> Iterator[Pair]:
    """Every pair at or above the minimum, then the judged pairs below it.

    Args:
        corpus: documents, queries and perhaps judgments.
        minimum: in (0, 1].

    Raises:
        SettingError: the minimum is out of range.
    """
    labels = _labels(corpus)
    for query_id, document_id, similarity in truth.pairs_above(corpus, minimum):
        label = labels.pop((query_id, document_id), None)
        yield Pair(query_id, document_id, similarity, label)
    for (query_id, document_id), label in labels.items():
        yield Pair(query_id, document_id, None, label)


def _labels(corpus: Corpus) -> dict[tuple[str, str], float]:
    if corpus.judgments is None:
        return {}
    judged = corpus.judgments
    return {
        (corpus.query_ids[query], corpus.ids[judged.documents[row]]): float(judged.gains[row])
        for query in range(len(corpus.query_ids))
        for row in range(int(judged.indptr[query]), int(judged.indptr[query + 1]))
    }
