"""Vectors of texts by a model, kept in the user's cache by content and model.

Texts are encoded and kept in runs of `KEPT_TEXTS`: what was encoded before a break is not encoded
again, and where all is kept neither torch nor the model is loaded.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from harness.collection import cache, digest
from harness.collection.types import Corpus
from indexers.encoder import EncoderParams, FlagEncoder, look
from indexers.types import F32, I64, Progress, no_progress

KEPT_TEXTS = 1024

_FORMAT = "1"
"""Raised when the same texts and model begin to give other vectors, or are kept otherwise."""

_BATCHES_AT_ONCE = 4
_SKIPPED_FOLDERS = (".git", "onnx", "openvino")


def identity(params: EncoderParams) -> str:
    """32 hex digits over the model's files, or its commit on the hub, and what changes vectors.

    Raises:
        SettingError: a parameter is out of range, or there is no such model.
        MissingPackage: the client of the hub is needed and not installed.
    """
    files = look(params)
    model = [f"{params.model}@{files.revision}"] if files.revision else [*_content(files.folder)]
    return digest.of_text(
        _FORMAT, params.pooling, params.query_instruction or "", str(files.max_tokens), *model
    )


def _content(folder: Path) -> Iterator[str]:
    """Names and digests of all files of a local model, in the order of their names."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and inside.parts[0] not in _SKIPPED_FOLDERS:
            yield inside.as_posix()
            yield digest.of_file(path)


def of_corpus(
    corpus: Corpus, params: EncoderParams, progress: Progress = no_progress
) -> tuple[F32, F32]:
    """Vectors of all documents and queries.

    A query whose text is that of its own document gets the document's vector, unless there is a
    query instruction; all others are encoded.

    Args:
        corpus: documents and queries.
        params: the model.
        progress: called with the number of texts done since the last call.

    Returns:
        float32 (documents, D) by ordinal, float32 (queries, D); zero where a text is blank.

    Raises:
        SettingError, MissingPackage, BackendError: as `FlagEncoder`.
    """
    keeper = _Keeper(params)
    documents = keeper.vectors(corpus.texts, queries=False, progress=progress)
    queries = np.zeros((len(corpus.query_texts), documents.shape[1]), np.float32)
    shared = _shared(corpus, params)
    queries[shared] = documents[corpus.query_self[shared]]
    progress(len(shared))
    others = np.setdiff1d(np.arange(len(queries)), shared)
    texts = [corpus.query_texts[row] for row in others]
    queries[others] = keeper.vectors(texts, queries=True, progress=progress)
    return documents, queries


def kept(corpus: Corpus, params: EncoderParams) -> bool:
    """Whether the cache has vectors of any run of the corpus' documents.

    Raises:
        SettingError, MissingPackage: as `identity`.
    """
    key, texts = identity(params), corpus.texts
    names = (
        _name(key, "text", texts[low : low + KEPT_TEXTS])
        for low in range(0, len(texts), KEPT_TEXTS)
    )
    return any(cache.read(name) is not None for name in names)


def _name(key: str, role: str, texts: Sequence[str]) -> str:
    return f"embeddings/{key}/{digest.of_text(role, *texts)}.npy"


def _shared(corpus: Corpus, params: EncoderParams) -> I64:
    """Queries that are encoded as their own documents are."""
    if params.query_instruction:
        return np.zeros(0, np.int64)
    same = [
        row
        for row, ordinal in enumerate(corpus.query_self)
        if ordinal >= 0 and corpus.texts[ordinal] == corpus.query_texts[row]
    ]
    return np.array(same, np.int64)


@dataclass
class _Keeper:
    """Looks into the cache first; loads the model when something is missing there."""

    params: EncoderParams
    key: str = field(init=False)
    dimension: int = field(init=False)
    encoder: FlagEncoder | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.key, self.dimension = identity(self.params), look(self.params).dimension

    def vectors(self, texts: Sequence[str], *, queries: bool, progress: Progress) -> F32:
        out = np.zeros((len(texts), self.dimension), np.float32)
        role = "query" if queries and self.params.query_instruction else "text"
        for low in range(0, len(texts), KEPT_TEXTS):
            part = texts[low : low + KEPT_TEXTS]
            name = _name(self.key, role, part)
            kept = _unpacked(cache.read(name), len(part), self.dimension)
            if kept is None:
                kept = self._encoded(part, queries, progress)
                cache.write(name, _packed(kept))
            else:
                progress(len(part))
            out[low : low + len(part)] = kept
        return out

    def _encoded(self, texts: Sequence[str], queries: bool, progress: Progress) -> F32:
        if self.encoder is None:
            self.encoder = FlagEncoder(self.params)
        out = np.zeros((len(texts), self.dimension), np.float32)
        # texts of like length share a batch, so that little padding is computed
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        step = _BATCHES_AT_ONCE * self.params.batch_size
        for low in range(0, len(order), step):
            rows = order[low : low + step]
            out[rows] = self.encoder.encode([texts[row] for row in rows], queries=queries)
            progress(len(rows))
        return out


def _packed(vectors: F32) -> bytes:
    stream = io.BytesIO()
    np.save(stream, vectors, allow_pickle=False)
    return stream.getvalue()


def _unpacked(content: bytes | None, rows: int, dimension: int) -> F32 | None:
    if content is None:
        return None
    try:
        held = np.load(io.BytesIO(content), allow_pickle=False)
    except ValueError:
        return None
    fits = held.dtype == np.float32 and held.shape == (rows, dimension)
    return held if fits else None
