import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.text import Shingler
from indexers.weights import SCALE, DocumentFrequencies, inverse_frequencies


def learnt(blocks, size=1, unit="word"):
    shingler, frequencies = Shingler(size, unit), DocumentFrequencies()
    for block in blocks:
        frequencies.learn(shingler.block(block), shingler.size)
    return shingler, frequencies


def test_weights_by_hand():
    # ln(8 / 7) = 0.13 -> 1 of 8; ln(8 / 3) = 0.98 -> 8; ln(8 / 1) = 2.08 -> 17
    assert inverse_frequencies(np.array([3, 1, 0]), 3).tolist() == [1, 8, 17]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9), st.floats(0, 1))
def test_weights_are_the_rounded_formula(documents, share):
    count = round(share * documents)
    exact = SCALE * math.log(1 + (documents - count + 0.5) / (count + 0.5))
    (weight,) = inverse_frequencies(np.array([count]), documents).tolist()
    assert abs(weight - max(exact, 1)) < 0.51  # half a step, and what the fixed point loses


def test_every_document_counts_a_shingle_once():
    shingler, frequencies = learnt([["a b a a", "b", "", "!?"], ["b c"]])
    assert shingler.shingles(0, 3) == [b"a", b"b", b"c"]
    assert frequencies.documents == 3
    expected = inverse_frequencies(np.array([1, 3, 1, 0, 0]), 3)
    np.testing.assert_array_equal(frequencies.weights(5)[:5], expected)


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_blocks_do_not_matter(cut):
    texts = ["one two", "two three", "three three one"]
    whole, parts = learnt([texts])[1], learnt([texts[:cut], texts[cut:]])[1]
    np.testing.assert_array_equal(whole.weights(3)[:3], parts.weights(3)[:3])


def test_learning_more_changes_weights():
    shingler, frequencies = learnt([["a", "b"]])
    before = frequencies.weights(2)[:2].tolist()
    frequencies.learn(shingler.block(["a", "a"]), shingler.size)
    assert frequencies.weights(2)[:2].tolist() == inverse_frequencies(np.array([3, 1]), 4).tolist()
    assert frequencies.weights(2)[0] < before[0]


def test_nothing_learnt_weighs_all_alike():
    assert len(set(DocumentFrequencies().weights(7)[:7].tolist())) == 1
