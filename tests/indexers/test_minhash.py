from dataclasses import replace

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.families.minhash import FAMILY
from indexers.normaliser import normalise
from indexers.types import HashParams, Status, TableSize

TEXTS = ["Hello World", "a", "!!!", "é中文😀 Ünï", "ab" * 300, "Lorem ipsum dolor sit amet"]


def reference(text, seed, size=3):
    text = normalise(text)
    sketch = MinHash(num_perm=4096, seed=seed, scheme="affine32")
    sketch.update_batch([text[i : i + size].encode() for i in range(max(len(text) - size + 1, 1))])
    return sketch.hashvalues


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.text("abcé中😀 ", max_size=80).filter(normalise), min_size=1, max_size=3),
    st.sampled_from([0, 123, 2**32 - 1]),
    st.integers(1, 7),
)
def test_values_are_those_of_datasketch(texts, seed, shingle_size):
    hasher = FAMILY.hasher(
        TableSize(64, 5),
        HashParams(bits=192, seed=seed, shingle_size=shingle_size, signatures=True),
    )
    fp = hasher(texts)
    for i, text in enumerate(texts):
        rows = reference(text, seed, shingle_size)
        np.testing.assert_array_equal(fp.signatures[i], rows[:192])
        np.testing.assert_array_equal(fp.keys[:, :, i], rows.reshape(64, 64)[:, :5])
        mixed = [int(row) * 0x9E3779B1 % 2**32 >> 31 for row in rows[:192]]
        np.testing.assert_array_equal(fp.codes[i], np.packbits(mixed))


def test_the_whole_pool():
    fp = FAMILY.hasher(TableSize(64, 64), HashParams(bits=4096, seed=123, signatures=True))(TEXTS)
    for i, text in enumerate(TEXTS):
        rows = reference(text, 123)
        np.testing.assert_array_equal(fp.signatures[i], rows)
        np.testing.assert_array_equal(fp.keys[:, :, i].ravel(), rows)


@pytest.mark.parametrize(("tables", "length", "bits"), [(1, 1, 64), (5, 8, 128), (64, 3, 1024)])
def test_smaller_sizes_are_prefixes(tables, length, bits):
    largest = FAMILY.hasher(TableSize(64, 64), HashParams(bits=4096, seed=9))(TEXTS)
    fp = FAMILY.hasher(TableSize(tables, length), HashParams(bits=bits, seed=9))(TEXTS)
    np.testing.assert_array_equal(fp.keys, largest.keys[:tables, :length])
    np.testing.assert_array_equal(fp.codes, largest.codes[:, : bits // 8])
    assert fp.signatures is None


@pytest.mark.parametrize("shingles", [1, 2, 5, 20])
def test_codes_of_disjoint_sets_share_half_of_their_bits(shingles):
    letters = [chr(0x4E00 + i) for i in range(40 * shingles)]
    texts = ["".join(letters[i::40]) for i in range(40)]
    hasher = FAMILY.hasher(TableSize(1, 1), HashParams(bits=4096, seed=123, shingle_size=1))
    bits = np.unpackbits(hasher(texts).codes, axis=1)
    shared = [(a == b).mean() for i, a in enumerate(bits) for b in bits[:i]]
    assert abs(np.mean(shared) - 0.5) < 0.005
    assert max(abs(np.array(shared) - 0.5)) < 5 * (0.25 / 4096) ** 0.5


def test_agreement_estimates_jaccard():
    # shingles of size 1: {a, b, c, d, e, f} and {c, d, e, f, g, h}: 4 of 8 shared
    hasher = FAMILY.hasher(
        TableSize(1, 1), HashParams(bits=4096, seed=123, shingle_size=1, signatures=True)
    )
    a, b = hasher(["abcdef", "cdefgh"]).signatures
    assert abs((a == b).mean() - 0.5) < 4 * (0.25 / 4096) ** 0.5


def test_empty_texts_have_no_values():
    fp = FAMILY.hasher(TableSize(2, 2), HashParams(bits=64, seed=1, signatures=True))(
        ["", "abc", " "]
    )
    assert fp.status.tolist() == [Status.EMPTY, Status.OK, Status.EMPTY]
    assert not fp.signatures[[0, 2]].any()


def test_sets_of_words():
    params = HashParams(bits=64, seed=7, unit="word", shingle_size=2, signatures=True)
    fp = FAMILY.hasher(TableSize(2, 3), params)(["The cat, the cat sat", "!!"])
    sketch = MinHash(num_perm=4096, seed=7, scheme="affine32")
    sketch.update_batch([b"the cat", b"cat the", b"cat sat"])
    np.testing.assert_array_equal(fp.signatures[0], sketch.hashvalues[:64])
    assert fp.status.tolist() == [Status.OK, Status.TOO_SHORT]
    assert not fp.keys[:, :, 1].any()


def test_weighting_is_without_effect():
    params = HashParams(bits=64, seed=7)
    hasher = FAMILY.hasher(TableSize(2, 3), replace(params, weighting="idf"))
    hasher.learn(TEXTS)
    expected = FAMILY.hasher(TableSize(2, 3), params)(TEXTS)
    np.testing.assert_array_equal(hasher(TEXTS).keys, expected.keys)
