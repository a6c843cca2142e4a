"""Vectors of documents and queries for the bench."""

from __future__ import annotations

import time

from harness.bench.compare import Sides
from harness.bench.config import BenchConfig
from harness.collection.types import Corpus
from harness.collection.vectors import VectorSource, vectors_of
from harness.progress import Progress

_NAMES = (
    "vectors",
    "query_vectors",
    "model",
    "pooling",
    "query_instruction",
    "max_length",
    "batch_size",
    "device",
)


def with_vectors(config: BenchConfig, corpus: Corpus, progress: Progress) -> Sides:
    """Texts and vectors of a corpus, read or encoded.

    Raises:
        InputError: the vectors cannot be read, or do not fit the corpus.
        MissingPackage: a model is to encode the texts, and its library is not installed.
    """
    given = {name: value for name in _NAMES if (value := getattr(config, name)) is not None}
    count = len(corpus.ids) + len(corpus.query_ids)
    started = time.perf_counter()
    with progress.stage("vectors", count) as advance:
        documents, queries = vectors_of(corpus, VectorSource(**given), advance)
    spent_s = 0.0 if config.vectors else time.perf_counter() - started
    return Sides(corpus.texts, corpus.query_texts, documents, queries, spent_s)
