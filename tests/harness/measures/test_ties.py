"""Closed forms against every order of the tied documents, each scored by plain Python."""

import math
from itertools import chain, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.collection.types import Judgments, Neighbours
from harness.measures import ties
from harness.measures.scores import score_ranking
from indexers.types import Nearest

CUTOFFS = st.integers(1, 7)


def judgments_of(*rows):
    """Judgments of documents 0, 1, … of each query."""
    return Judgments(
        indptr=np.cumsum([0, *map(len, rows)]).astype(np.int64),
        documents=np.concatenate([np.arange(len(row)) for row in rows]).astype(np.int32),
        gains=np.concatenate(rows).astype(np.float64),
    )


def nearest_of(*rows, cutoff, valid=None):
    """Rankings by the similarities of documents 0, 1, …, as ground truth stores them."""
    documents, similarities, kth = [], [], []
    for row in rows:
        order = sorted(range(len(row)), key=lambda d: (-row[d], d))
        limit = row[order[min(cutoff, len(row)) - 1]]
        listed = [d for d in order if row[d] >= limit and row[d] > 0]
        documents.append(listed)
        similarities.append([row[d] for d in listed])
        kth.append(limit)
    return Nearest(
        indptr=np.cumsum([0, *map(len, documents)]).astype(np.int64),
        documents=np.array(list(chain(*documents)), dtype=np.int32),
        similarity=np.array(list(chain(*similarities)), dtype=np.float64),
        kth=np.array(kth, dtype=np.float64),
        valid=np.ones(len(rows), dtype=np.bool_) if valid is None else np.array(valid),
    )


def score(similarities, labels, cutoff, **options):
    return score_ranking(
        nearest_of(similarities, cutoff=cutoff),
        judgments=judgments_of(labels),
        cutoff=cutoff,
        n_documents=len(similarities),
        query_self=np.array([-1], dtype=np.int32),
        **options,
    )


def plain_measures(order, labels, cutoff, threshold):
    """One ranking scored straight from the definitions."""
    top = [labels[d] for d in order[:cutoff]]
    relevant = sum(label >= threshold for label in labels)
    found = [label >= threshold for label in top]
    hits = sum(found)
    precisions = [sum(found[: i + 1]) / (i + 1) for i in range(len(found)) if found[i]]
    ideal = sorted(labels, reverse=True)[:cutoff]
    p, r = hits / cutoff, hits / relevant
    return {
        "R": r,
        "P": p,
        "F1": 2 * p * r / (p + r) if hits else 0.0,
        "AP(norm=min)": sum(precisions) / min(relevant, cutoff),
        "nDCG": sum(g / math.log2(i + 2) for i, g in enumerate(top))
        / sum(g / math.log2(i + 2) for i, g in enumerate(ideal)),
        "Success": float(hits > 0),
    }


def all_orders(similarities):
    classes = [
        [d for d, s in enumerate(similarities) if s == level]
        for level in sorted(set(similarities), reverse=True)
    ]
    for parts in product(*(permutations(c) for c in classes)):
        yield [d for part in parts for d in part]


@given(
    similarities=st.lists(st.sampled_from([0.0, 0.25, 0.5]), min_size=1, max_size=6),
    data=st.data(),
    cutoff=CUTOFFS,
)
@settings(max_examples=60, deadline=None)
def test_expected_values_are_the_mean_over_all_orders(similarities, data, cutoff):
    n = len(similarities)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    threshold = 2 if max(labels) == 2 else 1
    if not max(labels):
        return
    orders = [plain_measures(o, labels, cutoff, threshold) for o in all_orders(similarities)]
    means = score(similarities, labels, cutoff).means()
    for name in orders[0]:
        expected = sum(o[name] for o in orders) / len(orders)
        assert means[f"{name}@{cutoff}"] == pytest.approx(expected, abs=1e-12), name


