"""The documents that pass a filter: exact search among them alone, and the truth of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.collection import digest
from harness.collection.types import Corpus, Judgments, Neighbours
from harness.filters import filter_of
from harness.measures.relevance import default_relevant_from
from harness.measures.scores import Truth
from harness.measures.truth import prepare_truth
from harness.tuning.encode import Inputs
from indexers.filters import passing
from indexers.types import F64, I32, I64, Bool, Fingerprints, Nearest


@dataclass(frozen=True, slots=True)
class Passing:
    """The documents that may be answered.

    Attributes:
        filter: as settings hold it; None where all may.
        rows: int64 (passing,), their ordinals, ascending; None where all may.
        mask: bool (documents,), the same by ordinal.
    """

    filter: str | None = None
    rows: I64 | None = None
    mask: Bool | None = None

    @property
    def share(self) -> float | None:
        """Of the corpus' documents; None without a filter."""
        return None if self.mask is None else float(np.mean(self.mask))

    def own(self, query_self: I32) -> I32:
        """Ordinal of the document that is the query itself, −1 where that does not pass."""
        if self.mask is None:
            return query_self
        found = (query_self >= 0) & self.mask[query_self]
        return np.where(found, query_self, -1).astype(np.int32)

    def within(self, query_self: I32) -> I32:
        """The same, by rank among the documents that pass."""
        if self.rows is None:
            return query_self
        own = self.own(query_self)
        return np.where(own >= 0, np.searchsorted(self.rows, own), -1).astype(np.int32)

    def corpus(self, whole: Corpus) -> Corpus:
        """A corpus of the documents that pass; its judgments and attributes are left out."""
        if self.rows is None:
            return whole
        rows = self.rows.tolist()
        return replace(
            whole,
            content=digest.of_text(whole.content, self.filter or ""),
            ids=[whole.ids[row] for row in rows],
            texts=[whole.texts[row] for row in rows],
            query_self=self.within(whole.query_self),
            judgments=None,
            file_rows=None,
            attributes={},
        )

    def vectors(self, whole: Inputs | None) -> Inputs | None:
        """Those of the documents that pass, and of all queries."""
        if self.rows is None or whole is None:
            return whole
        return Inputs(whole.documents[self.rows], whole.queries)

    def fingerprints(self, whole: Fingerprints) -> Fingerprints:
        """Those of the documents that pass, keys of tables left out."""
        if self.rows is None:
            return whole
        return replace(whole, keys=whole.keys[:0]).take(self.rows)

    def lifted(self, found: Nearest) -> Nearest:
        """What was found among the documents that pass, by ordinals of the whole corpus."""
        if self.rows is None:
            return found
        return replace(found, documents=self.rows[found.documents].astype(np.int32))

    def neighbours(self, found: Neighbours) -> Neighbours:
        """As `lifted`."""
        return replace(found, nearest=self.lifted(found.nearest))

    def judgments(self, whole: Judgments | None) -> Judgments | None:
        """Those of documents that pass: no other can be relevant."""
        if self.mask is None or whole is None:
            return whole
        kept = self.mask[whole.documents]
        before = np.concatenate([[0], np.cumsum(kept)])
        return replace(
            whole,
            indptr=before[whole.indptr].astype(np.int64),
            documents=whole.documents[kept],
            gains=whole.gains[kept],
        )

    def scores(self, scores: F64, answers: I32) -> F64:
        """NaN where an answer does not pass: int32 (queries, K) answers, padded with −1."""
        if self.mask is None:
            return scores
        return np.where((answers >= 0) & self.mask[answers], scores, np.nan)

    def strangers(self, answers: I32) -> int:
        """Answers that do not pass."""
        if self.mask is None:
            return 0
        return int(np.count_nonzero((answers >= 0) & ~self.mask[answers]))


EVERYTHING = Passing()
"""All documents."""


def passing_of(corpus: Corpus, text: str | None) -> Passing:
    """The documents of a corpus that pass a filter of a setting."""
    wanted = filter_of(text)
    if wanted is None:
        return EVERYTHING
    mask = passing(corpus.attributes[wanted.field], wanted)
    return Passing(text, np.flatnonzero(mask), mask)


@dataclass(frozen=True, slots=True)
class Ground:
    """What answers under one filter are held against.

    Attributes:
        passing: the documents that may be answered.
        neighbours: the exact nearest of them.
        truth: neighbours, and the judgments of documents that pass.
        judgments: of the documents that pass; None where the corpus has none.
    """

    passing: Passing
    neighbours: Neighbours
    truth: Truth
    judgments: Judgments | None


def ground_of(
    corpus: Corpus,
    passing: Passing,
    neighbours: Neighbours,
    cutoff: int,
    relevant_from: float | None,
) -> Ground:
    """The truth under a filter.

    Args:
        corpus: whole.
        passing: the documents that may be answered.
        neighbours: of the queries among them, by ordinals of the whole corpus.
        cutoff: K.
        relevant_from: label that binary measures count from.
    """
    blank = [text.strip() == "" for text in _texts(corpus, passing)]
    usable = len(blank) - sum(blank) if neighbours.usable is None else neighbours.usable
    if relevant_from is None and corpus.judgments is not None:
        # of all judgments, so that a filter does not change what is relevant
        relevant_from = default_relevant_from(corpus.judgments)
    judgments = passing.judgments(corpus.judgments)
    truth = prepare_truth(
        judgments=judgments,
        neighbours=neighbours,
        cutoff=cutoff,
        n_documents=len(corpus.ids),
        n_usable=usable,
        query_self=passing.own(corpus.query_self),
        relevant_from=relevant_from,
    )
    if passing.mask is not None and truth.nearest is not None:
        truth = replace(truth, nearest=replace(truth.nearest, allowed=passing.mask))
    return Ground(passing, neighbours, truth, judgments)


def _texts(corpus: Corpus, passing: Passing) -> Sequence[str]:
    if passing.rows is None:
        return corpus.texts
    return [corpus.texts[row] for row in passing.rows.tolist()]
