"""Hash curves of a corpus: its texts, or their vectors, hashed by each family that has a code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from harness.bench.compare import Sides
from harness.bench.curves.input import Rule
from harness.bench.curves.raw import Measured, coded_of
from harness.bench.curves.relevance import BALL_RANK, by_ball, judged_pairs, nearest_pairs
from harness.bench.hashing import bench_params, fingerprint
from harness.collection.types import Corpus
from harness.measures.curves_counting import PairRelevance
from harness.progress import Progress
from indexers import registry
from indexers.errors import SettingError

Truth: TypeAlias = Literal["judgments", "neighbours", "vectors"]


@dataclass(frozen=True, slots=True)
class CorpusTruth:
    """What is relevant in a corpus.

    Attributes:
        kind: `judgments`, `neighbours` by Jaccard of character shingles, or `vectors`.
        relevant_from: least gain that is relevant; None for 2 where any gain is, else 1.
        k: neighbours a query, ties kept.
        rule: how vectors tell who is near.
        ball_rank: of the ball rule.
    """

    kind: Truth
    relevant_from: float | None = None
    k: int = 50
    rule: Rule = "ball"
    ball_rank: int = BALL_RANK


def chosen_families(names: Sequence[str], has_vectors: bool) -> list[str]:
    """The families asked for, or all that can make codes of what is there.

    Raises:
        SettingError: one is unknown, makes no codes, or wants vectors that are not there.
    """
    coded = [name for name in registry.family_names() if "bits" in registry.family(name).forms]
    able = [name for name in coded if has_vectors or registry.family(name).source == "text"]
    problems = [
        f"family {name} hashes vectors: give --vectors FILE or --model NAME"
        if name in coded
        else f"family {name!r} makes no codes: choose from {', '.join(coded)}"
        for name in names
        if name not in able
    ]
    if problems:
        raise SettingError(*problems)
    return list(dict.fromkeys(names)) or able


def relevance_of(
    corpus: Corpus, sides: Sides, truth: CorpusTruth, progress: Progress
) -> tuple[PairRelevance, str]:
    """What is relevant to each query, and how it is told.

    Args:
        corpus: documents and queries.
        sides: of the corpus, with vectors where they tell.
        truth: how it is told.
        progress: shown while neighbours are looked for.

    Raises:
        SettingError: the corpus has no judgments, none that is relevant, or no vectors.
    """
    if truth.kind == "vectors":
        return _by_vectors(corpus, sides, truth, progress)
    if truth.kind == "neighbours":
        from harness.collection.truth import neighbours

        with progress.stage("exact neighbours", len(corpus.texts)) as advance:
            found = neighbours(corpus, k=truth.k, progress=advance)
        return nearest_pairs(found.nearest), f"{truth.k} nearest by exact Jaccard, ties kept"
    if corpus.judgments is None:
        raise SettingError(f"corpus {corpus.name} has no judgments: take --truth neighbours")
    return judged_pairs(corpus.judgments, truth.relevant_from), "judgments of the corpus"


def _by_vectors(
    corpus: Corpus, sides: Sides, truth: CorpusTruth, progress: Progress
) -> tuple[PairRelevance, str]:
    documents, queries = sides.vectors, sides.query_vectors
    if documents is None or queries is None:
        raise SettingError("--truth vectors: give --vectors FILE or --model NAME")
    if truth.rule == "neighbours":
        from harness.collection.truth import vector_neighbours

        with progress.stage("exact neighbours", len(documents)) as advance:
            found = vector_neighbours(corpus, documents, queries, k=truth.k, progress=advance)
        return nearest_pairs(found.nearest), f"{truth.k} nearest by cosine, ties kept"
    with progress.stage("ball rule", len(documents) + len(queries)) as advance:
        ball = by_ball(
            documents.astype(np.float64), queries.astype(np.float64), truth.ball_rank, advance
        )
    note = f"strictly closer than Dball = {ball.radius:.6f} (rank {truth.ball_rank})"
    return ball.pairs, note


def from_corpus(
    corpus: Corpus,
    sides: Sides,
    families: Sequence[str],
    relevance: tuple[PairRelevance, str],
    hashing: Mapping[str, Any],
    progress: Progress,
) -> Iterator[tuple[str, Measured]]:
    """Hash a corpus family by family.

    Args:
        corpus: documents and queries; a query's own document is left out of its balls.
        sides: what is hashed.
        families: with codes.
        relevance: from `relevance_of`.
        hashing: what was asked for of `bench_params`.
        progress: shown while hashing.

    Raises:
        SettingError: a family cannot hash so.
    """
    pairs, note = relevance
    for name in families:
        params = bench_params(name, dimension=sides.dimension(name), **hashing)
        with progress.stage(name, len(corpus.texts) + len(corpus.query_texts)) as advance:
            hashed = fingerprint(name, params, *sides.of(name), progress=advance)
        yield name, Measured(coded_of(hashed, corpus.query_self), pairs, note)
