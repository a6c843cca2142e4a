"""The oracle itself, against plain integers and worked values."""

from __future__ import annotations

import numpy as np
import pytest

from indexers.backends.exact import Exact
from indexers.errors import BackendError, SettingError
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import Fingerprints, Ragged

BACKEND = Exact(BackendConfig())


def fingerprints(codes, status=None, signatures=None):
    n = len(codes)
    return Fingerprints(
        np.array(status or [0] * n, np.uint8),
        np.array(codes, np.uint8).reshape(n, -1),
        np.zeros((0, 0, n), np.uint32),
        "row",
        None if signatures is None else np.array(signatures, np.uint32),
    )


def build(docs, folder):
    return BACKEND.build(
        IndexSpec("exact", "flat", None, bits=docs.bits), Documents([], [], docs), folder
    )


def ask(handle, queries, **params):
    searcher = BACKEND.open(handle, SearchParams(**params), Queries([], queries), [])
    hits = [searcher.search(row) for row in range(len(queries))]
    searcher.close()
    return [(h.ordinals.tolist(), h.scores.tolist()) for h in hits]


def test_worked_by_hand(tmp_path):
    docs = fingerprints([[0b11], [0b10], [0], [0b01], [0b11]], status=[0, 0, 0, 0, 2])
    handle = build(docs, tmp_path)
    assert handle.documents == 4
    queries = fingerprints([[0b11], [0]], status=[0, 1])
    # distances 0, 1, 2, 1: the tie goes to the lower ordinal, the last is not indexed
    assert ask(handle, queries, k=9) == [([0, 1, 3, 2], [8, 7, 7, 6]), ([], [])]
    assert ask(handle, queries, k=2) == [([0, 1], [8, 7]), ([], [])]


def test_signatures_worked_by_hand(tmp_path):
    docs = fingerprints([[0], [0], [0]], signatures=[[1, 2, 3], [1, 9, 3], [9, 2, 3]])
    handle = build(docs, tmp_path)
    queries = fingerprints([[0]], signatures=[[1, 2, 9]])
    assert ask(handle, queries, k=3, rerank="signature") == [([0, 1, 2], [2, 1, 1])]
    with pytest.raises(SettingError, match="needs signatures"):
        ask(handle, fingerprints([[0]]), k=3, rerank="signature")


def test_agrees_with_integers(tmp_path):
    rng = np.random.default_rng(0)
    docs = fingerprints(rng.choice([0, 1, 129, 255], (200, 5)))
    queries = fingerprints(rng.choice([0, 1, 129, 255], (20, 5)))
    wanted = []
    for query in queries.codes:
        q = int.from_bytes(query.tobytes())
        scored = [
            ((q ^ int.from_bytes(d.tobytes())).bit_count(), i) for i, d in enumerate(docs.codes)
        ]
        best = sorted(scored)[:30]
        wanted.append(([i for _, i in best], [40.0 - distance for distance, _ in best]))
    assert ask(build(docs, tmp_path), queries, k=30) == wanted


def bare(status, **forms):
    n = len(status)
    codes, keys = np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32)
    return Fingerprints(np.array(status, np.uint8), codes, keys, "bit", **forms)


def lists(values, dtype):
    joined = [value for one in values for value in one]
    return Ragged(np.cumsum([0, *map(len, values)]), np.array(joined, dtype))


def build_bare(family, docs, folder):
    return BACKEND.build(IndexSpec("exact", "flat", family), Documents([], [], docs), folder)


