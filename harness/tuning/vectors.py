"""The vectors of a study, and the exact neighbours that its answers are held against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.config import StudyConfig
from harness.progress import Progress
from harness.tuning.plan import VectorsId

if TYPE_CHECKING:
    from harness.collection.types import Corpus, Neighbours
    from harness.collection.vectors import VectorSource
    from harness.tuning.encode import Inputs


def vectors_id(config: StudyConfig, corpus_content: str) -> VectorsId | None:
    """What the vectors depend on; None where no family hashes any.

    Raises:
        InputError: the vectors cannot be read.
        MissingPackage: a model is to encode the texts, and its library is not installed.
    """
    if not config.hashes_vectors and config.compared_by != "cosine":
        return None
    from harness.collection.vectors import dimension_of, identity_of

    source = _source(config)
    return VectorsId(f"{corpus_content} {identity_of(source)}", dimension_of(source))


def read_vectors(config: StudyConfig, corpus: Corpus, progress: Progress) -> Inputs | None:
    """The vectors of documents and queries; None where nothing needs them.

    Raises:
        InputError: they cannot be read, or do not fit the corpus.
    """
    if not config.hashes_vectors and config.compared_by != "cosine":
        return None
    from harness.collection.vectors import vectors_of
    from harness.tuning.encode import Inputs

    count = len(corpus.ids) + len(corpus.query_ids)
    with progress.stage("vectors", count) as advance:
        return Inputs(*vectors_of(corpus, _source(config), advance))


def find_neighbours(
    config: StudyConfig, corpus: Corpus, vectors: Inputs | None, progress: Progress
) -> Neighbours:
    """The exact neighbours under the study's reference similarity."""
    from harness.collection import truth

    if config.compared_by == "jaccard":
        with progress.stage("exact neighbours", len(corpus.ids)) as advance:
            return truth.neighbours(corpus, k=config.cutoff, progress=advance)
    assert vectors is not None
    with progress.stage("exact neighbours", len(corpus.query_ids)) as advance:
        return truth.vector_neighbours(
            corpus, vectors.documents, vectors.queries, k=config.cutoff, progress=advance
        )


def _source(config: StudyConfig) -> VectorSource:
    """As asked for; without vectors and model it is the encoder's default model."""
    from harness.collection.vectors import VectorSource

    given = {
        name: value
        for name in (
            "vectors",
            "query_vectors",
            "model",
            "pooling",
            "query_instruction",
            "max_length",
            "batch_size",
            "device",
        )
        if (value := getattr(config, name)) is not None
    }
    return VectorSource(**given)
