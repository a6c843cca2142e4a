"""Levenshtein similarity against the textbook's table, and the ways of spelling hashes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.errors import SettingError
from indexers.similarity import levenshtein
from indexers.types import Fingerprints, Ragged


def ragged(lists, dtype):
    indptr = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Ragged(indptr, np.array([value for one in lists for value in one], dtype))


def of_strings(*texts, status=None):
    n = len(texts)
    status = np.zeros(n, np.uint8) if status is None else np.array(status, np.uint8)
    strings = ragged([text.encode("ascii") for text in texts], np.uint8)
    empty = np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32)
    return Fingerprints(status, *empty, "bit", strings=strings)


def of_sequences(*lists):
    n = len(lists)
    empty = np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32)
    return Fingerprints(np.zeros(n, np.uint8), *empty, "bit", hashes=ragged(lists, np.uint64))


def distance(a, b):
    """The table of Wagner and Fischer, 1974, row by row."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def matrix(a, b, form):
    return levenshtein.SIMILARITY.matrix(a, b, form)


def test_worked_by_hand():
    found = matrix(of_strings("kitten", "a"), of_strings("sitting", "kitten", "", "b"), "string")
    assert found.tolist() == [[1 / 4, 1, 1 / 7, 1 / 8 + 1 / 56], [1 / 8, 1 / 7, 1 / 2, 1 / 2]]


def test_what_is_not_ok_has_none():
    found = matrix(of_strings("abc", "abc", status=[0, 2]), of_strings("abc", ""), "string")
    assert found[0].tolist() == [1, 1 / 4]
    assert np.isnan(found[1]).all()


def test_two_empty_ones_have_none():
    assert np.isnan(matrix(of_strings(""), of_strings(""), "string")).all()
    assert np.isnan(matrix(of_sequences([]), of_sequences([]), "sequence")).all()


@settings(max_examples=50, deadline=None)
@given(
    a=st.lists(st.text("abc:/", max_size=12), min_size=1, max_size=3),
    b=st.lists(st.text("abc:/", max_size=12), min_size=1, max_size=3),
)
def test_strings_agree_with_the_table(a, b):
    found = matrix(of_strings(*a), of_strings(*b), "string")
    for q, text in enumerate(a):
        for d, other in enumerate(b):
            if text or other:
                assert found[q, d] == 1 / (1 + distance(text, other))


HASHES = st.lists(st.sampled_from([0, 1, 2**63, 2**64 - 1, 0xD800, 7]), max_size=8)


@settings(max_examples=50, deadline=None)
@given(a=st.lists(HASHES, min_size=1, max_size=3), b=st.lists(HASHES, min_size=1, max_size=3))
def test_sequences_agree_with_the_table(a, b):
    found = matrix(of_sequences(*a), of_sequences(*b), "sequence")
    for q, mine in enumerate(a):
        for d, theirs in enumerate(b):
            if mine or theirs:
                assert found[q, d] == 1 / (1 + distance(mine, theirs))


def test_vocabularies_that_reach_the_surrogates_and_beyond():
    rng = np.random.default_rng(0)
    values = rng.permutation(70_000).astype(np.uint64) * np.uint64(977)
    other = values.copy()
    other[[5, 60_000, 69_999]] += np.uint64(1)  # no multiple of 977
    found = matrix(of_sequences(values), of_sequences(other, values[1:], values), "sequence")
    assert found.tolist() == [[1 / 4, 1 / 2, 1]]


def test_queries_are_parted_where_symbols_run_out(monkeypatch):
    lists = [[1, 2, 3], [4, 5, 6], [1, 9], []]
    whole = matrix(of_sequences(*lists), of_sequences(*lists), "sequence")
    monkeypatch.setattr(levenshtein, "SYMBOLS", 5)
    np.testing.assert_array_equal(
        matrix(of_sequences(*lists), of_sequences(*lists), "sequence"), whole
    )
    monkeypatch.setattr(levenshtein, "SYMBOLS", 4)
    with pytest.raises(SettingError, match="3 different hashes, at most 2 can be compared"):
        matrix(of_sequences(*lists), of_sequences(*lists), "sequence")
