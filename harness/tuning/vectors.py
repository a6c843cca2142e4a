"""The vectors of a study, and the exact neighbours that its answers are held against."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.config import StudyConfig
from harness.progress import Progress
from harness.tuning.plan import VectorsId
from indexers.errors import CorpusError

if TYPE_CHECKING:
    from harness.collection.types import Corpus, Neighbours
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

    source = config.vector_source  # without vectors and model, of the encoder's default model
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
        found = Inputs(*vectors_of(corpus, config.vector_source, advance))
    for of, vectors in (("documents", found.documents), ("queries", found.queries)):
        if not np.any(vectors):
            raise CorpusError(
                f"the vectors of all {of} are zero (as float32): they have no direction to hash"
            )
    return found


def find_neighbours(
    config: StudyConfig, corpus: Corpus, vectors: Inputs | None, progress: Progress
) -> Neighbours:
    """The exact neighbours under the study's reference similarity."""
    from harness.collection import truth

    if config.compared_by == "jaccard":
        with progress.stage("exact neighbours", len(corpus.ids)) as advance:
            return truth.neighbours(corpus, k=config.cutoff, progress=advance)
    assert vectors is not None
    with progress.stage("exact neighbours", len(corpus.ids)) as advance:
        return truth.vector_neighbours(
            corpus, vectors.documents, vectors.queries, k=config.cutoff, progress=advance
        )
