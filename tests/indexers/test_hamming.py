"""Exact Hamming neighbours against plain integers and FAISS."""

from __future__ import annotations

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from indexers.codes import code_words
from indexers.similarity import hamming
from indexers.types import Fingerprints


def ok(n):
    return np.zeros(n, np.uint8)


def nobody(n):
    return np.full(n, -1, np.int32)


def rows(found, query):
    part = slice(found.indptr[query], found.indptr[query + 1])
    return found.documents[part].tolist(), found.similarity[part].tolist()


def test_worked_by_hand():
    codes = np.array([[0b111], [0b001], [0b100], [0b000], [0xFF], [0b111]], np.uint8)
    status = np.array([0, 0, 0, 0, 0, 1], np.uint8)
    queries = np.array([[0b000], [0b111], [0b000]], np.uint8)
    found = hamming.nearest(
        codes,
        status,
        queries,
        np.array([0, 0, 2], np.uint8),
        k=2,
        exclude=np.array([3, -1, -1], np.int32),
    )
    assert rows(found, 0) == ([1, 2], [7, 7])  # itself left out
    assert rows(found, 1) == ([0, 1, 2], [8, 6, 6])  # the tie of the second comes whole
    assert rows(found, 2) == ([], [])
    assert found.kth.tolist() == [7, 6, 0]
    assert found.valid.tolist() == [True, True, False]


def test_opposite_documents_are_never_listed():
    codes = np.array([[0x00], [0xFF], [0xFF]], np.uint8)
    found = hamming.nearest(codes, ok(3), codes[:1], ok(1), k=2, exclude=nobody(1))
    assert rows(found, 0) == ([0], [8])
    assert found.kth.tolist() == [0]


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_find(n):
    found = hamming.nearest(
        np.zeros((n, 2), np.uint8),
        ok(n),
        np.zeros((1, 2), np.uint8),
        ok(1),
        k=3,
        exclude=np.zeros(1, np.int32),
    )
    assert rows(found, 0) == ([], [])
    assert found.kth.tolist() == [0]
    assert found.valid.tolist() == [True]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 60),
    width=st.integers(1, 9),
    k=st.integers(1, 12),
)
def test_agrees_with_integers_whole_tie_class(seed, n, width, k):
    rng = np.random.default_rng(seed)
    codes = rng.choice(np.array([0, 1, 255], np.uint8), (n, width))
    queries = rng.choice(np.array([0, 1, 255], np.uint8), (3, width))
    status = rng.choice(np.array([0, 0, 1], np.uint8), n)
    exclude = rng.integers(-1, n, 3).astype(np.int32)
    found = hamming.nearest(codes, status, queries, ok(3), k=k, exclude=exclude)
    for q in range(3):
        mine = int.from_bytes(queries[q].tobytes())
        scored = sorted(
            ((mine ^ int.from_bytes(codes[d].tobytes())).bit_count(), d)
            for d in range(n)
            if status[d] == 0 and d != exclude[q]
        )
        last = scored[:k][-1][0] if scored else 8 * width
        listed = [(d, i) for d, i in scored if d <= last and d < 8 * width]
        assert rows(found, q) == ([i for _, i in listed], [8.0 * width - d for d, _ in listed])
        assert found.kth[q] == 8 * width - last


def test_agrees_with_faiss():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (3000, 16)).astype(np.uint8)
    queries = rng.integers(0, 256, (70, 16)).astype(np.uint8)
    index = faiss.IndexBinaryFlat(128)
    index.add(codes)
    distances, _ = index.search(queries, 10)
    found = hamming.nearest(codes, ok(3000), queries, ok(70), k=10, exclude=nobody(70))
    for q in range(70):
        assert rows(found, q)[1][:10] == (128 - np.sort(distances[q])).tolist()
        assert found.kth[q] == 128 - distances[q].max()


def test_scores_of_answers():
    codes = np.array([[0, 0], [0, 3], [255, 255]], np.uint8)
    queries = np.array([[0, 1], [255, 255]], np.uint8)
    answers = np.array([[1, 0, -1], [-1, -1, 2]], np.int32)
    expected = [[15, 15, np.nan], [np.nan, np.nan, 16]]
    np.testing.assert_array_equal(hamming.scores(codes, queries, answers), expected)


def test_scores_pass_the_blocks(monkeypatch):
    monkeypatch.setattr(hamming, "BLOCK", 2)
    codes = np.arange(5, dtype=np.uint8)[:, None]
    answers = np.arange(5, dtype=np.int32)[:, None]
    assert hamming.scores(codes, np.zeros((5, 1), np.uint8), answers)[:, 0].tolist() == (
        [8, 7, 7, 6, 7]
    )


def test_words_are_padded_with_zeros():
    words = code_words(np.array([[1] * 9], np.uint8))
    assert words.dtype == np.uint64
    assert words.shape == (1, 2)
    assert [int(word).bit_count() for word in words[0]] == [8, 1]


def of_codes(codes):
    n = len(codes)
    keys = np.zeros((0, 0, n), np.uint32)
    return Fingerprints(ok(n), np.array(codes, np.uint8), keys, "bit")


def test_matrix_worked_by_hand():
    a, b = of_codes([[0, 0], [0xFF, 1]]), of_codes([[0, 0], [0, 7], [0xFF, 0xFF]])
    found = hamming.SIMILARITY.matrix(a, b, "bits")
    assert found.tolist() == [[1, 1 / 4, 1 / 17], [1 / 10, 1 / 11, 1 / 8]]


@pytest.mark.parametrize("width", [1, 8, 13, 512])
def test_matrix_agrees_with_scipy(width):
    rng = np.random.default_rng(width)
    a, b = (rng.integers(0, 256, (n, width)).astype(np.uint8) for n in (4, 1030))
    differing = cdist(np.unpackbits(a, axis=1), np.unpackbits(b, axis=1), "cityblock")
    found = hamming.SIMILARITY.matrix(of_codes(a), of_codes(b), "bits")
    np.testing.assert_array_equal(found, 1 / (1 + differing))