def test_sets_worked_by_hand(tmp_path):
    big = 2**64 - 1  # hashes are unsigned: all 64 bits count
    docs = [[1, 2, 3, big], [1, 1, 2], [7], [2, 1], [1], []]
    docs = bare([0, 0, 0, 0, 3, 1], hashes=lists(docs, np.uint64))
    handle = build_bare("winnowing", docs, tmp_path)
    assert handle.documents == 4
    queries = bare([0, 0, 1], hashes=lists([[2, 1, big, 2], [5], []], np.uint64))
    assert ask(handle, queries, k=9, rerank="jaccard") == [
        ([0, 1, 3, 2], [3 / 4, 2 / 3, 2 / 3, 0]),
        ([0, 1, 2, 3], [0, 0, 0, 0]),
        ([], []),
    ]
    assert ask(handle, queries, k=2, rerank="jaccard")[0] == ([0, 1], [3 / 4, 2 / 3])


def test_strings_worked_by_hand(tmp_path):
    strings = lists([b"3:abc:d", b"3:abc:d", b"6:xbc:", b"3:a:d", b"3:abc:d"], np.uint8)
    hashes = lists([[1]] * 5, np.uint64)
    docs = bare([0, 0, 0, 0, 2], strings=strings, hashes=hashes)
    queries = bare([0], strings=lists([b"3:abc:e"], np.uint8), hashes=lists([[9]], np.uint64))
    # one substitution; 3 -> 6, a -> x and e left out; b and c left out and d -> e
    assert ask(build_bare("fuzzyhash", docs, tmp_path), queries, k=9, rerank="levenshtein") == [
        ([0, 1, 2, 3], [1 / 2, 1 / 2, 1 / 4, 1 / 4])
    ]


def test_vectors_worked_by_hand(tmp_path):
    vectors = [[1, 0], [0, 1], [0.6, 0.8], [-1, 0], [0.6, 0.8], [0, 0]]
    docs = bare([0] * 5 + [1], vectors=np.array(vectors, np.float32))
    handle = build_bare("bge", docs, tmp_path)
    queries = bare([0, 1], vectors=np.array([[1, 0], [0, 0]], np.float32))
    (ordinals, scores), nothing = ask(handle, queries, k=9, rerank="cosine")
    assert ordinals == [0, 2, 4, 1, 3]
    assert scores == pytest.approx([1, 0.6, 0.6, 0, -1], abs=1e-7)  # 0.6 is rounded to float32
    assert scores[1] == scores[2]
    assert nothing == ([], [])
    other = bare([0], vectors=np.ones((1, 3), np.float32))
    with pytest.raises(BackendError, match="D 2 are indexed and the queries have D 3"):
        ask(handle, other, k=1, rerank="cosine")


def test_no_documents(tmp_path):
    handle = build(fingerprints([[0]], status=[1]), tmp_path)
    assert ask(handle, fingerprints([[0]]), k=3) == [([], [])]


def test_bad_input(tmp_path):
    handle = build(fingerprints([[0]]), tmp_path)
    with pytest.raises(SettingError, match="exists on engines only"):
        ask(handle, fingerprints([[0]]), k=1, rerank="window")
    with pytest.raises(BackendError, match="8 bits and the fingerprints 16"):
        ask(handle, fingerprints([[0, 0]]), k=1)
    no_texts = bare([], hashes=lists([], np.uint64))
    (tmp_path / "empty").mkdir()
    empty = build_bare("winnowing", no_texts, tmp_path / "empty")
    with pytest.raises(SettingError, match="winnowing has no rerank 'code': choose from jaccard"):
        ask(empty, no_texts, k=1)
    with pytest.raises(BackendError, match="needs fingerprints with sequence, and these have none"):
        build_bare("winnowing", bare([0]), tmp_path / "none")
    with pytest.raises(BackendError, match="needs fingerprints with vector, and these have bits"):
        build_bare("bge", fingerprints([[0]]), tmp_path / "bits")
    with pytest.raises(BackendError, match="searches fingerprints: none were given"):
        BACKEND.open(handle, SearchParams(1), Queries(["text"], None), [])
    with pytest.raises(BackendError, match=r"signatures\.npy cannot be opened"):
        ask(handle, fingerprints([[0]], signatures=[[1]]), k=1, rerank="signature")
