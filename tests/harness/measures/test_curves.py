import math
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.measures.curves import (
    ball_sizes,
    by_radius,
    by_rank,
    empty_balls,
    expected_average_precision,
    expected_found,
    harmonic_between,
    precision_within,
    ranks_to_show,
)
from harness.measures.curves_by_id import found_by_id
from harness.measures.curves_counting import (
    Coded,
    LabelRelevance,
    PairRelevance,
    count_distances,
)
from indexers.types import Status

NAN = math.nan


def pack(rows):
    return np.packbits(np.array(rows, np.uint8), axis=1)


def bits_of(*words):
    return [[int(bit) for bit in word] for word in words]


DOCUMENTS = bits_of("0000", "0001", "0111", "1111")
QUERIES = bits_of("0000", "1100")
LABELS = LabelRelevance(np.array([0, 1, 0, 1]), np.array([0, 1]))


@pytest.fixture
def worked():
    return Coded.of(4, pack(DOCUMENTS), pack(QUERIES))


class Brute:
    """The definitions, query by query, on lists: which documents are relevant is a bool matrix."""

    def __init__(self, documents, queries, relevant, own=None):
        self.relevant = relevant
        self.own = own or [-1] * len(queries)
        self.distances = [
            [sum(x != y for x, y in zip(a, b, strict=True)) for b in documents] for a in queries
        ]
        self.bits = len(documents[0])
        self.scored = [q for q in range(len(queries)) if self.wanted(q)]

    def others(self, q):
        return [d for d in range(len(self.distances[q])) if d != self.own[q]]

    def wanted(self, q):
        return sum(self.relevant[q][d] for d in self.others(q))

    def ball(self, q, radius):
        return [d for d in self.others(q) if self.distances[q][d] <= radius]

    def hits(self, q, radius):
        return sum(self.relevant[q][d] for d in self.ball(q, radius))

    def micro(self, radius):
        balls = sum(len(self.ball(q, radius)) for q in self.scored)
        hits = sum(self.hits(q, radius) for q in self.scored)
        everything = sum(len(self.others(q)) for q in self.scored)
        wanted = sum(self.wanted(q) for q in self.scored)
        return (hits / balls if balls else NAN, hits / wanted, balls / everything)

    def macro(self, radius, empty):
        precisions = []
        for q in self.scored:
            ball = self.ball(q, radius)
            if ball:
                precisions.append(self.hits(q, radius) / len(ball))
            elif empty == "zero":
                precisions.append(0.0)
        n = len(self.scored)
        return (
            sum(precisions) / len(precisions) if precisions else NAN,
            sum(self.hits(q, radius) / self.wanted(q) for q in self.scored) / n,
            sum(len(self.ball(q, radius)) / len(self.others(q)) for q in self.scored) / n,
        )

    def orders(self, q):
        """Every ranking in which distances do not fall."""
        classes = {}
        for d in self.others(q):
            classes.setdefault(self.distances[q][d], []).append(d)
        parts = (list(permutations(classes[key])) for key in sorted(classes))
        return [[d for part in choice for d in part] for choice in product(*parts)]

    def mean_found(self, q, k):
        orders = self.orders(q)
        return sum(self.relevant[q][d] for order in orders for d in order[:k]) / len(orders)

    def precision_of(self, q, order):
        found, total = 0, 0.0
        for rank, d in enumerate(order, 1):
            if self.relevant[q][d]:
                found += 1
                total += found / rank
        return total / self.wanted(q)

    def mean_precision(self, q):
        orders = self.orders(q)
        return sum(self.precision_of(q, order) for order in orders) / len(orders)


@st.composite
def problems(draw, most=6):
    bits = draw(st.integers(1, 5))
    code = st.lists(st.integers(0, 1), min_size=bits, max_size=bits)
    documents = draw(st.lists(code, min_size=2, max_size=most))
    queries = draw(st.lists(code, min_size=1, max_size=4))
    labels = draw(st.lists(st.integers(0, 2), min_size=len(documents), max_size=len(documents)))
    asked = draw(st.lists(st.integers(0, 2), min_size=len(queries), max_size=len(queries)))
    own = draw(
        st.lists(st.integers(-1, len(documents) - 1), min_size=len(queries), max_size=len(queries))
    )
    return documents, queries, labels, asked, own


def counted(documents, queries, labels, asked, own=None):
    coded = Coded.of(len(documents[0]), pack(documents), pack(queries))
    if own is not None:
        coded = replace(coded, query_self=np.array(own, np.int32))
    relevance = LabelRelevance(np.array(labels), np.array(asked))
    return coded, relevance, count_distances(coded, relevance)


