"""Mahalanobis similarity against scipy; why the exponent ranks and not the density."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from indexers.errors import SettingError
from indexers.similarity.mahalanobis import SIMILARITY
from indexers.types import Fingerprints


def of(vectors=None, codes=None, status=None):
    n = len(vectors if vectors is not None else codes)
    return Fingerprints(
        np.zeros(n, np.uint8) if status is None else np.array(status, np.uint8),
        np.zeros((n, 0), np.uint8) if codes is None else np.array(codes, np.uint8),
        np.zeros((0, 0, n), np.uint32),
        "bit",
        vectors=None if vectors is None else np.array(vectors, np.float32),
    )


def test_worked_by_hand():
    found = SIMILARITY.matrix(of([[1, 2], [0, 0]]), of([[1, 2], [4, 6], [0, 0]]), "vector")
    assert found.tolist() == [[0, -12.5, -2.5], [-2.5, -26, 0]]
    assert not np.signbit(found[0, 0])  # people read it
    found = SIMILARITY.matrix(of(codes=[[0b0101]]), of(codes=[[0b0110], [0b0101]]), "bits")
    assert found.tolist() == [[-1, 0]]


def test_fitted_worked_by_hand():
    # shares of ones of the last four bits: 1/2, 1/4, 1, 0: variances 1/4, 3/16, none, none
    documents = of(codes=[[0b1110], [0b1010], [0b0010], [0b0010], [0xFF]], status=[0, 0, 0, 0, 1])
    fitted = SIMILARITY.fitted(documents)
    found = fitted.matrix(of(codes=[[0b1110]]), documents, "bits")
    expected = [0, -8 / 3, -8 / 3 - 2, -8 / 3 - 2, np.nan]
    np.testing.assert_allclose(found[0], expected, rtol=1e-14)
    assert found[0, 2] == found[0, 3]
    # what differs only where all documents are alike ties
    assert fitted.matrix(of(codes=[[0b0011]]), of(codes=[[0b0010]]), "bits").tolist() == [[0]]


def test_the_identity_agrees_with_scipy():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((7, 50)).astype(np.float32)
    b = rng.standard_normal((90, 50)).astype(np.float32)
    expected = -cdist(a.astype(np.float64), b.astype(np.float64), "sqeuclidean") / 2
    np.testing.assert_allclose(SIMILARITY.matrix(of(a), of(b), "vector"), expected, rtol=1e-12)


def test_the_diagonal_agrees_with_scipy():
    rng = np.random.default_rng(1)
    b = of(codes=rng.integers(0, 256, (500, 16)) & rng.integers(0, 256, (500, 16)))
    a = of(codes=rng.integers(0, 256, (9, 16)))
    bits = np.unpackbits(b.codes, axis=1).astype(np.float64)
    share = bits.mean(axis=0)
    inverse = np.diag(1 / (share * (1 - share)))
    mine = np.unpackbits(a.codes, axis=1).astype(np.float64)
    expected = -(cdist(mine, bits, "mahalanobis", VI=inverse) ** 2) / 2
    found = SIMILARITY.fitted(b).matrix(a, b, "bits")
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_fitted_values_do_not_depend_on_the_block():
    rng = np.random.default_rng(2)
    documents = of(codes=rng.integers(0, 256, (300, 32)))
    fitted = SIMILARITY.fitted(documents)
    whole = fitted.matrix(documents, documents, "bits")
    assert np.array_equal(whole, whole.T)
    for row in (0, 150, 299):
        one = fitted.matrix(documents.take(np.array([row])), documents, "bits")
        assert np.array_equal(one[0], whole[row])
    assert np.array_equal(np.diagonal(whole), np.zeros(300))


@pytest.mark.parametrize(
    "documents",
    [of(codes=np.zeros((0, 2))), of(codes=[[1], [2]], status=[1, 1]), of([[1.0, 0.0]])],
    ids=["none", "not OK", "without codes"],
)
def test_nothing_to_fit_to_leaves_the_identity(documents):
    fitted = SIMILARITY.fitted(documents)
    assert fitted.matrix(of(codes=[[3]]), of(codes=[[0]]), "bits").tolist() == [[-1]]


def test_codes_of_another_width_than_fitted():
    fitted = SIMILARITY.fitted(of(codes=[[1, 2], [3, 4]]))
    with pytest.raises(SettingError, match="fitted to 16 bits, given 8: fit it to"):
        fitted.matrix(of(codes=[[1]]), of(codes=[[1]]), "bits")


def test_the_density_underflows_where_the_exponent_ranks():
    rng = np.random.default_rng(3)
    codes = of(codes=rng.integers(0, 256, (40, 512)))  # 4,096 bits, differing in about half
    exponents = SIMILARITY.matrix(codes.take(np.arange(1)), codes, "bits")[0, 1:]
    assert len(np.unique(exponents)) > 20
    assert np.unique(np.exp(exponents)).tolist() == [0.0]
