"""Expected measures of pools against every order of the tied candidates, and another tool."""

import math
from itertools import pairwise, permutations

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.measures.pooled import concatenated, pooled, pooled_names

JK2 = "nDCG(discount=jk2)%20"
LABELS = st.lists(st.integers(0, 3), min_size=1, max_size=6)


def measured(*pools, relevant_from=2, **options):
    """Pools as lists of (score, label)."""
    pairs = [pair for pool in pools for pair in pool]
    return pooled(
        np.cumsum([0, *map(len, pools)]).astype(np.int64),
        np.array([score for score, _ in pairs], np.float64),
        np.array([label for _, label in pairs], np.float64),
        relevant_from=relevant_from,
        **options,
    )


def plain(labels, relevant_from):
    """One order scored straight from the definitions."""
    relevant = sum(label >= relevant_from for label in labels)
    hits, precisions = 0, 0.0
    for rank, label in enumerate(labels, 1):
        if label >= relevant_from:
            hits += 1
            precisions += hits / rank
    found = {"MAP": precisions / max(1, relevant)}
    best = sorted(labels, reverse=True)

    def dcg(gains, discount, cut):
        return sum(gain / discount(rank) for rank, gain in enumerate(gains[:cut], 1))

    def usual(rank):
        return math.log2(rank + 1)

    def jk2(rank):
        return max(1.0, math.log2(rank))

    fifth = len(labels) // 5
    for name, discount, cut in (
        ("nDCG", usual, len(labels)),
        ("nDCG@20", usual, 20),
        (JK2, jk2, fifth),
    ):
        ideal = dcg(best, discount, cut)
        found[name] = dcg(labels, discount, cut) / ideal if ideal else 0.0
    for cutoff in (5, 10):
        top = sum(label >= relevant_from for label in labels[:cutoff])
        found[f"P@{cutoff}"] = top / cutoff if relevant else 0.0
        found[f"R@{cutoff}"] = top / relevant if relevant else 0.0
        found[f"F1@{cutoff}"] = 2 * top / (cutoff + relevant) if relevant else 0.0
    return found


@settings(max_examples=60, deadline=None)
@given(
    pool=st.lists(
        st.tuples(st.sampled_from([0.1, 0.5, math.nan]), st.integers(0, 3)), min_size=1, max_size=6
    )
)
def test_ties_are_averaged_over_every_order(pool):
    got = measured(pool).per_query
    keyed = [(-math.inf if math.isnan(score) else score, label) for score, label in pool]
    wanted = {}
    orders = [
        [keyed[i][1] for i in order]
        for order in permutations(range(len(keyed)))
        if all(keyed[a][0] >= keyed[b][0] for a, b in pairwise(order))
    ]
    for order in orders:
        for name, value in plain(order, 2).items():
            wanted[name] = wanted.get(name, 0.0) + value / len(orders)
    for name, value in wanted.items():
        assert got[name][0] == pytest.approx(value, abs=1e-12), name


def test_a_constant_scorer_is_told_and_never_perfect():
    found = measured([(0.3, label) for label in (2, 2, 1, 0, 0, 0)])
    assert found.per_query["nDCG"][0] == pytest.approx(0.732, abs=5e-4)
    assert found.constant.tolist() == [True]
    assert found.tied.tolist() == [1.0]


def test_a_score_apart_is_not_constant():
    found = measured([(0.3, 2), (0.3, 0), (0.2, 0)], [(1.0, 2), (math.nan, 0)])
    assert found.constant.tolist() == [False, True]
    assert found.tied.tolist() == [pytest.approx(2 / 3), 0.0]
    assert found.unscored.tolist() == [0, 1]


def test_candidates_without_a_score_come_last_together():
    found = measured([(math.nan, 2), (-5.0, 0), (math.nan, 0)])
    # the relevant one is second or third
    assert found.per_query["MAP"][0] == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_a_fifth_of_the_pool_by_jk2():
    pool = [(10.0 - rank, label) for rank, label in enumerate((0, 3, 1, 0, 0, 0, 0, 0, 0, 0))]
    # 10 candidates: 2 ranks, both undiscounted; 3 of the ideal 3 + 1
    assert measured(pool).per_query[JK2][0] == pytest.approx(0.75)


def test_nothing_relevant_scores_0():
    found = measured([(0.2, 1), (0.1, 0)])
    assert {
        name: found.per_query[name][0] for name in ("MAP", "P@5", "R@5", "F1@5")
    } == dict.fromkeys(("MAP", "P@5", "R@5", "F1@5"), 0.0)
    assert found.per_query["nDCG"][0] == 1.0


def test_names_and_more_cutoffs():
    names = pooled_names((5, 7))
    assert names == ("MAP", "nDCG@20", JK2, "nDCG", "P@5", "P@7", "R@5", "R@7", "F1@5", "F1@7")
    assert tuple(measured([(1.0, 2)], cutoffs=(5, 7)).per_query) == names


def test_blocks_of_rows_join():
    a, b = [(0.3, 2), (0.3, 0)], [(0.1, 3), (0.2, 0), (0.2, 2)]
    whole, parts = measured(a, b), concatenated([measured(a), measured(b)])
    for name, values in whole.per_query.items():
        np.testing.assert_allclose(parts.per_query[name], values, atol=1e-15)
    assert parts.tied.tolist() == whole.tied.tolist()


@settings(max_examples=30, deadline=None)
@given(pools=st.lists(LABELS, min_size=1, max_size=4), seed=st.integers(0, 99))
def test_untied_as_ir_measures_has_it(pools, seed):
    random = np.random.default_rng(seed)
    scored = [
        list(zip(random.permutation(len(labels)).tolist(), labels, strict=True)) for labels in pools
    ]
    got = measured(*scored).per_query
    run = [
        ir_measures.ScoredDoc(f"q{q}", f"d{d}", float(score))
        for q, pool in enumerate(scored)
        for d, (score, _) in enumerate(pool)
    ]
    qrels = [
        ir_measures.Qrel(f"q{q}", f"d{d}", label)
        for q, pool in enumerate(scored)
        for d, (_, label) in enumerate(pool)
    ]
    names = {
        "AP(rel=2)": "MAP",
        "nDCG@20": "nDCG@20",
        "nDCG": "nDCG",
        "P(rel=2)@5": "P@5",
        "R(rel=2)@5": "R@5",
    }
    measures = [ir_measures.parse_measure(name) for name in names]
    for metric in ir_measures.iter_calc(measures, qrels, run):
        row = int(metric.query_id[1:])
        assert got[names[str(metric.measure)]][row] == pytest.approx(metric.value, abs=1e-6)
