import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.collection.types import Judgments, Neighbours
from harness.measures.scores import prepare_truth, score_answers, score_run
from indexers.errors import HarnessError, SettingError
from indexers.types import Nearest

NO_SELF = np.array([-1], dtype=np.int32)


def judgments_of(*queries):
    """Each query a dict of ordinal -> gain."""
    return Judgments(
        indptr=np.cumsum([0, *map(len, queries)]).astype(np.int64),
        documents=np.array([d for q in queries for d in sorted(q)], dtype=np.int32),
        gains=np.array([q[d] for q in queries for d in sorted(q)], dtype=np.float64),
    )


def score(answers, *queries, query_self=None, n_documents=20, neighbours=None, **options):
    matrix = np.array(answers, dtype=np.int32)
    own = [-1] * len(matrix) if query_self is None else query_self
    return score_answers(
        matrix,
        judgments=judgments_of(*queries) if queries else None,
        neighbours=neighbours,
        cutoff=matrix.shape[1],
        n_documents=n_documents,
        query_self=np.array(own, dtype=np.int32),
        **options,
    )


def test_every_measure_by_hand():
    """Relevants 4, 7, 9; answers 4, 7, then unjudged ones and one judged 0."""
    means = score([[4, 7, 1, 2, 3]], {4: 1, 7: 1, 9: 1, 2: 0}).means()
    log2_3 = np.log2(3)
    assert means == pytest.approx(
        {
            "R@5": 2 / 3,
            "P@5": 2 / 5,
            "F1@5": 1 / 2,
            "AP(norm=min)@5": 2 / 3,
            "nDCG@5": (1 + 1 / log2_3) / (1 + 1 / log2_3 + 1 / 2),
            "Success@5": 1,
            "ANNRecall@5": None,
            "ANNRecall(truth=code)@5": None,
        }
    )


def test_without_judgments_their_measures_are_null():
    scores = score([[1, 2]])
    assert set(scores.means().values()) == {None}
    assert set(scores.counts().values()) == {0}
    assert scores.relevant_from is None


def test_relevant_from_follows_the_labels():
    graded, answers = {1: 1, 2: 2, 3: 3}, [[1, 2]]
    assert score(answers, graded).relevant_from == 2
    assert score(answers, graded).means()["R@2"] == 0.5
    assert score(answers, {1: 1, 2: 1}).relevant_from == 1
    assert score(answers, graded, relevant_from=1).means()["R@2"] == pytest.approx(2 / 3)
    with pytest.raises(SettingError, match="above 0"):
        score(answers, graded, relevant_from=0)


def test_queries_without_relevants_are_left_out_measure_by_measure():
    """Query 1 has gain but nothing relevant from 2; query 2 has no judgment at all."""
    scores = score([[1, 2], [1, 2], [1, 2]], {1: 2}, {1: 1}, {})
    assert scores.counts()["R@2"] == 1
    assert scores.counts()["nDCG@2"] == 2
    assert scores.means()["R@2"] == 1
    zero = score([[1, 2], [1, 2], [1, 2]], {1: 2}, {1: 1}, {}, empty="zero")
    assert zero.counts()["R@2"] == 3
    assert zero.means()["R@2"] == pytest.approx(1 / 3)
    assert zero.counts()["ANNRecall@2"] == 0


def test_no_answers_score_zero():
    means = score([[-1, -1]], {0: 1}).means()
    assert {v for v in means.values() if v is not None} == {0.0}


def test_padding_is_not_the_last_document_of_the_query_before():
    scores = score([[1, -1], [1, -1]], {19: 1}, {2: 1})
    assert scores.per_query["R@2"].tolist() == [0, 0]
    assert scores.per_query["nDCG@2"].tolist() == [0, 0]


def test_a_judgment_of_the_query_itself_does_not_count():
    scores = score([[1, 2]], {0: 3, 1: 3}, query_self=[0])
    assert scores.means()["R@2"] == 1
    assert scores.means()["nDCG@2"] == 1


