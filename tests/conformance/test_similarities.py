"""Laws that every similarity obeys, run on all that the registry finds, in every form."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers import nearest, registry
from indexers.errors import SettingError
from indexers.fits import fits
from indexers.kernels import threads
from indexers.protocols import Similarity
from indexers.similarity import _sets, cosine, levenshtein, mahalanobis
from indexers.types import Fingerprints, Ragged, Status

CASES = [
    (name, form) for name in registry.similarity_names() for form in registry.similarity(name).forms
]
BITS = 72
GREATEST = {"mahalanobis": 0.0}
LEAST = {"mahalanobis": -np.inf, "cosine": -1.0}


def ragged(rng, n, values, lengths, dtype):
    lengths = rng.integers(*lengths, n)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Ragged(indptr, rng.integers(0, values, indptr[-1]).astype(dtype))


def fingerprints(seed, n, *, bad=True):
    """Fingerprints with every form at once, a few of them not OK."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, 24))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Fingerprints(
        rng.choice([0, 0, 0, 1, 2, 3], n).astype(np.uint8) if bad else np.zeros(n, np.uint8),
        rng.integers(0, 256, (n, BITS // 8)).astype(np.uint8),
        np.zeros((0, 0, n), np.uint32),
        "bit",
        rng.integers(0, 4, (n, 20)).astype(np.uint32),
        ragged(rng, n, 30, (1, 25), np.uint64),
        ragged(rng, n, 5, (7, 15), np.uint8),
        vectors.astype(np.float32),
    )


@pytest.fixture(params=CASES, ids="-".join, scope="module")
def case(request):
    return registry.similarity(request.param[0]), request.param[1]


def test_names_and_forms():
    names = "agreement cosine hamming jaccard levenshtein mahalanobis manhattan multiset_jaccard"
    assert set(names.split()) <= set(registry.similarity_names())
    for name in registry.similarity_names():
        similarity: Similarity = registry.similarity(name)
        assert similarity.name == name
        assert len(set(similarity.forms)) == len(similarity.forms) > 0


def test_shape_type_range_and_status(case):
    similarity, form = case
    queries, documents = fingerprints(1, 12), fingerprints(2, 40)
    matrix = similarity.matrix(queries, documents, form)
    assert (matrix.shape, matrix.dtype) == ((12, 40), np.float64)
    usable = (queries.status == 0)[:, None] & (documents.status == 0)
    assert np.array_equal(np.isnan(matrix), ~usable)
    least, greatest = LEAST.get(similarity.name, 0.0), GREATEST.get(similarity.name, 1.0)
    assert np.all((matrix[usable] >= least) & (matrix[usable] <= greatest))
    assert len(np.unique(matrix[usable])) > 5  # no constant scorer


def test_no_similarity_is_the_greatest_but_to_itself(case):
    similarity, form = case
    fp = fingerprints(3, 30, bad=False)
    matrix = similarity.matrix(fp, fp, form)
    greatest = GREATEST.get(similarity.name, 1.0)
    assert np.all(np.diagonal(matrix) == greatest)
    assert np.all(matrix[~np.eye(30, dtype=bool)] < greatest)


def test_symmetry(case):
    similarity, form = case
    a, b = fingerprints(4, 20), fingerprints(5, 30)
    np.testing.assert_array_equal(
        similarity.matrix(a, b, form), similarity.matrix(b, a, form).T, strict=True
    )


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), data=st.data())
def test_blocks_and_order_do_not_matter(case, seed, data):
    similarity, form = case
    queries, documents = fingerprints(seed, 9), fingerprints(seed + 1, 23)
    whole = similarity.matrix(queries, documents, form)
    rows = np.array(data.draw(st.lists(st.integers(0, 8), max_size=9)), np.int64)
    columns = np.array(data.draw(st.lists(st.integers(0, 22), max_size=30)), np.int64)
    np.testing.assert_array_equal(
        similarity.matrix(queries.take(rows), documents.take(columns), form),
        whole[np.ix_(rows, columns)],
    )


def test_threads_and_inner_blocks_do_not_matter(case, monkeypatch):
    similarity, form = case
    queries, documents = fingerprints(6, 50), fingerprints(7, 90)
    whole = similarity.matrix(queries, documents, form)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(3)))
    for module, name, value in (
        (threads, "SMALLEST_PAIRS", 1),
        (threads, "CHUNK", 7),
        (_sets, "BLOCK", 11),
        (_sets, "FREQUENT", 0.5),
        (cosine, "BLOCK", 13),
        (mahalanobis, "BLOCK", 13),
        (levenshtein, "CHUNK", 8),
        (levenshtein, "SMALLEST", 1),
    ):
        monkeypatch.setattr(module, name, value)
    np.testing.assert_array_equal(similarity.matrix(queries, documents, form), whole)


@pytest.mark.parametrize(("m", "n"), [(0, 3), (3, 0), (0, 0)])
def test_nothing_to_compare(case, m, n):
    similarity, form = case
    matrix = similarity.matrix(fingerprints(1, m), fingerprints(2, n), form)
    assert (matrix.shape, matrix.dtype) == ((m, n), np.float64)


def test_input_is_left_as_it_was(case):
    similarity, form = case
    fp, copy = fingerprints(8, 10), fingerprints(8, 10)
    similarity.matrix(fp, fp, form)
    for field in ("codes", "signatures", "vectors", "status"):
        np.testing.assert_array_equal(getattr(fp, field), getattr(copy, field))
    np.testing.assert_array_equal(fp.hashes.values, copy.hashes.values)
    np.testing.assert_array_equal(fp.strings.values, copy.strings.values)


