"""Agreement of signatures against counting row by row."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.similarity import agreement, jaccard
from indexers.types import Fingerprints


def rows(found, query):
    part = slice(found.indptr[query], found.indptr[query + 1])
    return found.documents[part].tolist(), found.similarity[part].tolist()


def test_worked_by_hand():
    signatures = np.array([[1, 2, 3, 4], [1, 2, 9, 9], [9, 2, 3, 9], [9, 9, 9, 9]], np.uint32)
    ok = np.zeros(4, np.uint8)
    found = agreement.nearest(
        signatures, ok, signatures[:1], ok[:1], k=1, exclude=np.array([0], np.int32)
    )
    assert rows(found, 0) == ([1, 2], [0.5, 0.5])
    assert found.kth.tolist() == [0.5]
    found = agreement.nearest(
        signatures, ok, signatures[:1], ok[:1], k=4, exclude=np.array([-1], np.int32)
    )
    assert rows(found, 0) == ([0, 1, 2], [1, 0.5, 0.5])  # the last agrees in no row
    assert found.kth.tolist() == [0]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 50), k=st.integers(1, 9))
def test_agrees_with_counting(seed, n, k):
    rng = np.random.default_rng(seed)
    signatures = rng.integers(0, 3, (n, 7), dtype=np.uint32)
    queries = rng.integers(0, 3, (3, 7), dtype=np.uint32)
    status = rng.choice(np.array([0, 0, 3], np.uint8), n)
    query_status = np.array([0, 1, 0], np.uint8)
    exclude = rng.integers(-1, n, 3).astype(np.int32)
    found = agreement.nearest(signatures, status, queries, query_status, k=k, exclude=exclude)
    assert found.valid.tolist() == [True, False, True]
    for q in range(3):
        scored = sorted(
            (-sum(a == b for a, b in zip(signatures[d], queries[q], strict=True)) / 7, d)
            for d in range(n)
            if status[d] == 0 and d != exclude[q] and query_status[q] == 0
        )
        last = scored[:k][-1][0] if scored else 0
        listed = [(s, d) for s, d in scored if s <= last and s < 0]
        assert rows(found, q) == ([d for _, d in listed], [-s for s, _ in listed])
        assert found.kth[q] == -last


def test_matrix_agrees_with_counting():
    rng = np.random.default_rng(0)

    def of(n):
        signatures = rng.integers(0, 3, (n, 7), dtype=np.uint32)
        signatures[0] = 2**32 - 1
        empty = np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32)
        return Fingerprints(np.zeros(n, np.uint8), *empty, "row", signatures)

    a, b = of(5), of(1100)
    found = agreement.SIMILARITY.matrix(a, b, "signature")
    equal = (a.signatures[:, None] == b.signatures).sum(axis=2)
    np.testing.assert_array_equal(found, equal / 7)
    np.testing.assert_array_equal(jaccard.SIMILARITY.matrix(a, b, "signature"), found)
