"""Vectors of a corpus: read from a file that the user brings, or made by a model.

A file is `.npy` (float16, float32 or float64, two-dimensional) or Parquet with a column of lists
of numbers. The rows of a `.npy` file are in the order of the documents in the corpus' own file;
those of a Parquet file are found by its column `_id` or `id`, and without one in that order too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from harness.collection import digest, vector_files
from harness.collection.lines import brief
from harness.collection.reading import DROPPED_QUERIES
from harness.collection.types import Corpus
from harness.collection.vector_files import VectorTable, read_vectors
from indexers.encoder import EncoderParams, look
from indexers.errors import CorpusError, SettingError
from indexers.types import F32, I64, Progress, no_progress

__all__ = ["VectorSource", "dimension_of", "identity_of", "read_vectors", "vectors_of"]

_ENCODER = EncoderParams()


@dataclass(frozen=True, slots=True)
class VectorSource:
    """Where vectors come from: files, else a model.

    Attributes:
        vectors: `FILE` or `FILE:COLUMN` of the documents; None for the model.
        query_vectors: the same for the queries; None where each query is a document itself.
        model, pooling, query_instruction, max_length, batch_size, device: as `EncoderParams`.
    """

    vectors: str | None = None
    query_vectors: str | None = None
    model: str = _ENCODER.model
    pooling: str = _ENCODER.pooling
    query_instruction: str | None = _ENCODER.query_instruction
    max_length: int | None = _ENCODER.max_length
    batch_size: int = _ENCODER.batch_size
    device: str | None = _ENCODER.device

    @property
    def encoder(self) -> EncoderParams:
        """The parameters of the model."""
        return EncoderParams(**{one.name: getattr(self, one.name) for one in fields(EncoderParams)})


def dimension_of(source: VectorSource) -> int:
    """D, read from the head of the file or the model's configuration.

    Raises:
        InputError: the file or model cannot be used.
        MissingPackage: the package that reads it is not installed.
    """
    _check(source)
    if source.vectors is not None:
        return vector_files.dimension(source.vectors)
    return look(source.encoder).dimension


def identity_of(source: VectorSource) -> str:
    """32 hex digits that differ where the vectors of a corpus do.

    Of files their content; of a model its files, or its commit on the hub, and the parameters
    that change vectors. Device and batch size change last digits at most and are left out.

    Raises:
        InputError: the file or model cannot be used.
        MissingPackage: the package that reads it is not installed.
    """
    _check(source)
    if source.vectors is not None:
        return digest.of_text(
            "files", *_file_identity(source.vectors), *_file_identity(source.query_vectors)
        )
    from harness.collection import embeddings

    return embeddings.identity(source.encoder)


def vectors_of(
    corpus: Corpus, source: VectorSource, progress: Progress = no_progress
) -> tuple[F32, F32]:
    """The vectors of all documents and queries.

    With a model, a query whose text is that of its own document gets the document's vector
    unless there is a query instruction.

    Args:
        corpus: documents and queries.
        source: where the vectors come from.
        progress: called with the number of texts or rows done since the last call, documents
            and queries together.

    Returns:
        float32 (documents, D) by ordinal and float32 (queries, D). Zero vectors stay zero.

    Raises:
        CorpusError: a file cannot be read or does not fit the corpus.
        SettingError: a column or parameter cannot be used, or the queries have no vectors.
        MissingPackage: the package that reads or encodes is not installed.
        BackendError: the model failed.
    """
    _check(source)
    if source.vectors is None:
        from harness.collection import embeddings

        return embeddings.of_corpus(corpus, source.encoder, progress)
    table = read_vectors(source.vectors)
    documents = _documents(corpus, source.vectors, table)
    progress(len(documents))
    queries = _queries(corpus, source, documents)
    progress(len(queries))
    return documents, queries


def _check(source: VectorSource) -> None:
    if source.query_vectors is not None and source.vectors is None:
        raise SettingError(
            "--query-vectors without --vectors: give those of the documents too, or leave both "
            "out and have a model encode the texts"
        )


def _file_identity(spec: str | None) -> tuple[str, str]:
    if spec is None:
        return "", ""
    path, column = vector_files.split(spec)
    return digest.of_file(path), column or ""


def _documents(corpus: Corpus, spec: str, table: VectorTable) -> F32:
    if table.ids is not None:
        return table.vectors[_rows_by_id(spec, table.ids, corpus.ids, "documents")]
    if len(table.vectors) != len(corpus.ids):
        raise _other_count(spec, len(table.vectors), len(corpus.ids), "documents")
    return table.vectors if corpus.file_rows is None else table.vectors[corpus.file_rows]


def _queries(corpus: Corpus, source: VectorSource, documents: F32) -> F32:
    if source.query_vectors is None:
        strangers = int((corpus.query_self < 0).sum())
        if strangers:
            raise SettingError(
                f"{strangers} of the {len(corpus.query_ids)} queries are no documents and have no "
                "vectors: give them with --query-vectors FILE"
            )
        return documents[corpus.query_self]
    spec = source.query_vectors
    table = read_vectors(spec)
    if table.vectors.shape[1] != documents.shape[1]:
        raise CorpusError(
            f"{spec}: vectors have D {table.vectors.shape[1]}, those of the documents "
            f"{documents.shape[1]}: both must come from one model"
        )
    if table.ids is not None:
        return table.vectors[_rows_by_id(spec, table.ids, corpus.query_ids, "queries")]
    return table.vectors[_query_rows(corpus, spec, len(table.vectors))]


def _query_rows(corpus: Corpus, spec: str, count: int) -> I64:
    """Rows of the asked queries, in a file of these alone or of all in the queries' file."""
    asked = len(corpus.query_ids)
    if count == asked:
        return np.arange(asked)
    if corpus.query_file_rows is not None and count == asked + corpus.skipped.get(
        DROPPED_QUERIES, 0
    ):
        return corpus.query_file_rows
    raise _other_count(spec, count, asked, "queries")


def _rows_by_id(spec: str, held: Sequence[str], wanted: Sequence[str], what: str) -> I64:
    row_of = {name: row for row, name in enumerate(held)}
    missing = [name for name in wanted if name not in row_of]
    if missing:
        raise CorpusError(
            f"{spec}: has no vector for {len(missing)} of the {len(wanted)} {what}, such as "
            f"{brief(missing[0])}: its ids must be those of the corpus"
        )
    return np.array([row_of[name] for name in wanted], np.int64)


def _other_count(spec: str, held: int, wanted: int, what: str) -> CorpusError:
    return CorpusError(
        f"{spec}: has {held} vectors, but the corpus has {wanted} {what}: give one row each in the "
        "order of the corpus file, or Parquet with a column _id"
    )