@pytest.mark.parametrize("level", [0.0, 0.5])
@pytest.mark.parametrize(("cutoff", "expected"), [(3, 0.472), (6, 0.732)])
def test_a_constant_scorer_is_not_perfect(level, cutoff, expected):
    scores = score([level] * 6, [2, 2, 1, 0, 0, 0], cutoff)
    assert scores.means()[f"nDCG@{cutoff}"] == pytest.approx(expected, abs=5e-4)
    assert scores.tied_share == 1


def test_ties_by_id():
    labels = [2, 2, 1, 0, 0, 0]
    scores = score([0.5] * 6, labels, 3, by_id=True)
    assert scores.means()["nDCG@3"] == 1
    assert scores.tied_share == 1
    # the unlisted follow by id: documents 4, 0, 1
    assert score([0, 0, 0, 0, 0.5, 0], labels, 3, by_id=True).means()["P@3"] == pytest.approx(2 / 3)


def test_ranked_by_id_leaves_the_query_out_and_pads():
    nearest = nearest_of([0, 0, 0.5, 0], [0, 0, 0, 0], cutoff=4, valid=[True, False])
    answers = ties.ranked_by_id(nearest, 4, 4, np.array([0, -1], dtype=np.int32))
    assert answers.tolist() == [[2, 1, 3, -1], [-1] * 4]


def test_a_large_class_against_sampling():
    rng = np.random.default_rng(7)
    similarities = [0.9] * 3 + [0.4] * 30 + [0.0] * 27
    labels = rng.integers(0, 4, 60).tolist()
    means = score(similarities, labels, 10).means()
    sums = dict.fromkeys(["R", "P", "F1", "AP(norm=min)", "nDCG", "Success"], 0.0)
    rounds = 4000
    for _ in range(rounds):
        order = [*rng.permutation(3), *(3 + rng.permutation(30))]
        for name, value in plain_measures(order, labels, 10, 2).items():
            sums[name] += value / rounds
    for name, value in sums.items():
        assert means[f"{name}@10"] == pytest.approx(value, abs=0.012), name


def test_the_query_itself_is_not_among_the_unlisted():
    """Two documents beside the query, one relevant, nothing listed: a coin toss at K = 1."""
    scores = score_ranking(
        nearest_of([0.0, 0.0, 0.0], cutoff=1),
        judgments=judgments_of([3, 3, 0]),
        cutoff=1,
        n_documents=3,
        query_self=np.array([0], dtype=np.int32),
    )
    assert scores.means()["P@1"] == 0.5
    assert scores.means()["R@1"] == 0.5
    assert scores.means()["nDCG@1"] == 0.5


def test_ann_recall_of_the_reference_itself_is_one():
    nearest = nearest_of([0.5] * 6, [0.0] * 6, [0.9, 0.1, 0, 0, 0, 0], cutoff=3)
    scores = score_ranking(
        nearest,
        judgments=None,
        neighbours=Neighbours("jaccard", 3, nearest),
        cutoff=3,
        n_documents=6,
        query_self=np.full(3, -1, dtype=np.int32),
    )
    assert scores.per_query["ANNRecall@3"].tolist() == [1, 1, 1]


def test_ann_recall_of_another_ranking_is_expected_too():
    """One of the two nearest is sure to be found, the other with chance 1/2."""
    scores = score_ranking(
        nearest_of([0.9, 0.5, 0.5, 0.0], cutoff=2),
        judgments=None,
        neighbours=Neighbours("jaccard", 2, nearest_of([0.9, 0.8, 0.1, 0.1], cutoff=2)),
        cutoff=2,
        n_documents=4,
        query_self=np.array([-1], dtype=np.int32),
    )
    assert scores.means()["ANNRecall@2"] == 0.75


def test_queries_without_features_answer_nothing():
    nearest = nearest_of([0.5, 0.5], [0.0, 0.0], cutoff=1, valid=[True, False])
    scores = score_ranking(
        nearest,
        judgments=judgments_of([1, 1], [1, 1]),
        neighbours=Neighbours("jaccard", 1, nearest),
        cutoff=1,
        n_documents=2,
        query_self=np.full(2, -1, dtype=np.int32),
    )
    assert scores.per_query["P@1"].tolist() == [1, 0]
    assert scores.counts()["ANNRecall@1"] == 1
