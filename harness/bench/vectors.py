"""Vectors of documents and queries for the bench."""

from __future__ import annotations

import time

from harness.bench.compare import Sides
from harness.bench.config import BenchConfig
from harness.collection.types import Corpus
from harness.collection.vectors import VectorSource, vectors_of
from harness.progress import Progress


def with_vectors(config: BenchConfig, corpus: Corpus, progress: Progress) -> Sides:
    """Texts and vectors of a corpus, read or encoded.

    Raises:
        InputError: the vectors cannot be read, or do not fit the corpus.
        MissingPackage: a model is to encode the texts, and its library is not installed.
    """
    count = len(corpus.ids) + len(corpus.query_ids)
    source = config.vector_source
    timed = not config.vectors and not _kept(corpus, source)
    started = time.perf_counter()
    with progress.stage("vectors", count) as advance:
        documents, queries = vectors_of(corpus, source, advance)
    spent_s = time.perf_counter() - started if timed else None
    return Sides(corpus.texts, corpus.query_texts, documents, queries, spent_s)


def _kept(corpus: Corpus, source: VectorSource) -> bool:
    """Whether vectors of the model were kept by an earlier run, in part or in whole."""
    from harness.collection import embeddings

    return embeddings.kept(corpus, source.encoder)
