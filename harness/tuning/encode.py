"""A corpus as one family's fingerprints, stored where the load process can map them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.collection.types import Corpus
from indexers.store import fingerprint_corpus, save_queries
from indexers.types import (
    I32,
    Documents,
    Family,
    Fingerprints,
    Hasher,
    Progress,
    Queries,
    Status,
    TableSize,
)

ENCODED_ONE_BY_ONE = 50
SIGNATURES_UP_TO = 200_000
"""Signatures take 4 KiB a document; beyond this the signature reference is left out."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Documents and queries ready to be indexed and asked.

    Attributes:
        folder: everything of this family; the caller removes it.
        queries_folder: the stored queries.
        runnable: int32 (m,), rows of the queries whose fingerprint is OK.
        encode_ms: mean time to fingerprint one query on its own; None for texts.
        unusable: status name -> documents that are not indexed.
    """

    folder: Path
    documents: Documents
    queries: Queries
    queries_folder: Path
    runnable: I32
    encode_ms: float | None
    unusable: dict[str, int]


def encode(
    family: Family, corpus: Corpus, folder: Path, size: TableSize, seed: int, progress: Progress
) -> Encoded:
    """Fingerprint documents and queries once, at the largest sizes asked for."""
    bits = family.default_bits
    signatures = family.atom == "row" and len(corpus.ids) <= SIGNATURES_UP_TO
    documents = fingerprint_corpus(
        family,
        corpus.texts,
        folder / "documents",
        size,
        bits=bits,
        seed=seed,
        signatures=signatures,
        progress=progress,
    )
    hasher = family.hasher(size, bits=bits, seed=seed, signatures=signatures)
    asked = hasher(corpus.query_texts)
    runnable = np.flatnonzero(asked.status == Status.OK).astype(np.int32)
    queries = Queries(corpus.query_texts, asked)
    save_queries(folder / "queries", queries)
    return Encoded(
        folder,
        Documents(corpus.ids, corpus.texts, documents),
        queries,
        folder / "queries",
        runnable,
        _encode_ms(hasher, corpus.query_texts, runnable),
        _unusable(documents),
    )


def encode_texts(corpus: Corpus, folder: Path) -> Encoded:
    """Documents and queries for text indexes, which read no fingerprint."""
    queries = Queries(corpus.query_texts, None)
    save_queries(folder / "queries", queries)
    runnable = [row for row, text in enumerate(corpus.query_texts) if text.strip()]
    return Encoded(
        folder,
        Documents(corpus.ids, corpus.texts, None),
        queries,
        folder / "queries",
        np.array(runnable, dtype=np.int32),
        None,
        {},
    )


def _encode_ms(hasher: Hasher, texts: Sequence[str], runnable: I32) -> float | None:
    rows = runnable[:ENCODED_ONE_BY_ONE]
    if not len(rows):
        return None
    hasher([texts[rows[0]]])
    started = time.perf_counter()
    for row in rows:
        hasher([texts[row]])
    return (time.perf_counter() - started) * 1000 / len(rows)


def _unusable(fingerprints: Fingerprints) -> dict[str, int]:
    counts = np.bincount(fingerprints.status, minlength=len(Status))
    return {s.name.lower(): int(counts[s]) for s in Status if s != Status.OK and counts[s]}
