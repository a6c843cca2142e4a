"""Worked values, trec_eval as the oracle, and laws."""

import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.measures import ranking


def hits(*rows):
    return np.array(rows, dtype=np.bool_)


def gains(*rows):
    return np.array(rows, dtype=np.float64)


def count(*values):
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("row", "expected"), [([1, 1, 0, 0, 0], 0.6667), ([0, 0, 0, 1, 1], 0.2167)]
)
def test_ap_of_three_relevants(row, expected):
    assert ranking.average_precision(hits(row), count(3))[0] == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(("norm", "expected"), [("R", 0.1667), ("min", 0.3333), ("hits", 0.8333)])
def test_ap_divisors(norm, expected):
    row = hits([1, 0, 1, 0, 0])
    value = ranking.average_precision(row, count(10), norm)[0]
    assert value == pytest.approx(expected, abs=5e-5)


def test_ap_norm_hits_without_a_hit_is_zero():
    assert ranking.average_precision(hits([0, 0]), count(1), "hits")[0] == 0


def test_set_measures_by_hand():
    row, relevant = hits([1, 0, 1, 0]), count(3)
    assert ranking.recall(row, relevant)[0] == pytest.approx(2 / 3)
    assert ranking.precision(row, relevant)[0] == 0.5
    # harmonic mean of 2/3 and 1/2
    assert ranking.f1(row, relevant)[0] == pytest.approx(4 / 7)
    assert ranking.success(row, relevant)[0] == 1


@pytest.mark.parametrize(
    ("row", "judged", "options", "expected"),
    [
        ([0, 3, 1, 0, 0], [3, 1], {"ideal": "retrieved"}, 0.6590),
        ([0, 3, 1], [3, 1], {"ideal": "retrieved", "discount": "jk2"}, 0.9077),
        ([1, 0, 0, 0, 0], [1] * 5, {"ideal": "judged"}, 0.3392),
        ([1, 0, 0, 0, 0], [1] * 5, {"ideal": "retrieved"}, 1.0),
    ],
)
def test_ndcg_worked(row, judged, options, expected):
    value = ranking.ndcg(gains(row), gains(judged), **options)[0]
    assert value == pytest.approx(expected, abs=5e-5)


def test_ndcg_without_a_hit_is_zero_under_both_ideals():
    for ideal in ("judged", "retrieved"):
        assert ranking.ndcg(gains([0, 0]), gains([2, 1]), ideal=ideal)[0] == 0


def test_undefined_without_relevants():
    row, none = hits([0, 0]), count(0)
    for measure in (
        ranking.recall,
        ranking.precision,
        ranking.f1,
        ranking.success,
        ranking.average_precision,
    ):
        assert math.isnan(measure(row, none)[0])
    assert math.isnan(ranking.average_precision(row, none, "hits")[0])
    assert math.isnan(ranking.ndcg(gains([0, 0]), gains([0, 0]))[0])


def test_discounts_by_hand():
    log2_3 = math.log2(3)
    np.testing.assert_allclose(ranking.discounts(4), [1, log2_3, 2, math.log2(5)], rtol=1e-15)
    np.testing.assert_allclose(ranking.discounts(4, "jk2"), [1, 1, log2_3, 2], rtol=1e-15)


def test_pool_cut_rounds_down():
    assert ranking.pool_cut(count(99, 100, 4), 20).tolist() == [19, 20, 0]


