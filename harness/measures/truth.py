"""What runs on one corpus are scored against, made ready once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from harness.collection.types import Judgments, Neighbours
from harness.measures import ann
from harness.measures.relevance import Relevance, prepare_relevance
from indexers.errors import HarnessError
from indexers.types import I32, I64

Empty: TypeAlias = Literal["skip", "zero"]
"""Whether queries without relevants are left out of the means, or score 0."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What runs on one corpus are scored against, made by `prepare_truth`.

    Attributes:
        cutoff: K.
        relevance: None without judgments.
        nearest: None without neighbours.
        n_documents: in the corpus.
        query_self: int32 (queries,).
        usable: documents that have features.
        returnable: int64 (queries,), usable documents less the query itself.
        empty: whether queries without relevants are left out or score 0.
    """

    cutoff: int
    relevance: Relevance | None
    nearest: ann.TrueNearest | None
    n_documents: int
    usable: int
    query_self: I32
    returnable: I64
    empty: Empty


def prepare_truth(
    *,
    judgments: Judgments | None,
    neighbours: Neighbours | None,
    cutoff: int,
    n_documents: int,
    query_self: I32,
    n_usable: int | None = None,
    relevant_from: float | None = None,
    empty: Empty = "skip",
) -> Truth:
    """Make a corpus' truth ready to score many runs with.

    Args:
        judgments: None where the corpus has none.
        neighbours: exact, at the same cut-off; None where none were computed.
        cutoff: K, at least 1.
        n_documents: in the corpus, the query's own included.
        n_usable: those of them that have features and so can be returned; None for all.
        query_self: int32 (queries,), ordinal of the document that is the query, or -1.
        relevant_from: label that binary measures count from; None for 2 where the largest label
            is 2 or more, else 1.
        empty: `skip` leaves queries without relevants out of the means, `zero` counts them
            with 0.

    Raises:
        SettingError: `relevant_from` is not above 0.
        HarnessError: truths of different shapes.
    """
    queries = len(query_self)
    if judgments is not None and len(judgments.indptr) != queries + 1:
        raise HarnessError(f"judgments of {len(judgments.indptr) - 1} queries, not {queries}")
    if neighbours is not None and neighbours.k != cutoff:
        raise HarnessError(f"neighbours were computed at K = {neighbours.k}, not {cutoff}")
    if neighbours is not None and len(neighbours.nearest.valid) != queries:
        raise HarnessError(f"neighbours of {len(neighbours.nearest.valid)} queries, not {queries}")
    relevance = nearest = None
    if judgments is not None:
        relevance = prepare_relevance(
            judgments,
            cutoff=cutoff,
            n_documents=n_documents,
            query_self=query_self,
            relevant_from=relevant_from,
        )
    if neighbours is not None:
        nearest = ann.prepare_nearest(neighbours.nearest, n_documents, neighbours.least)
    usable = n_documents if n_usable is None else n_usable
    returnable = np.maximum(usable - (query_self >= 0).astype(np.int64), 0)
    return Truth(cutoff, relevance, nearest, n_documents, usable, query_self, returnable, empty)
