"""Distances of codes counted into the histograms that hash curves are made of.

Queries pass in pieces, so that memory grows with queries × bits and with the documents, never
with queries × documents.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from harness.measures.curves import DistanceCounts
from indexers.codes import code_words
from indexers.kernels import threads
from indexers.types import I32, I64, U8, U64, Bool, Progress, Status, no_progress

CHUNK = 64
"""Queries a piece of work."""
HELD_PAIRS = 4_000_000
"""(query, relevant document) pairs held at a time."""


@dataclass(frozen=True, slots=True)
class LabelRelevance:
    """A document is relevant where its label equals the query's.

    Attributes:
        documents: int64 (n,), labels as numbers.
        queries: int64 (queries,).
    """

    documents: I64
    queries: I64


@dataclass(frozen=True, slots=True)
class PairRelevance:
    """Relevant documents listed for each query.

    Attributes:
        indptr: int64 (queries + 1,); query q's documents are rows indptr[q] to indptr[q + 1].
        documents: int32 (pairs,), ascending within a query, unique there.
    """

    indptr: I64
    documents: I32


Relevance = LabelRelevance | PairRelevance


@dataclass(frozen=True, slots=True)
class Coded:
    """Codes of both sides.

    Attributes:
        bits: B; bits beyond it are zero.
        codes: uint8 (n, ceil(B / 8)), packed, the first bit highest.
        query_codes: uint8 (queries, ceil(B / 8)).
        status: uint8 (n,), `Status`; only OK documents are ever found.
        query_status: uint8 (queries,); a query that is not OK finds nothing.
        query_self: int32 (queries,), the document that is the query itself, or -1; it is left
            out of the query's balls and of its relevant documents.
    """

    bits: int
    codes: U8
    query_codes: U8
    status: U8
    query_status: U8
    query_self: I32

    @classmethod
    def of(cls, bits: int, codes: U8, query_codes: U8) -> Coded:
        """Codes that are all good, of queries that are no documents."""
        return cls(
            bits,
            codes,
            query_codes,
            np.zeros(len(codes), np.uint8),
            np.zeros(len(query_codes), np.uint8),
            np.full(len(query_codes), -1, np.int32),
        )


def count_distances(
    coded: Coded, relevance: Relevance, progress: Progress = no_progress
) -> DistanceCounts:
    """Count all documents, and the relevant ones, at each distance of each query.

    Args:
        coded: codes of n documents and of the queries.
        relevance: of the same documents and queries.
        progress: called with the number of queries done since the last call.
    """
    valid = coded.query_status == Status.OK
    shape = (len(valid), coded.bits + 1)
    documents, relevant = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    words, query_words = code_words(coded.codes), code_words(coded.query_codes)
    held = np.flatnonzero(coded.status == Status.OK)
    if isinstance(relevance, LabelRelevance):
        # documents of one label side by side: a query's relevant ones are a range
        held = held[np.argsort(relevance.documents[held], kind="stable")]
    columns = np.ascontiguousarray(words[held].T)
    nothing = np.zeros(len(valid), np.int64)
    everything = np.where(valid, len(held), 0)
    _count(columns, query_words, (nothing, everything), documents, progress)
    if isinstance(relevance, LabelRelevance):
        labels = relevance.documents[held]
        first = np.searchsorted(labels, relevance.queries, "left")
        stop = np.where(valid, np.searchsorted(labels, relevance.queries, "right"), first)
        _count(columns, query_words, (first, stop), relevant, no_progress)
    else:
        _count_pairs(coded, relevance, words, query_words, relevant)
    own = _own(coded)
    _drop_own(coded, relevance, own, documents, relevant)
    returnable = len(held) - own.astype(np.int64)
    return DistanceCounts(documents, relevant, _wanted(coded, relevance), returnable)


def _count(
    columns: U64, queries: U64, ranges: tuple[I64, I64], counts: I64, progress: Progress
) -> None:
    from indexers.kernels.curves import count_ranges

    def piece(lo: int) -> int:
        hi = min(lo + CHUNK, len(queries))
        count_ranges(columns, queries, *ranges, lo, hi, counts)
        return hi - lo

    in_pieces(range(0, len(queries), CHUNK), piece, progress)


def in_pieces(starts: range, piece: Callable[[int], int], progress: Progress) -> None:
    """Do every piece on all cores that this process may use; a piece gives the queries done."""
    with ThreadPoolExecutor(threads.cores()) as pool:
        for done in pool.map(piece, starts):
            progress(done)


def _own(coded: Coded) -> Bool:
    """Which queries are themselves a document that has a code."""
    own = coded.query_self >= 0
    own[own] = coded.status[coded.query_self[own]] == Status.OK
    return own


def _drop_own(coded: Coded, relevance: Relevance, own: Bool, documents: I64, relevant: I64) -> None:
    """Take each query's own document out of the counts; listed pairs never held it."""
    rows = np.flatnonzero(own & (coded.query_status == Status.OK))
    ordinals = coded.query_self[rows]
    differing = coded.codes[ordinals] ^ coded.query_codes[rows]
    distances = np.bitwise_count(differing).sum(axis=1, dtype=np.int64)
    documents[rows, distances] -= 1
    if isinstance(relevance, LabelRelevance):
        same = relevance.documents[ordinals] == relevance.queries[rows]
        relevant[rows[same], distances[same]] -= 1


def _wanted(coded: Coded, relevance: Relevance) -> I64:
    """Relevant documents of each query, the query's own left out."""
    itself = coded.query_self >= 0
    if isinstance(relevance, PairRelevance):
        kept, _ = others_listed(coded, relevance)
        return np.diff(kept)
    labels = np.sort(relevance.documents)
    wanted = np.searchsorted(labels, relevance.queries, "right")
    wanted = wanted - np.searchsorted(labels, relevance.queries, "left")
    own_label = relevance.documents[coded.query_self[itself]]
    wanted[itself] -= own_label == relevance.queries[itself]
    return wanted.astype(np.int64)


def others_listed(coded: Coded, relevance: PairRelevance) -> tuple[I64, I32]:
    """The listed pairs without the queries' own documents."""
    rows = np.repeat(np.arange(len(coded.query_self)), np.diff(relevance.indptr))
    kept = relevance.documents != coded.query_self[rows]
    indptr = np.zeros(len(coded.query_self) + 1, np.int64)
    np.cumsum(np.bincount(rows[kept], minlength=len(coded.query_self)), out=indptr[1:])
    return indptr, relevance.documents[kept]


def _count_pairs(
    coded: Coded, relevance: PairRelevance, words: U64, query_words: U64, relevant: I64
) -> None:
    indptr, documents = others_listed(coded, relevance)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    able = (coded.status[documents] == Status.OK) & (coded.query_status[rows] == Status.OK)
    rows, documents = rows[able], documents[able]
    for lo in range(0, len(rows), HELD_PAIRS):
        some, others = rows[lo : lo + HELD_PAIRS], documents[lo : lo + HELD_PAIRS]
        differing = words[others] ^ query_words[some]
        distances = np.bitwise_count(differing).sum(axis=1, dtype=np.int64)
        cells, found = np.unique(some * relevant.shape[1] + distances, return_counts=True)
        relevant.reshape(-1)[cells] += found
