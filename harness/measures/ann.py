"""ANNRecall@K: the share of the true K nearest that was found, ties counted by similarity.

A returned document counts if its true similarity reaches that of the K-th nearest, however many
documents tie there; it counts once; the divisor is min(K, n) for n documents that could be
returned. Rule: Aumüller, Bernhardsson and Faithfull, ANN-Benchmarks, Information Systems 87,
2020, with their ε = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.measures.answers import find, first_seen, pair_keys, pair_rows
from harness.measures.ranking import divide
from indexers.types import F64, I32, I64, Bool, Nearest


@dataclass(frozen=True, slots=True)
class TrueNearest:
    """Which documents count as nearest, ready to score many runs with.

    Attributes:
        keys: int64 (pairs,), ascending, see `answers.pair_keys`.
        n_documents: in the corpus.
        every: bool (queries,), all documents count, since the K-th is as far as can be.
        listed: int64 (queries,), documents that count where `every` is false.
        valid: bool (queries,).
        allowed: bool (documents,), those that can count at all; None for all.
    """

    keys: I64
    n_documents: int
    every: Bool
    listed: I64
    valid: Bool
    allowed: Bool | None = None

    def counts(self, rows: I64, documents: I32) -> Bool:
        """Which (query row, ordinal) pairs count; false where the ordinal is -1."""
        _, found = find(self.keys, pair_keys(rows, documents, self.n_documents))
        counted = (found | self.every[rows]) & (documents >= 0)
        return np.asarray(counted if self.allowed is None else counted & self.allowed[documents])


def prepare_nearest(nearest: Nearest, n_documents: int, least: float = 0.0) -> TrueNearest:
    """Make exact neighbours ready.

    Args:
        nearest: with the whole tie class of the K-th.
        n_documents: in the corpus.
        least: the least possible similarity; a K-th that has it lets every document count.
    """
    keys = np.sort(pair_keys(pair_rows(nearest.indptr), nearest.documents, n_documents))
    return TrueNearest(
        keys, n_documents, nearest.kth <= least, np.diff(nearest.indptr), nearest.valid
    )


def ann_recall(answers: I32, truth: TrueNearest, returnable: I64) -> F64:
    """ANNRecall@K of each query, NaN where the query has no features.

    Args:
        answers: int32 (queries, K), ordinals, padded with -1.
        truth: neighbours at the same K.
        returnable: int64 (queries,), documents that could be returned.

    Example:
        Twenty documents at one distance, five of them returned at K = 5: 1.0.
    """
    rows = np.arange(len(answers), dtype=np.int64)[:, None]
    counted = truth.counts(rows, answers) & first_seen(answers)
    share = share_found(counted.sum(axis=1), answers.shape[1], returnable)
    return np.where(truth.valid, share, np.nan)


def code_recall(scores: F64, kth: F64, returnable: I64) -> F64:
    """ANNRecall(truth=code)@K: what the index lost against exact search on the code.

    Args:
        scores: float64 (queries, K), code similarity of distinct answers, NaN at padding.
        kth: float64 (queries,), code similarity of the K-th nearest, or of the last where there
            are fewer; NaN where the query has no code: it is left out.
        returnable: int64 (queries,), documents that could be returned.
    """
    # a comparison with NaN is false, so that padding never counts
    counted = np.count_nonzero(scores >= kth[:, None], axis=1)
    share = share_found(counted, scores.shape[1], returnable)
    return np.where(np.isnan(kth), np.nan, share)


def share_found(counted: I64 | F64, cutoff: int, returnable: I64) -> F64:
    """`counted` / min(K, returnable), at most 1; NaN where nothing could be returned."""
    return np.minimum(divide(counted, np.minimum(cutoff, returnable)), 1.0)
