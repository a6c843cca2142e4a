"""Exact neighbours of a corpus' queries under a reference similarity, kept between runs."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np

from harness.collection import cache, digest
from harness.collection.types import Corpus, Neighbours
from indexers.normaliser import NORMALISER
from indexers.types import F32, Nearest, Progress, Status, no_progress

SIMILARITY = "jaccard"
SHINGLE_SIZE = 3

_FORMAT = "1"
"""Raised when the stored arrays, or the similarity of the same texts, change."""

_ARRAYS = ("indptr", "documents", "similarity", "kth", "valid")


def neighbours(
    corpus: Corpus,
    *,
    k: int,
    shingle_size: int = SHINGLE_SIZE,
    progress: Progress = no_progress,
) -> Neighbours:
    """The exact k nearest documents of each query by Jaccard of character shingles.

    The whole tie class of the k-th belongs to them, a query's own document does not. Kept in
    the user's cache by the corpus' content; what is found damaged there is computed anew.

    Args:
        corpus: documents and queries.
        k: how many, at least 1.
        shingle_size: characters a shingle, at least 1.
        progress: called with the number of documents done since the last call; not at all
            where the neighbours were kept.
    """
    name = f"neighbours/{_key(corpus, k, shingle_size)}.npz"
    kept = cache.read(name)
    if kept is not None:
        return Neighbours(SIMILARITY, k, _unpacked(kept))
    # it compiles kernels: what was kept must not wait for that
    from indexers.similarity import jaccard

    nearest = jaccard.nearest(
        corpus.texts,
        corpus.query_texts,
        k=k,
        exclude=corpus.query_self,
        shingle_size=shingle_size,
        progress=progress,
    )
    cache.write(name, _packed(nearest))
    return Neighbours(SIMILARITY, k, nearest)


def vector_neighbours(
    corpus: Corpus,
    vectors: F32,
    query_vectors: F32,
    *,
    k: int,
    progress: Progress = no_progress,
) -> Neighbours:
    """The exact k nearest documents of each query by cosine, as `neighbours` tells.

    Args:
        corpus: tells which document is a query itself.
        vectors: float32 (documents, D), by ordinal; zeros are no one's neighbour.
        query_vectors: float32 (queries, D).
        k: how many, at least 1.
        progress: called with the number of documents done since the last call.

    Raises:
        SettingError: a vector holds NaN or infinity.
    """
    from indexers.nearest import least, nearest_by_matrix
    from indexers.registry import similarity
    from indexers.vectors import fingerprints

    dimension = vectors.shape[1]
    documents = fingerprints(vectors, dimension, "vectors")
    cosine = similarity("cosine")
    nearest = nearest_by_matrix(
        cosine,
        "vector",
        fingerprints(query_vectors, dimension, "query vectors"),
        documents,
        k=k,
        exclude=corpus.query_self,
        progress=progress,
    )
    usable = int(np.count_nonzero(documents.status == Status.OK))
    return Neighbours("cosine", k, nearest, least(cosine, "vector"), usable)


def pairs_above(
    corpus: Corpus, minimum: float, *, shingle_size: int = SHINGLE_SIZE
) -> Iterator[tuple[str, str, float]]:
    """Every (query id, document id, Jaccard) of at least the minimum, the query itself left out.

    In the order of the queries, by falling similarity, then document id.

    Args:
        corpus: documents and queries.
        minimum: in (0, 1].
        shingle_size: characters a shingle, at least 1.
    """
    from indexers.similarity import jaccard

    found = jaccard.pairs_above(
        corpus.texts,
        corpus.query_texts,
        minimum=minimum,
        exclude=corpus.query_self,
        shingle_size=shingle_size,
    )
    for row, query_id in enumerate(corpus.query_ids):
        for pair in range(found.indptr[row], found.indptr[row + 1]):
            yield query_id, corpus.ids[found.documents[pair]], float(found.similarity[pair])


def _key(corpus: Corpus, k: int, shingle_size: int) -> str:
    return digest.of_text(
        _FORMAT, NORMALISER, corpus.content, SIMILARITY, str(shingle_size), str(k)
    )


def _packed(nearest: Nearest) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **{name: getattr(nearest, name) for name in _ARRAYS})
    return stream.getvalue()


def _unpacked(content: bytes) -> Nearest:
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return Nearest(**{name: stored[name] for name in _ARRAYS})
