import numpy as np
import pytest

from harness.measures import answers
from indexers.errors import HarnessError


def rows(*values):
    return np.array(values, dtype=np.int32)


def test_drop_self_where_it_stands_else_the_last():
    given = rows([4, 2, 7], [2, 4, 7], [4, 7, 2], [4, 7, 9], [4, 7, -1], [2, -1, -1], [-1] * 3)
    own = rows(2, 2, 2, 2, -1, 2, -1).ravel()
    expected = [[4, 7], [4, 7], [4, 7], [4, 7], [4, 7], [-1, -1], [-1, -1]]
    dropped = answers.drop_self(given, own)
    assert dropped.tolist() == expected
    assert dropped.dtype == np.int32


def test_a_document_twice_is_an_error_that_says_where():
    with pytest.raises(HarnessError, match="query 1 hold document 5 twice"):
        answers.drop_self(rows([1, 2, 3], [5, 2, 5]), rows(-1, -1).ravel())


def test_padding_may_repeat():
    answers.check_distinct(rows([3, -1, -1]))


def test_an_unknown_document_is_an_error():
    answers.check_known(rows([0, 9]), 10)
    with pytest.raises(HarnessError, match="query 1 hold ordinal 10, but the corpus has 10"):
        answers.check_known(rows([0, 9], [10, 1]), 10)


def test_first_seen():
    seen = answers.first_seen(rows([3, 3, -1, 2, 3], [-1, 0, 0, 1, 1]))
    assert seen.tolist() == [[True, False, False, True, False], [False, True, False, True, False]]


def test_tied_share_by_hand():
    nan = np.nan
    scores = np.array([[9, 8, 8, 7], [5, 5, nan, nan], [nan] * 4, [4, 3, 2, 1.0]])
    assert answers.tied_share(scores) == pytest.approx((0.5 + 1 + 0) / 3)
    assert answers.tied_share(scores[2:3]) is None


def test_find_in_nothing():
    _, found = answers.find(np.zeros(0, dtype=np.int64), np.array([[3, 4]]))
    assert found.tolist() == [[False, False]]