def test_cut_of_its_own_ignores_later_ranks():
    row = gains([0, 1, 5], [0, 1, 5])
    judged = gains([5, 1, 0], [5, 1, 0])
    values = ranking.ndcg(row, judged, cut=count(2, 3))
    log2_3 = math.log2(3)
    assert values[0] == pytest.approx((1 / log2_3) / (5 + 1 / log2_3))
    assert values[1] == pytest.approx((1 / log2_3 + 5 / 2) / (5 + 1 / log2_3))


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("cutoff", [1, 5, 10])
def test_against_trec_eval(rel, cutoff):
    """Random runs whose documents tie a lot are scored as returned: the oracle gets K − rank."""
    rng = np.random.default_rng([rel, cutoff])
    queries, n = 60, 30
    labels = rng.integers(0, 4, (queries, n)) * (rng.random((queries, n)) < 0.4)
    labels[:, 0] = 3  # trec_eval knows no undefined value: every query has a relevant document
    order = np.argsort(rng.integers(0, 4, (queries, n)), axis=1, kind="stable")[:, :cutoff]
    qrels = {f"q{q}": {f"d{d}": int(labels[q, d]) for d in range(n)} for q in range(queries)}
    run = {
        f"q{q}": {f"d{d}": float(cutoff - rank) for rank, d in enumerate(order[q])}
        for q in range(queries)
    }
    names = {
        f"AP(rel={rel})@{cutoff}": "ap",
        f"R(rel={rel})@{cutoff}": "recall",
        f"P(rel={rel})@{cutoff}": "precision",
        f"nDCG@{cutoff}": "ndcg",
        f"Success(rel={rel})@{cutoff}": "success",
    }
    row_gains = np.take_along_axis(labels, order, axis=1).astype(np.float64)
    found, relevant = row_gains >= rel, (labels >= rel).sum(axis=1)
    ours = {
        "ap": ranking.average_precision(found, relevant, "R"),
        "recall": ranking.recall(found, relevant),
        "precision": ranking.precision(found, relevant),
        "ndcg": ranking.ndcg(row_gains, -np.sort(-labels, axis=1).astype(np.float64)),
        "success": ranking.success(found, relevant),
    }
    measures = [ir_measures.parse_measure(name) for name in names]
    compared = 0
    for metric in ir_measures.iter_calc(measures, qrels, run):
        ours_at = ours[names[str(metric.measure)]] if str(metric.measure) in names else None
        if ours_at is None:  # rel=1 is the oracle's default and not printed
            ours_at = ours[names[str(metric.measure).replace("@", f"(rel={rel})@")]]
        assert ours_at[int(metric.query_id[1:])] == pytest.approx(metric.value, abs=1e-9)
        compared += 1
    assert compared == queries * len(names)


binary_rows = st.lists(st.booleans(), min_size=1, max_size=12)


@given(row=binary_rows, missed=st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_values_lie_in_the_unit_interval(row, missed):
    found, relevant = hits(row), count(sum(row) + missed)
    for values in (
        ranking.recall(found, relevant),
        ranking.precision(found, relevant),
        ranking.f1(found, relevant),
        ranking.success(found, relevant),
        *(ranking.average_precision(found, relevant, norm) for norm in ("min", "R", "hits")),
    ):
        assert math.isnan(values[0]) == (relevant[0] == 0)
        assert relevant[0] == 0 or 0 <= values[0] <= 1


@given(row=binary_rows, missed=st.integers(1, 5), at=st.integers(0, 11))
@settings(max_examples=60, deadline=None)
def test_one_more_hit_never_lowers_anything(row, missed, at):
    relevant = count(sum(row) + missed)
    more = list(row)
    more[at % len(row)] = True
    for measure in (
        ranking.recall,
        ranking.precision,
        ranking.f1,
        ranking.success,
        ranking.average_precision,
    ):
        assert measure(hits(more), relevant)[0] >= measure(hits(row), relevant)[0]


@given(
    row=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    unseen=st.lists(st.integers(0, 3), max_size=4),
    discount=st.sampled_from(["log2", "jk2"]),
)
@settings(max_examples=60, deadline=None)
def test_ndcg_is_one_for_the_ideal_order_and_no_order_beats_it(row, unseen, discount):
    judged = gains(sorted(row + unseen, reverse=True))
    if not judged.any():
        return
    width = len(row)
    assert ranking.ndcg(judged[:, :width], judged, discount=discount)[0] == 1
    value = ranking.ndcg(gains(row), judged, discount=discount)[0]
    assert 0 <= value <= 1 + 1e-12
    retrieved = ranking.ndcg(gains(row), judged, ideal="retrieved", discount=discount)[0]
    assert retrieved >= value - 1e-12
