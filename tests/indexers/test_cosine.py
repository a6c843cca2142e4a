"""Cosine similarity against rational arithmetic and scikit-learn; sums that are exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from indexers.similarity import _exact
from indexers.similarity.cosine import SIMILARITY
from indexers.types import Fingerprints


def of(vectors=None, codes=None):
    n = len(vectors if vectors is not None else codes)
    return Fingerprints(
        np.zeros(n, np.uint8),
        np.zeros((n, 0), np.uint8) if codes is None else np.array(codes, np.uint8),
        np.zeros((0, 0, n), np.uint32),
        "bit",
        vectors=None if vectors is None else np.array(vectors, np.float32),
    )


def test_worked_by_hand():
    found = SIMILARITY.matrix(of([[3, 4]]), of([[4, 3], [-3, -4], [4, -3], [6, 8]]), "vector")
    assert found.tolist() == [[24 / 25, -1, 0, 1]]


def test_codes_worked_by_hand():
    a, b = of(codes=[[0b1110], [0]]), of(codes=[[0b0110], [0b0001], [0b1110], [0]])
    found = SIMILARITY.matrix(a, b, "bits")
    assert found[0].tolist() == [2 / np.sqrt(6), 0, 1, 0]
    np.testing.assert_array_equal(found[1], [0, 0, 0, np.nan])


def test_no_direction_no_similarity():
    found = SIMILARITY.matrix(of([[0, 0], [1, 0]]), of([[0, 0], [2, 0]]), "vector")
    np.testing.assert_array_equal(found, [[np.nan, np.nan], [np.nan, 1]])


@pytest.mark.parametrize("dimension", [1, 2, 31, 384, 1024])
def test_agrees_with_scikit_learn(dimension):
    rng = np.random.default_rng(dimension)
    a, b = rng.standard_normal((20, dimension)), rng.standard_normal((30, dimension))
    a[0] *= 1e-9
    b[0] *= 1e9
    a, b = a.astype(np.float32), b.astype(np.float32)
    expected = cosine_similarity(a.astype(np.float64), b.astype(np.float64))
    found = SIMILARITY.matrix(of(a), of(b), "vector")
    np.testing.assert_allclose(found, expected, rtol=0, atol=4e-15)


@pytest.mark.parametrize("dimension", [1, 3, 64, 385])
def test_sums_of_parts_are_exact(dimension):
    rng = np.random.default_rng(dimension)
    vectors = rng.standard_normal((6, dimension)).astype(np.float32)
    vectors[1] = 1  # the greatest sums
    vectors[2] *= np.float32(2) ** rng.integers(-30, 0, dimension).astype(np.float32)
    parts = _exact.cut(vectors)
    for left in (parts.high, parts.low):
        for right in (parts.high, parts.low):
            found = left @ right.T
            for i, a in enumerate(left):
                for j, b in enumerate(right):
                    exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True))
                    assert Fraction(found[i, j]) == exact


def test_a_square_is_the_product_with_itself():
    vectors = np.random.default_rng(0).standard_normal((50, 100)).astype(np.float32)
    parts = _exact.cut(vectors)
    products = _exact.scaled_products(parts, parts)
    assert np.array_equal(_exact.scaled_squares(parts), np.diagonal(products))
    assert np.array_equal(products, products.T)


@settings(max_examples=40, deadline=None)
@given(
    vector=st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=20).filter(any),
    scale=st.sampled_from([0.125, 1.0, 64.0]),
)
def test_one_for_a_multiple(vector, scale):
    a = np.array([vector], np.float32)
    if np.abs(a[a != 0]).min() < 1e-30:  # a multiple would not be exact
        return
    assert SIMILARITY.matrix(of(a), of(a * np.float32(scale)), "vector").tolist() == [[1]]
