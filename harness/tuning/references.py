"""Rows of quality only: ranking by a similarity itself, outside load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.collection.types import Corpus, Neighbours
from harness.measures.scores import Scores, Truth, prepare_truth, score_nearest
from harness.tuning.encode import Encoded
from harness.tuning.names import TEXT_REFERENCE, code_name, signature_name
from indexers.types import F64, Fingerprints, Nearest, Progress, Status


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """A ranking's quality, in expectation over its ties.

    Attributes:
        name: for reports, such as `exact jaccard`.
        quality: measure -> mean.
        measure_n: measure -> queries in the mean.
        tied_share: of the ranked scores; None where not known.
    """

    name: str
    quality: dict[str, float | None]
    measure_n: dict[str, int]
    tied_share: float | None


def truth_of(
    corpus: Corpus, neighbours: Neighbours, cutoff: int, relevant_from: float | None
) -> Truth:
    """What every run on this corpus is scored against."""
    return prepare_truth(
        judgments=corpus.judgments,
        neighbours=neighbours,
        cutoff=cutoff,
        n_documents=len(corpus.ids),
        n_usable=sum(bool(text.strip()) for text in corpus.texts),
        query_self=corpus.query_self,
        relevant_from=relevant_from,
    )


def similarity_reference(neighbours: Neighbours, truth: Truth) -> ReferenceRow:
    """Ranking by the reference similarity itself: the most that hashing it can reach."""
    name = f"exact {neighbours.similarity_name}"
    return _row(name, score_nearest(neighbours.nearest, truth))


def text_reference(corpus: Corpus, truth: Truth, progress: Progress) -> ReferenceRow:
    """Ranking by BM25 in process, for studies without an engine to ask."""
    from harness.collection import bm25

    nearest = bm25.nearest(corpus, k=truth.cutoff, progress=progress)
    return _row(TEXT_REFERENCE, score_nearest(nearest, truth))


def code_nearest(encoded: Encoded, corpus: Corpus, k: int) -> Nearest:
    """The nearest documents by Hamming distance of the re-ranking code."""
    from indexers.similarity import hamming

    documents, queries = _fingerprints(encoded)
    return hamming.nearest(
        documents.codes,
        documents.status,
        queries.codes,
        queries.status,
        k=k,
        exclude=corpus.query_self,
    )


def code_references(
    family: str, encoded: Encoded, nearest: Nearest, corpus: Corpus, truth: Truth
) -> Iterator[ReferenceRow]:
    """Exact search on the code, and on the signature it is made from where there is one."""
    yield _row(code_name(family), score_nearest(nearest, truth))
    documents, queries = _fingerprints(encoded)
    if documents.signatures is None or queries.signatures is None:
        return
    from indexers.similarity import agreement

    by_signature = agreement.nearest(
        documents.signatures,
        documents.status,
        queries.signatures,
        queries.status,
        k=truth.cutoff,
        exclude=corpus.query_self,
    )
    yield _row(signature_name(family), score_nearest(by_signature, truth))


def kth_by_code(nearest: Nearest, encoded: Encoded) -> F64:
    """Code similarity of the K-th nearest: float64 (queries,), NaN without a code."""
    _, queries = _fingerprints(encoded)
    return np.where(queries.status == Status.OK, nearest.kth, np.nan)


def _fingerprints(encoded: Encoded) -> tuple[Fingerprints, Fingerprints]:
    documents, queries = encoded.documents.fingerprints, encoded.queries.fingerprints
    assert documents is not None
    assert queries is not None
    return documents, queries


def _row(name: str, scores: Scores) -> ReferenceRow:
    return ReferenceRow(name, scores.means(), scores.counts(), scores.tied_share)