def as_pairs(relevant):
    indptr = np.concatenate([[0], np.cumsum([sum(row) for row in relevant])]).astype(np.int64)
    rows = [d for row in relevant for d, is_relevant in enumerate(row) if is_relevant]
    return PairRelevance(indptr, np.array(rows, np.int32))


def brute_of(documents, queries, labels, asked, own):
    relevant = [[label == wanted for label in labels] for wanted in asked]
    return Brute(documents, queries, relevant, own)


def columns(curve):
    return np.array([curve.precision, curve.recall, curve.retrieved]).T


class TestGolden:
    @pytest.mark.parametrize("relevance", [LABELS, as_pairs([[1, 0, 1, 0], [0, 1, 0, 1]])])
    def test_worked_reference(self, worked, relevance):
        counts = count_distances(worked, relevance)
        micro = by_radius(counts, average="micro")
        assert micro.precision == pytest.approx([1, 0.5, 0.5, 4 / 7, 0.5])
        assert micro.recall == pytest.approx([0.25, 0.25, 0.5, 1, 1])
        assert micro.retrieved == pytest.approx([1 / 8, 2 / 8, 4 / 8, 7 / 8, 1])
        zero = by_radius(counts, average="macro", empty="zero")
        assert zero.precision == pytest.approx([0.5, 0.25, 0.5, 7 / 12, 0.5])
        assert zero.recall == pytest.approx([0.25, 0.25, 0.5, 1, 1])
        skip = by_radius(counts, average="macro", empty="skip")
        assert skip.precision == pytest.approx([1, 0.5, 0.5, 7 / 12, 0.5])
        assert empty_balls(counts).tolist() == [1, 1, 0, 0, 0]
        assert ball_sizes(counts).tolist() == [0.5, 1, 2, 3.5, 4]
        assert precision_within(counts, 2) == 0.5

    def test_average_precision_by_hand(self, worked):
        counts = count_distances(worked, LABELS)
        # 0000 finds a, b, c, d in this order: (1 + 2/3) / 2. 1100 ties a with d, then b with c:
        # (1/2 · 1 + 1/2 · 1/2 + 1/2 · 2/3 + 1/2 · 2/4) / 2
        assert expected_average_precision(counts) == pytest.approx([5 / 6, 2 / 3])
        found, precision = found_by_id(worked, LABELS, counts, np.array([1, 2, 3, 4]))
        assert found.tolist() == [[1, 1, 2, 2], [0, 1, 2, 2]]
        assert precision == pytest.approx([5 / 6, (1 / 2 + 2 / 3) / 2])

    def test_radius_beyond_the_width_is_the_width(self):
        coded = Coded.of(1, pack([[0], [1]]), pack([[0]]))
        counts = count_distances(coded, LabelRelevance(np.array([0, 0]), np.array([0])))
        assert precision_within(counts, 2) == 1

    def test_constant_codes_are_no_perfect_ranking(self):
        """All documents tie: relevant ones that are stored first earn nothing by it."""
        coded = Coded.of(8, np.zeros((6, 1), np.uint8), np.zeros((1, 1), np.uint8))
        relevance = LabelRelevance(np.array([1, 1, 0, 0, 0, 0]), np.array([1]))
        counts = count_distances(coded, relevance)
        ranks = np.array([1, 2, 6])
        found = expected_found(counts, ranks)
        assert found == pytest.approx(np.array([[2 / 6, 4 / 6, 2]]))
        brute = Brute([[0]] * 6, [[0]], [[1, 1, 0, 0, 0, 0]])
        assert expected_average_precision(counts)[0] == pytest.approx(brute.mean_precision(0))
        assert expected_average_precision(counts)[0] < 0.6


