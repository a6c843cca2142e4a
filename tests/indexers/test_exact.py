"""The oracle itself, against plain integers and worked values."""

from __future__ import annotations

import numpy as np
import pytest

from indexers.backends.exact import Exact
from indexers.errors import BackendError, SettingError
from indexers.types import (
    BackendConfig,
    Documents,
    Fingerprints,
    IndexSpec,
    Queries,
    SearchParams,
)

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


def test_no_documents(tmp_path):
    handle = build(fingerprints([[0]], status=[1]), tmp_path)
    assert ask(handle, fingerprints([[0]]), k=3) == [([], [])]


def test_bad_input(tmp_path):
    handle = build(fingerprints([[0]]), tmp_path)
    with pytest.raises(SettingError, match="choose from code, signature"):
        ask(handle, fingerprints([[0]]), k=1, rerank="window")
    with pytest.raises(BackendError, match="8 bits and the fingerprints 16"):
        ask(handle, fingerprints([[0, 0]]), k=1)
    with pytest.raises(BackendError, match="searches fingerprints: none were given"):
        BACKEND.open(handle, SearchParams(1), Queries(["text"], None), [])
    with pytest.raises(BackendError, match=r"signatures\.npy cannot be opened"):
        ask(handle, fingerprints([[0]], signatures=[[1]]), k=1, rerank="signature")
