"""What answers under each filter of a study are held against, and its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.collection.types import Corpus, Neighbours
from harness.config import StudyConfig
from harness.filters import filters_of, slug
from harness.measures.relevance import carried_measures, default_relevant_from
from harness.progress import Progress
from harness.report.trec import write_judgments, write_neighbours
from harness.tuning.encode import Inputs
from harness.tuning.filters import Resolved
from harness.tuning.passing import Ground, ground_of, passing_of
from harness.tuning.vectors import find_neighbours
from indexers.errors import SettingError


def grounds(
    config: StudyConfig,
    corpus: Corpus,
    vectors: Inputs | None,
    whole: Neighbours,
    progress: Progress,
) -> dict[str | None, Ground]:
    """The truth under every filter of the study, found among the documents that pass.

    Args:
        config: the study, its filters as settings hold them.
        corpus: with the attributes that they read.
        vectors: of documents and queries, where the study has any.
        whole: the neighbours where there is no filter.
        progress: told of the searches.
    """
    found = {}
    for text in filters_of(config.filter):
        passing = passing_of(corpus, text)
        neighbours = whole
        if text is not None:
            searched = passing.corpus(corpus)
            of = find_neighbours(config, searched, passing.vectors(vectors), progress)
            neighbours = passing.neighbours(of)
        found[text] = ground_of(corpus, passing, neighbours, config.cutoff, config.relevant_from)
    return found


def check_carried(config: StudyConfig, corpus: Corpus, objective: str) -> None:
    """Refuse filters under which no query carries the objective.

    Raises:
        SettingError: a line for each of them.
    """
    if corpus.judgments is None:
        return
    since = config.relevant_from or default_relevant_from(corpus.judgments)
    problems = []
    for text in filters_of(config.filter):
        judgments = passing_of(corpus, text).judgments(corpus.judgments)
        if objective.rpartition("@")[0] not in carried_measures(judgments, since):
            problems.append(
                f"filter {text}: no relevant document passes it, so that {objective} says nothing; "
                f"widen it, or choose --objective ANNRecall@{config.cutoff}"
            )
    if problems:
        raise SettingError(*problems)


def write_truths(folder: Path, corpus: Corpus, found: dict[str | None, Ground]) -> None:
    """Write neighbours and judgments under each filter, beside those without one.

    Args:
        folder: `truth/` of the study.
        corpus: whole.
        found: of `grounds`.
    """
    for text, ground in found.items():
        if text is None:
            continue
        passing, name = ground.passing, slug(text)
        own = passing.own(corpus.query_self)
        path = folder / f"neighbours.{name}.qrels.gz"
        write_neighbours(path, corpus.query_ids, corpus.ids, own, ground.neighbours, passing.rows)
        if ground.judgments is not None:
            path = folder / f"judgments.{name}.qrels"
            write_judgments(path, corpus.query_ids, corpus.ids, ground.judgments)


def facts(filters: Sequence[Resolved], found: dict[str | None, Ground]) -> Iterator[dict[str, Any]]:
    """What the report tells of each filter."""
    for one in filters:
        ground = found[one.filter]
        judgments, relevance = ground.judgments, ground.truth.relevance
        yield {
            "asked": one.asked,
            "filter": one.filter,
            "documents": one.documents,
            "share": one.share,
            "judged_queries": None
            if judgments is None
            else int(np.count_nonzero(np.diff(judgments.indptr))),
            "queries_with_relevants": None
            if relevance is None
            else int(np.count_nonzero(relevance.relevant)),
        }
