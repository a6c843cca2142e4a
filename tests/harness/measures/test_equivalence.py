"""Classes of similarities that rank alike."""

from __future__ import annotations

import numpy as np
import pytest

from harness.measures.equivalence import rank_classes
from indexers import registry
from indexers.errors import HarnessError
from indexers.types import Fingerprints


def test_worked_by_hand():
    scores = {
        "a": [np.array([3, 1, 1]), np.array([0.5, 0.25])],
        "ties apart": [np.array([3, 1, 2]), np.array([0.5, 0.25])],
        "squares": [np.array([9, 1, 1]), np.array([0.25, 0.0625])],
        "reversed": [np.array([-3, -1, -1]), np.array([-0.5, -0.25])],
        "shifted": [np.array([0, -2, -2]), np.array([7, 6])],
        "other second": [np.array([3, 1, 1]), np.array([1, 1])],
    }
    assert rank_classes(scores) == [
        ("a", "squares", "shifted"),
        ("ties apart",),
        ("reversed",),
        ("other second",),
    ]


def test_without_a_score_is_last():
    scores = {
        "nan": [np.array([2.0, np.nan, np.nan, 1.0])],
        "low": [np.array([2.0, 0.0, 0.0, 1.0])],
        "lower": [np.array([2.0, 0.0, -1.0, 1.0])],
    }
    assert rank_classes(scores) == [("nan", "low"), ("lower",)]


def test_nothing_to_group():
    assert rank_classes({}) == []
    assert rank_classes({"a": [], "b": []}) == [("a", "b")]


def test_other_candidates_are_refused():
    with pytest.raises(HarnessError, match="b and a scored different candidates"):
        rank_classes({"a": [np.zeros(2)], "b": [np.zeros(3)]})


def test_on_codes_three_similarities_are_one():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (60, 16)).astype(np.uint8)
    fp = Fingerprints(np.zeros(60, np.uint8), codes, np.zeros((0, 0, 60), np.uint32), "bit")
    names = ("cosine", "hamming", "jaccard", "mahalanobis", "manhattan")
    scores = {
        name: list(registry.similarity(name).matrix(fp.take(np.arange(9)), fp, "bits"))
        for name in names
    }
    assert rank_classes(scores) == [
        ("cosine",),
        ("hamming", "mahalanobis", "manhattan"),
        ("jaccard",),
    ]
