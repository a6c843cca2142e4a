"""Rolling hashes against the formula in plain integers."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.families.karp_rabin import FAMILY
from indexers.normaliser import normalise
from indexers.types import HashParams, Status, TableSize

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15
SIZE = TableSize(1, 1)


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def values_of(text, seed, unit):
    start = mix(seed + 2 * GAMMA & MASK)
    if unit == "char":
        return [mix(start + GAMMA * ord(c) & MASK) for c in normalise(text)]
    values = []
    for word in re.findall(r"\w+", normalise(text)):
        value = start
        for c in word:
            value = mix(value + GAMMA * (ord(c) + 1) & MASK)
        values.append(value)
    return values


def oracle(text, *, seed, k, unit):
    base = mix(seed + GAMMA & MASK) & ~7 | 5
    values = values_of(text, seed, unit)
    grams = [values[i : i + k] for i in range(max(len(values) - k + 1, 1))] if values else []
    return [
        mix(sum(v * base ** (len(gram) - 1 - i) for i, v in enumerate(gram)) & MASK)
        for gram in grams
    ]


def hashed(texts, *, seed=123, k=3, unit="char"):
    params = HashParams(bits=0, seed=seed, shingle_size=k, unit=unit)
    return FAMILY.hasher(SIZE, params)(texts)


def test_the_finalizer_is_that_of_splitmix64():
    # the first output of the published generator from state 0
    assert mix(GAMMA) == 0xE220A8397B1DCDAF


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text("abXé中😀 \x00._\ud800", max_size=30), max_size=4),
    st.sampled_from([0, 123, 2**32 - 1]),
    st.integers(1, 7),
    st.sampled_from(["char", "word"]),
)
def test_hashes_follow_the_formula(texts, seed, k, unit):
    fp = hashed(texts, seed=seed, k=k, unit=unit)
    for i, text in enumerate(texts):
        expected = oracle(text, seed=seed, k=k, unit=unit)
        assert fp.hashes.take(np.array([i])).values.tolist() == expected
        without = Status.TOO_SHORT if normalise(text) else Status.EMPTY
        assert fp.status[i] == (Status.OK if expected else without)


def test_equal_grams_hash_alike_wherever_they_stand():
    hashes = hashed(["abcxabc"]).hashes.values
    assert hashes[0] == hashes[4]
    assert len(set(hashes.tolist())) == 4


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_different_grams_do_not_meet(k):
    rng = np.random.default_rng(3)
    text = "".join(rng.choice(list("abcdefgh"), 50_000))
    hashes = hashed([text], k=k).hashes.values
    grams = {text[i : i + k] for i in range(len(text) - k + 1)}
    assert len(np.unique(hashes)) == len(grams)


def test_hard_texts():
    texts = ["\ud800 lone", "nul\x00byte", "😀" * 50, "!!!", "a", "", "\x00" * 1_000_000]
    fp = hashed(texts)
    assert fp.status.tolist() == [0, 0, 0, 0, 0, Status.EMPTY, 0]
    assert np.diff(fp.hashes.indptr).tolist() == [4, 6, 48, 1, 1, 0, 999_998]
    assert len(np.unique(fp.hashes.values[-999_998:])) == 1