class TestAgainstDefinitions:
    @settings(max_examples=60, deadline=None)
    @given(problems())
    def test_by_radius(self, problem):
        brute = brute_of(*problem)
        counts = counted(*problem)[2]
        if not brute.scored:
            assert np.isnan(columns(by_radius(counts))).all()
            return
        radii = range(brute.bits + 1)
        expected = {
            ("micro", "zero"): [brute.micro(radius) for radius in radii],
            ("macro", "zero"): [brute.macro(radius, "zero") for radius in radii],
            ("macro", "skip"): [brute.macro(radius, "skip") for radius in radii],
        }
        for (average, empty), rows in expected.items():
            curve = by_radius(counts, average=average, empty=empty)
            np.testing.assert_allclose(columns(curve), np.array(rows), atol=1e-12)

    @settings(max_examples=30, deadline=None)
    @given(problems(most=5))
    def test_by_rank_over_all_orders_of_ties(self, problem):
        brute = brute_of(*problem)
        counts = counted(*problem)[2]
        ranks = np.arange(1, len(problem[0]) + 1)
        found = expected_found(counts, ranks)
        precision = expected_average_precision(counts)
        for q in range(len(problem[1])):
            expected = [brute.mean_found(q, k) for k in ranks]
            assert found[q] == pytest.approx(expected)
            if q in brute.scored:
                assert precision[q] == pytest.approx(brute.mean_precision(q))
            else:
                assert np.isnan(precision[q])

    @settings(max_examples=40, deadline=None)
    @given(problems())
    def test_ties_by_id(self, problem):
        brute = brute_of(*problem)
        coded, relevance, counts = counted(*problem)
        ranks = np.arange(1, len(problem[0]) + 1)
        found, precision = found_by_id(coded, relevance, counts, ranks)
        for q in range(len(problem[1])):
            order = sorted(brute.others(q), key=lambda d, q=q: (brute.distances[q][d], d))
            hits = np.cumsum([brute.relevant[q][d] for d in order])
            assert found[q].tolist() == [hits[min(k, len(hits)) - 1] for k in ranks]
            if q in brute.scored:
                assert precision[q] == pytest.approx(brute.precision_of(q, order))

    @settings(max_examples=30, deadline=None)
    @given(problems())
    def test_pairs_say_what_labels_say(self, problem):
        coded, relevance, counts = counted(*problem)
        relevant = [[a == b for a in relevance.documents] for b in relevance.queries]
        pairs = as_pairs(relevant)
        other = count_distances(coded, pairs)
        for name in ("documents", "relevant", "wanted", "returnable"):
            assert np.array_equal(getattr(counts, name), getattr(other, name))
        ranks = np.arange(1, len(problem[0]) + 1)
        for one, two in zip(
            found_by_id(coded, relevance, counts, ranks),
            found_by_id(coded, pairs, other, ranks),
            strict=True,
        ):
            np.testing.assert_array_equal(one, two)


class TestAgainstOtherTools:
    def untied(self):
        """200 codes at distances 0 … 199 of one query of zeros, in random order."""
        random = np.random.default_rng(4)
        distances = random.permutation(200)
        bits = (np.arange(200) < distances[:, None]).astype(np.uint8)
        labels = random.integers(0, 2, 200)
        coded = Coded.of(200, np.packbits(bits, axis=1), np.zeros((1, 25), np.uint8))
        relevance = LabelRelevance(labels, np.array([1]))
        return distances, labels, count_distances(coded, relevance)

    def test_scikit_learn(self):
        metrics = pytest.importorskip("sklearn.metrics")
        distances, labels, counts = self.untied()
        expected = metrics.average_precision_score(labels, -distances)
        assert expected_average_precision(counts)[0] == pytest.approx(expected)
        precision, recall, _ = metrics.precision_recall_curve(labels, -distances)
        ranks = np.arange(1, 201)
        curve = by_rank(expected_found(counts, ranks), counts.wanted, ranks)
        # it runs from the last rank to the first, and adds a point at recall 0
        assert curve.precision == pytest.approx(precision[:-1][::-1])
        assert curve.recall == pytest.approx(recall[:-1][::-1])

    def test_ir_measures(self):
        measures = pytest.importorskip("ir_measures")
        distances, labels, counts = self.untied()
        qrels = [measures.Qrel("q", f"d{i}", int(label)) for i, label in enumerate(labels)]
        run = [measures.ScoredDoc("q", f"d{i}", float(-d)) for i, d in enumerate(distances)]
        wanted = [measures.AP, measures.P @ 7, measures.R @ 7]
        expected = measures.calc_aggregate(wanted, qrels, run)
        ranks = np.array([7])
        curve = by_rank(expected_found(counts, ranks), counts.wanted, ranks)
        assert expected_average_precision(counts)[0] == pytest.approx(expected[measures.AP])
        assert curve.precision[0] == pytest.approx(expected[measures.P @ 7])
        assert curve.recall[0] == pytest.approx(expected[measures.R @ 7])


