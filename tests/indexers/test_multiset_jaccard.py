"""Multiset Jaccard against counters, and the elements of lists."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.kernels.similarity_sets import elements
from indexers.similarity.jaccard import SIMILARITY as JACCARD
from indexers.similarity.multiset_jaccard import SIMILARITY as MULTISET
from indexers.types import Fingerprints, Ragged


def ragged(lists):
    indptr = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Ragged(indptr, np.array([value for one in lists for value in one], np.uint64))


def of(*lists):
    n = len(lists)
    return Fingerprints(
        np.zeros(n, np.uint8),
        np.zeros((n, 0), np.uint8),
        np.zeros((0, 0, n), np.uint32),
        "bit",
        hashes=ragged(lists),
    )


def shared(a, b):
    """Σ min / Σ max of the counts; NaN of two empty ones."""
    a, b = Counter(a), Counter(b)
    return float(Fraction((a & b).total(), (a | b).total())) if a or b else np.nan


def test_worked_by_hand():
    # counts 2 1 0 and 1 1 1: min 1 + 1, max 2 + 1 + 1
    a, b = of([5, 5, 6]), of([5, 6, 7], [5, 5, 6], [6, 5, 5, 5], [8], [])
    assert MULTISET.matrix(a, b, "sequence").tolist() == [[2 / 4, 1, 3 / 4, 0, 0]]
    assert JACCARD.matrix(a, b, "sequence").tolist() == [[2 / 3, 1, 1, 0, 0]]


def test_elements_number_the_copies():
    lists = ragged([[5, 5, 6, 5], [], [6, 2**64 - 1, 6]])
    offsets, values, numbers = elements(lists.indptr, lists.values, True)
    assert offsets.tolist() == [0, 4, 4, 7]
    assert values.tolist() == [5, 5, 6, 5, 6, 2**64 - 1, 6]
    assert numbers.tolist() == [0, 1, 0, 2, 0, 0, 1]
    offsets, values, numbers = elements(lists.indptr, lists.values, False)
    assert offsets.tolist() == [0, 2, 2, 4]
    assert values.tolist() == [5, 6, 6, 2**64 - 1]


HASHES = st.lists(st.one_of(st.integers(0, 4), st.integers(2**64 - 3, 2**64 - 1)), max_size=12)


@settings(max_examples=60, deadline=None)
@given(a=st.lists(HASHES, min_size=1, max_size=4), b=st.lists(HASHES, min_size=1, max_size=9))
def test_agrees_with_counters_and_sets(a, b):
    multiset = MULTISET.matrix(of(*a), of(*b), "sequence")
    plain = JACCARD.matrix(of(*a), of(*b), "sequence")
    for q, mine in enumerate(a):
        for d, theirs in enumerate(b):
            np.testing.assert_equal(multiset[q, d], shared(mine, theirs))
            np.testing.assert_equal(plain[q, d], shared(set(mine), set(theirs)))


def test_many_frequent_and_many_rare_hashes():
    rng = np.random.default_rng(0)
    lists = [rng.zipf(1.2, 300) % 5000 for _ in range(120)]
    found = MULTISET.matrix(of(*lists[:5]), of(*lists), "sequence")
    expected = [[shared(a, b) for b in lists] for a in lists[:5]]
    np.testing.assert_array_equal(found, expected)


def test_a_list_without_repeats_is_its_set():
    rng = np.random.default_rng(1)
    lists = [rng.permutation(100)[:20] for _ in range(30)]
    np.testing.assert_array_equal(
        MULTISET.matrix(of(*lists), of(*lists), "sequence"),
        JACCARD.matrix(of(*lists), of(*lists), "sequence"),
    )