def test_an_unknown_form_is_refused(case):
    similarity, _ = case
    fp = fingerprints(1, 2)
    with pytest.raises(SettingError, match=rf"^{similarity.name} does not compare .*choose from"):
        similarity.matrix(fp, fp, "sound")


def test_a_form_that_is_not_there_is_refused(case):
    similarity, form = case
    fp = fingerprints(1, 2)
    bare = dataclasses.replace(
        fp, codes=fp.codes[:, :0], signatures=None, hashes=None, strings=None, vectors=None
    )
    with pytest.raises(SettingError, match=rf"{similarity.name}: the documents have no {form}"):
        similarity.matrix(fp, bare, form)


def test_other_widths_are_refused(case):
    similarity, form = case
    fp = fingerprints(1, 2)
    other = dataclasses.replace(
        fp, codes=fp.codes[:, :8], signatures=fp.signatures[:, :8], vectors=fp.vectors[:, :8]
    )
    if form in ("sequence", "string"):
        similarity.matrix(fp, other, form)
        return
    with pytest.raises(SettingError, match=r"of width .* in the queries, .*same parameters"):
        similarity.matrix(fp, other, form)


@pytest.mark.parametrize(
    ("name", "form"), [case for case in CASES if case[1] in ("sequence", "string")]
)
def test_empty_lists_are_not_alike(name, form):
    similarity = registry.similarity(name)
    fp = fingerprints(1, 1, bad=False)
    nothing = Ragged(np.zeros(2, np.int64), np.empty(0, np.uint64))
    empty = dataclasses.replace(
        fp, hashes=nothing, strings=Ragged(nothing.indptr, fp.strings.values[:0])
    )
    assert np.isnan(similarity.matrix(empty, empty, form)).all()
    assert similarity.matrix(fp, empty, form)[0, 0] < 0.5


def expected_nearest(matrix, k, exclude, floor):
    """The definition, query by query."""
    for q, row in enumerate(matrix):
        scored = sorted(
            (-value, d) for d, value in enumerate(row) if d != exclude[q] and not np.isnan(value)
        )
        kth = -scored[:k][-1][0] if scored else max(floor, 0.0)
        yield [(d, -s) for s, d in scored if -s >= kth and -s > floor], kth


@pytest.mark.parametrize("k", [1, 4, 100])
@pytest.mark.parametrize("held", [1, 100, 100_000])
def test_nearest_by_matrix(case, k, held, monkeypatch):
    similarity, form = case
    queries, documents = fingerprints(9, 8), fingerprints(10, 60)
    exclude = np.array([-1, 3, 59, 0, -1, -1, 7, 8], np.int32)
    monkeypatch.setattr(nearest, "HELD", held)
    told = []
    found = nearest.nearest_by_matrix(
        similarity, form, queries, documents, k=k, exclude=exclude, progress=told.append
    )
    assert sum(told) == 60
    assert found.valid.tolist() == (queries.status == Status.OK).tolist()
    matrix = similarity.matrix(queries, documents, form)
    floor = nearest.least(similarity, form)
    for q, (listed, kth) in enumerate(expected_nearest(matrix, k, exclude, floor)):
        part = slice(found.indptr[q], found.indptr[q + 1])
        got = zip(found.documents[part].tolist(), found.similarity[part].tolist(), strict=True)
        assert list(got) == listed
        assert found.kth[q] == kth


def test_scores_by_matrix(case):
    similarity, form = case
    queries, documents = fingerprints(11, 6), fingerprints(12, 30)
    rng = np.random.default_rng(0)
    answers = rng.integers(-1, 30, (6, 9)).astype(np.int32)
    answers[2] = -1
    scores = nearest.scores_by_matrix(similarity, form, queries, documents, answers)
    matrix = similarity.matrix(queries, documents, form)
    expected = np.where(answers >= 0, np.take_along_axis(matrix, np.maximum(answers, 0), 1), np.nan)
    np.testing.assert_array_equal(scores, expected)


def test_nobody_to_find(case):
    similarity, form = case
    queries = fingerprints(1, 2, bad=False)
    found = nearest.nearest_by_matrix(
        similarity, form, queries, fingerprints(2, 0), k=3, exclude=np.full(2, -1, np.int32)
    )
    assert (found.indptr.tolist(), found.kth.tolist()) == ([0, 0, 0], [0, 0])


def test_what_fits_follows_from_the_forms():
    found = {(fit.family, fit.similarity): fit.form for fit in fits()}
    assert found["simhash", "hamming"] == "bits"
    assert found["minhash", "agreement"] == "signature"
    assert found["minhash", "jaccard"] == "signature"
    assert ("simhash", "levenshtein") not in found
    for (family, similarity), form in found.items():
        assert form in registry.family(family).forms
        assert form in registry.similarity(similarity).forms


def test_its_least_is_that_of_nothing_in_common(case):
    similarity, form = case
    assert set(similarity.least) <= set(similarity.forms)
    queries, documents = fingerprints(3, 8), fingerprints(4, 20)
    values = similarity.matrix(queries, documents, form)
    assert (values[~np.isnan(values)] >= similarity.least.get(form, -np.inf)).all()


def test_fitted_is_a_similarity_of_the_same_name(case):
    similarity, form = case
    queries, documents = fingerprints(3, 8), fingerprints(4, 20)
    fitted = similarity.fitted(documents)
    assert (fitted.name, fitted.forms) == (similarity.name, similarity.forms)
    assert fitted.matrix(queries, documents, form).shape == (8, 20)
