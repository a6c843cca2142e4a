"""Rows of quality only: ranking by a similarity itself, outside load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.collection.types import Corpus, Neighbours
from harness.measures.scores import Scores, Truth, score_nearest
from harness.tuning.encode import Encoded
from harness.tuning.names import TEXT_REFERENCE, exact_name, under
from harness.tuning.passing import EVERYTHING, Ground, Passing, ground_of
from indexers.registry import family, fitting_form, similarity
from indexers.types import F64, I32, Fingerprints, Form, Nearest, Progress, Status, no_progress


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
    return ground_of(corpus, EVERYTHING, neighbours, cutoff, relevant_from).truth


def similarity_reference(neighbours: Neighbours, ground: Ground) -> ReferenceRow:
    """Ranking by the reference similarity itself: the most that hashing it can reach."""
    name = under(f"exact {neighbours.similarity_name}", ground.passing.filter)
    return _row(name, score_nearest(neighbours.nearest, ground.truth))


def text_reference(corpus: Corpus, ground: Ground, progress: Progress) -> ReferenceRow:
    """Ranking by BM25 in process, for studies without an engine to ask."""
    from harness.collection import bm25

    truth, passing = ground.truth, ground.passing
    nearest = bm25.nearest(corpus, k=truth.cutoff, passing=passing.mask, progress=progress)
    return _row(under(TEXT_REFERENCE, passing.filter), score_nearest(nearest, truth))


def ranked_by(encoded: Encoded) -> str:
    """What an index ranks these fingerprints by: `code`, or the family's own similarity."""
    assert encoded.hashing is not None
    return family(encoded.hashing.family).reranks[0]


def exact_nearest(
    encoded: Encoded,
    corpus: Corpus,
    k: int,
    progress: Progress = no_progress,
    passing: Passing = EVERYTHING,
) -> Nearest:
    """The nearest documents that pass by what an index ranks by, without an index.

    Progress is told of documents done.
    """
    whole, queries = _fingerprints(encoded)
    documents, own = passing.fingerprints(whole), passing.within(corpus.query_self)
    by = ranked_by(encoded)
    if by == "code":
        from indexers.similarity import hamming

        found = hamming.nearest(
            documents.codes,
            documents.status,
            queries.codes,
            queries.status,
            k=k,
            exclude=own,
        )
        progress(len(documents))  # at once: it passes over all documents query by query
        return passing.lifted(found)
    from indexers.nearest import nearest_by_matrix

    found = nearest_by_matrix(
        similarity(by),
        _form(encoded, by),
        queries,
        documents,
        k=k,
        exclude=own,
        progress=progress,
    )
    return passing.lifted(found)


def exact_scores(encoded: Encoded, answers: I32) -> F64:
    """What an index ranks by, of each answer: float64 (queries, K), NaN at padding."""
    documents, queries = _fingerprints(encoded)
    by = ranked_by(encoded)
    if by == "code":
        from indexers.similarity import hamming

        return hamming.scores(documents.codes, queries.codes, answers)
    from indexers.nearest import scores_by_matrix

    return scores_by_matrix(similarity(by), _form(encoded, by), queries, documents, answers)


def _form(encoded: Encoded, by: str) -> Form:
    assert encoded.hashing is not None
    form = fitting_form(encoded.hashing.family, by)
    assert form is not None  # a family declares what fits it
    return form


def exact_references(
    encoded: Encoded, nearest: Nearest, corpus: Corpus, ground: Ground
) -> Iterator[ReferenceRow]:
    """Exact search, and on the signature that a code is made from where there is one."""
    assert encoded.hashing is not None
    truth, passing = ground.truth, ground.passing
    name = under(exact_name(encoded.hashing, ranked_by(encoded)), passing.filter)
    yield _row(name, score_nearest(nearest, truth))
    documents, queries = _fingerprints(encoded)
    if documents.signatures is None or queries.signatures is None:
        return
    from indexers.similarity import agreement

    rows = slice(None) if passing.rows is None else passing.rows
    by_signature = agreement.nearest(
        documents.signatures[rows],
        documents.status[rows],
        queries.signatures,
        queries.status,
        k=truth.cutoff,
        exclude=passing.within(corpus.query_self),
    )
    name = under(exact_name(encoded.hashing, "signature"), passing.filter)
    yield _row(name, score_nearest(passing.lifted(by_signature), truth))


def kth_of(nearest: Nearest, encoded: Encoded) -> F64:
    """Similarity of the K-th nearest: float64 (queries,), NaN without a fingerprint."""
    _, queries = _fingerprints(encoded)
    return np.where(queries.status == Status.OK, nearest.kth, np.nan)


def _fingerprints(encoded: Encoded) -> tuple[Fingerprints, Fingerprints]:
    documents, queries = encoded.documents.fingerprints, encoded.queries.fingerprints
    assert documents is not None
    assert queries is not None
    return documents, queries


def _row(name: str, scores: Scores) -> ReferenceRow:
    return ReferenceRow(name, scores.means(), scores.counts(), scores.tied_share)