class TestLaws:
    @settings(max_examples=40, deadline=None)
    @given(problems())
    def test_curves_rise_to_everything(self, problem):
        counts = counted(*problem)[2]
        for average in ("micro", "macro"):
            curve = by_radius(counts, average=average)
            if counts.scored.any():
                assert (np.diff(curve.recall) >= -1e-12).all()
                assert (np.diff(curve.retrieved) >= -1e-12).all()
                assert curve.recall[-1] == pytest.approx(1)
                assert curve.retrieved[-1] == pytest.approx(1)
                assert (np.diff(ball_sizes(counts)) >= 0).all()
                assert (np.diff(empty_balls(counts)) <= 0).all()

    @settings(max_examples=40, deadline=None)
    @given(problems(), st.randoms(use_true_random=False))
    def test_masks_and_bit_orders_change_nothing(self, problem, random):
        documents, queries, *rest = problem
        bits = len(documents[0])
        mask = [random.randint(0, 1) for _ in range(bits)]
        order = random.sample(range(bits), bits)

        def moved(codes):
            return [[code[i] ^ mask[i] for i in order] for code in codes]

        before = counted(*problem)[2]
        after = counted(moved(documents), moved(queries), *rest)[2]
        assert np.array_equal(before.documents, after.documents)
        assert np.array_equal(before.relevant, after.relevant)

    @settings(max_examples=40, deadline=None)
    @given(problems())
    def test_doubling_the_queries_changes_nothing(self, problem):
        documents, queries, labels, asked, own = problem
        one = counted(*problem)[2]
        two = counted(documents, queries * 2, labels, asked * 2, own * 2)[2]
        for average, empty in (("micro", "zero"), ("macro", "zero"), ("macro", "skip")):
            np.testing.assert_allclose(
                columns(by_radius(two, average=average, empty=empty)),
                columns(by_radius(one, average=average, empty=empty)),
            )

    @settings(max_examples=100, deadline=None)
    @given(st.integers(0, 10**7), st.integers(0, 300))
    def test_harmonic_sums(self, start, count):
        expected = math.fsum(1 / j for j in range(start + 1, start + count + 1))
        found = harmonic_between(np.array([start]), np.array([start + count]))[0]
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-18)


class TestWithoutCodes:
    def test_documents_and_queries_without_a_code_are_missed(self, worked):
        """A relevant document without a code stays in the divisor of recall."""
        worked.status[0] = Status.EMPTY
        worked.query_status[1] = Status.EMPTY
        counts = count_distances(worked, LABELS)
        assert counts.wanted.tolist() == [2, 2]
        assert counts.documents[0].tolist() == [0, 1, 0, 1, 1]
        assert counts.documents[1].tolist() == [0] * 5
        assert by_radius(counts).recall.tolist() == [0, 0, 0, 0.25, 0.25]
        assert expected_average_precision(counts) == pytest.approx([1 / 2 / 2, 0])
        found, precision = found_by_id(worked, LABELS, counts, np.array([2, 4]))
        assert found.tolist() == [[1, 1], [0, 0]]
        assert precision == pytest.approx([1 / 2 / 2, 0])

    def test_queries_without_relevants_are_left_out(self, worked):
        both = count_distances(worked, LABELS)
        relevance = LabelRelevance(LABELS.documents, np.array([0, 7]))
        one = count_distances(worked, relevance)
        alone = replace(
            both,
            documents=both.documents[:1],
            relevant=both.relevant[:1],
            wanted=both.wanted[:1],
            returnable=both.returnable[:1],
        )
        for average in ("micro", "macro"):
            np.testing.assert_array_equal(
                columns(by_radius(one, average=average)), columns(by_radius(alone, average=average))
            )

    def test_nothing_is_defined_where_nothing_is_relevant(self, worked):
        counts = count_distances(worked, LabelRelevance(LABELS.documents, np.array([8, 9])))
        assert np.isnan(columns(by_radius(counts))).all()
        assert math.isnan(precision_within(counts, 2))
        assert np.isnan(expected_average_precision(counts)).all()


@pytest.mark.parametrize("bits", [7, 64, 65, 130])
def test_wide_codes_in_many_tiles(bits):
    """Against numpy, on more documents than one tile of the kernel holds."""
    random = np.random.default_rng(bits)
    documents = random.integers(0, 2, (9000, bits), np.uint8)
    queries = random.integers(0, 2, (70, bits), np.uint8)
    labels, asked = random.integers(0, 3, 9000), random.integers(0, 4, 70)
    coded = Coded.of(bits, pack(documents), pack(queries))
    counts = count_distances(coded, LabelRelevance(labels, asked))
    for q in range(70):
        distances = (documents != queries[q]).sum(axis=1)
        same = labels == asked[q]
        assert np.array_equal(counts.documents[q], np.bincount(distances, minlength=bits + 1))
        assert np.array_equal(counts.relevant[q], np.bincount(distances[same], minlength=bits + 1))


def test_shown_ranks_end_with_the_last():
    assert ranks_to_show(1).tolist() == [1]
    assert ranks_to_show(100).tolist() == list(range(1, 101))
    for documents in (101, 112, 1000, 1_000_000):
        ranks = ranks_to_show(documents)
        assert ranks[-1] == documents
        assert (np.diff(ranks) > 0).all()