def test_neighbours_and_code():
    nearest = Nearest(
        indptr=np.array([0, 3], dtype=np.int64),
        documents=np.array([9, 4, 5], dtype=np.int32),
        similarity=np.array([0.9, 0.5, 0.5]),
        kth=np.array([0.5]),
        valid=np.array([True]),
    )
    scores = score(
        [[5, 1]],
        neighbours=Neighbours("jaccard", 2, nearest),
        code_scores=np.array([[120.0, 120.0]]),
        code_kth=np.array([120.0]),
    )
    assert scores.means()["ANNRecall@2"] == 0.5
    assert scores.means()["ANNRecall(truth=code)@2"] == 1
    assert scores.means()["R@2"] is None
    assert scores.tied_share == 1


def test_only_indexed_documents_could_be_returned_by_code():
    """Three documents, one of them the query and one without a code: one could be returned."""
    scores = score(
        [[1, -1]],
        query_self=[0],
        n_documents=3,
        n_indexed=2,
        code_scores=np.array([[90.0, np.nan]]),
        code_kth=np.array([90.0]),
    )
    assert scores.means()["ANNRecall(truth=code)@2"] == 1


@pytest.mark.parametrize(
    ("answers", "own", "message"),
    [
        ([[1, 1]], -1, "document 1 twice"),
        ([[1, 20]], -1, "ordinal 20, but the corpus has 20"),
        ([[1, 3]], 3, "query 0 hold the query itself"),
    ],
)
def test_wrong_answers_are_refused(answers, own, message):
    with pytest.raises(HarnessError, match=message):
        score(answers, {1: 1}, query_self=[own])


def test_truths_of_other_shapes_are_refused():
    shape = {"cutoff": 2, "n_documents": 5, "query_self": NO_SELF}
    nearest = Nearest(
        indptr=np.zeros(2, dtype=np.int64),
        documents=np.zeros(0, dtype=np.int32),
        similarity=np.zeros(0),
        kth=np.zeros(1),
        valid=np.ones(1, dtype=np.bool_),
    )
    with pytest.raises(HarnessError, match="judgments of 2 queries, not 1"):
        prepare_truth(judgments=judgments_of({}, {}), neighbours=None, **shape)
    with pytest.raises(HarnessError, match="K = 3, not 2"):
        prepare_truth(judgments=None, neighbours=Neighbours("jaccard", 3, nearest), **shape)
    truth = prepare_truth(judgments=None, neighbours=None, **shape)
    with pytest.raises(HarnessError, match="shape"):
        score_run(np.zeros((1, 3), dtype=np.int32), truth)


@given(
    labels=st.dictionaries(st.integers(0, 14), st.integers(0, 3), max_size=10),
    order=st.permutations(range(15)),
    tail=st.permutations(range(10)),
    cutoff=st.integers(1, 5),
)
@settings(max_examples=60, deadline=None)
def test_what_stands_beyond_the_cutoff_changes_nothing(labels, order, tail, cutoff):
    """Only the documents cut off are reordered, so every measure stays, and stays in [0, 1]."""
    other = order[:5] + [order[5 + i] for i in tail]
    scores = score([order[:cutoff]], labels).per_query
    for name, values in score([other[:cutoff]], labels).per_query.items():
        np.testing.assert_array_equal(values, scores[name])
        assert np.isnan(values[0]) or 0 <= values[0] <= 1


@given(labels=st.dictionaries(st.integers(0, 14), st.integers(0, 3), max_size=10))
@settings(max_examples=40, deadline=None)
def test_the_ideal_order_is_perfect(labels):
    order = sorted(range(15), key=lambda d: -labels.get(d, 0))[:5]
    scores = score([order], labels).means()
    for name in ("nDCG@5", "AP(norm=min)@5", "Success@5"):
        assert scores[name] in (None, 1.0)
