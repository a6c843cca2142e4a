"""Manhattan similarity against scipy and worked values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from indexers.similarity.hamming import SIMILARITY as HAMMING
from indexers.similarity.manhattan import SIMILARITY
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
    found = SIMILARITY.matrix(of([[1, -2], [0, 0]]), of([[1, -2], [3, 1], [0, 0]]), "vector")
    assert found.tolist() == [[1, 1 / 6, 1 / 4], [1 / 4, 1 / 5, 1]]
    found = SIMILARITY.matrix(of(codes=[[0b0101]]), of(codes=[[0b0110], [0b0101]]), "bits")
    assert found.tolist() == [[1 / 3, 1]]


@pytest.mark.parametrize("n", [1, 300, 1500])
def test_agrees_with_scipy(n):
    rng = np.random.default_rng(n)
    a = rng.standard_normal((5, 70)).astype(np.float32)
    b = rng.standard_normal((n, 70)).astype(np.float32)
    expected = 1 / (1 + cdist(a.astype(np.float64), b.astype(np.float64), "cityblock"))
    np.testing.assert_allclose(SIMILARITY.matrix(of(a), of(b), "vector"), expected, rtol=1e-13)


def test_on_codes_it_is_hamming():
    rng = np.random.default_rng(0)
    a = of(codes=rng.integers(0, 256, (10, 9)))
    b = of(codes=rng.integers(0, 256, (1100, 9)))
    np.testing.assert_array_equal(SIMILARITY.matrix(a, b, "bits"), HAMMING.matrix(a, b, "bits"))
