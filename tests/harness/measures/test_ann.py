import numpy as np
import pytest

from harness.measures import ann
from indexers.types import Nearest


def nearest(documents, kth, valid=True):
    """Neighbours of one query."""
    n = len(documents)
    return Nearest(
        indptr=np.array([0, n], dtype=np.int64),
        documents=np.array(documents, dtype=np.int32),
        similarity=np.full(n, kth, dtype=np.float64),
        kth=np.array([kth], dtype=np.float64),
        valid=np.array([valid]),
    )


def recall(answers, truth, n_documents=100, returnable=None):
    values = ann.ann_recall(
        np.array([answers], dtype=np.int32),
        ann.prepare_nearest(truth, n_documents),
        np.array([returnable or n_documents], dtype=np.int64),
    )
    return values[0]


def test_any_five_of_twenty_at_one_distance_are_right():
    truth = nearest(range(20), 0.5)
    assert recall([19, 3, 7, 11, 0], truth) == 1
    assert recall([19, 3, 7, 50, 51], truth) == pytest.approx(0.6)


def test_an_id_counts_once_and_the_share_is_capped():
    truth = nearest(range(20), 0.5)
    assert recall([3, 3, 3, 3, 4], truth) == pytest.approx(0.4)
    assert recall([3, 4, 5], truth, returnable=2) == 1


def test_padding_never_counts():
    assert recall([5, -1, -1], nearest([5, 6, 7], 0.5)) == pytest.approx(1 / 3)


def test_padding_is_not_the_last_document_of_the_query_before():
    truth = Nearest(
        indptr=np.array([0, 1, 2], dtype=np.int64),
        documents=np.array([99, 3], dtype=np.int32),
        similarity=np.array([0.5, 0.5]),
        kth=np.array([0.5, 0.0]),
        valid=np.array([True, True]),
    )
    counts = ann.prepare_nearest(truth, 100).counts(
        np.array([[0], [1]]), np.array([[99, -1], [3, -1]], dtype=np.int32)
    )
    assert counts.tolist() == [[True, False], [True, False]]


def test_the_divisor_is_what_could_be_returned():
    truth = nearest([3, 7], 0.25)
    assert recall([3, -1, -1], truth, n_documents=8, returnable=2) == 0.5


def test_every_document_counts_where_the_kth_shares_nothing():
    assert recall([50, 60, -1], nearest([3], 0.0)) == pytest.approx(2 / 3)


def test_queries_without_features_are_left_out():
    assert np.isnan(recall([1, 2, 3], nearest([], 0.0, valid=False)))


def test_code_recall_by_hand():
    nan = np.nan
    scores = np.array([[128, 120, 119], [100, 90, nan], [nan] * 3, [5, 4, nan]])
    values = ann.code_recall(
        scores, np.array([120, 90, 3, nan]), np.array([100, 2, 100, 100], dtype=np.int64)
    )
    assert values[:3] == pytest.approx([2 / 3, 1, 0])
    assert np.isnan(values[3])
