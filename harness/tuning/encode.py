"""A corpus as fingerprints of one hashing, stored where the load process can map them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.collection.types import Corpus
from harness.tuning.hashing import Hashing
from indexers.index_types import Documents, Queries
from indexers.learnt import save_learnt
from indexers.manifest import Parameter
from indexers.protocols import Hasher
from indexers.registry import family
from indexers.store import fingerprint_corpus, hash_parameters, save_queries
from indexers.types import I32, Fingerprints, Items, Progress, Status, TableSize

ENCODED_ONE_BY_ONE = 50
WEIGHTS = "weights.npz"
"""Weights that the hasher learnt, in the folder of its hashing, where there are any."""
SIGNATURES_UP_TO = 200_000
"""Signatures take 4 KiB a document; beyond this the signature reference is left out."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Documents and queries ready to be indexed and asked.

    Attributes:
        hashing: that made them; None for texts.
        folder: everything of this hashing; the caller removes it.
        queries_folder: the stored queries.
        made_by: what made the fingerprints of documents and queries, as both manifests tell it.
        runnable: int32 (m,), rows of the queries whose fingerprint is OK.
        encode_ms: mean time to fingerprint one query on its own, its vector being there; None
            for texts.
        unusable: status name -> documents that are not indexed.
    """

    hashing: Hashing | None
    folder: Path
    documents: Documents
    queries: Queries
    queries_folder: Path
    made_by: dict[str, Parameter]
    runnable: I32
    encode_ms: float | None
    unusable: dict[str, int]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a family hashes: raw texts, or float32 vectors, by ordinal and by query row."""

    documents: Items
    queries: Items


def encode(
    hashing: Hashing,
    inputs: Inputs,
    corpus: Corpus,
    folder: Path,
    size: TableSize,
    *,
    seed: int,
    dimension: int | None,
    progress: Progress,
) -> Encoded:
    """Fingerprint documents and queries once, at the largest sizes asked for.

    Raises:
        SettingError: what is hashed cannot be, such as a vector with NaN.
    """
    made = family(hashing.family)
    signatures = "signature" in made.forms and len(corpus.ids) <= SIGNATURES_UP_TO
    params = hashing.params(seed, dimension, signatures=signatures)
    hasher = made.hasher(size, params)
    documents = fingerprint_corpus(
        made,
        inputs.documents,
        folder / "documents",
        size,
        params,
        hasher=hasher,
        progress=progress,
    )
    save_learnt(hasher, folder / WEIGHTS)
    asked = hasher(inputs.queries)
    runnable = np.flatnonzero(asked.status == Status.OK).astype(np.int32)
    queries = Queries(corpus.query_texts, asked)
    made_by = hash_parameters(made, size, params, hasher)
    save_queries(folder / "queries", queries, **made_by)
    return Encoded(
        hashing,
        folder,
        Documents(corpus.ids, corpus.texts, documents, corpus.attributes),
        queries,
        folder / "queries",
        made_by,
        runnable,
        _encode_ms(hasher, inputs.queries, runnable),
        _unusable(documents),
    )


def encode_texts(corpus: Corpus, folder: Path) -> Encoded:
    """Documents and queries for text indexes, which read no fingerprint."""
    queries = Queries(corpus.query_texts, None)
    save_queries(folder / "queries", queries)
    runnable = [row for row, text in enumerate(corpus.query_texts) if text.strip()]
    return Encoded(
        None,
        folder,
        Documents(corpus.ids, corpus.texts, None, corpus.attributes),
        queries,
        folder / "queries",
        {},
        np.array(runnable, dtype=np.int32),
        None,
        {},
    )


def _encode_ms(hasher: Hasher, queries: Items, runnable: I32) -> float | None:
    rows = runnable[:ENCODED_ONE_BY_ONE].tolist()
    if not rows:
        return None
    hasher(queries[rows[0] : rows[0] + 1])
    started = time.perf_counter()
    for row in rows:
        hasher(queries[row : row + 1])
    return (time.perf_counter() - started) * 1000 / len(rows)


def _unusable(fingerprints: Fingerprints) -> dict[str, int]:
    counts = np.bincount(fingerprints.status, minlength=len(Status))
    return {s.name.lower(): int(counts[s]) for s in Status if s != Status.OK and counts[s]}
