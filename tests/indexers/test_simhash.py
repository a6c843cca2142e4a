import hashlib
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simhash import Simhash

from indexers.errors import SettingError
from indexers.families.simhash import FAMILY
from indexers.normaliser import normalise
from indexers.types import HashParams, Status, TableSize
from indexers.weights import inverse_frequencies

MASK = 2**64 - 1
SIZE = TableSize(64, 32)
TEXTS = [
    "Hello World",
    "a",
    "!!!",
    "é中文😀 Ünï",
    "ab" * 300,
    "x" * 21,
    "Lorem ipsum dolor sit amet",
]


def counts(text, size=3):
    text = normalise(text)
    return Counter(text[i : i + size] for i in range(max(len(text) - size + 1, 1)))


def mix(state):
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
    return state ^ state >> 31


def stream(shingle, seed, words):
    """The documented stream as a string of 0 and 1, in Python's integers."""
    digest = hashlib.blake2b(
        shingle.encode(), digest_size=16, key=seed.to_bytes(8, "little"), person=b"simhash"
    ).digest()
    d0, d1 = int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")
    later = (mix(mix((d0 + w * 0x9E3779B97F4A7C15) & MASK) ^ d1) for w in range(2, words))
    return "".join(f"{word:064b}" for word in (d0, d1, *later))


def bits_by_summing(text, seed, words):
    sums = [0] * (64 * words)
    for shingle, weight in counts(text).items():
        for place, bit in enumerate(stream(shingle, seed, words)):
            sums[place] += weight if bit == "1" else -weight
    return "".join("1" if total > 0 else "0" for total in sums)


@pytest.mark.parametrize("bits", [64, 128])
@settings(max_examples=40, deadline=None)
@given(text=st.text("abcé中😀 ", max_size=120).filter(normalise))
def test_compatible_codes_are_those_of_the_simhash_package(bits, text):
    fp = FAMILY.hasher(TableSize(1, 8), HashParams(bits=bits, seed=0), compat=True)([text])
    assert int.from_bytes(fp.codes[0].tobytes(), "big") == Simhash(dict(counts(text)), f=bits).value


@pytest.mark.parametrize("seed", [0, 123, 2**32 - 1])
def test_codes_and_keys_are_sums_over_the_documented_stream(seed):
    fp = FAMILY.hasher(TableSize(64, 32), HashParams(bits=2048, seed=seed))(TEXTS)
    for i, text in enumerate(TEXTS):
        expected = bits_by_summing(text, seed, 32)
        assert "".join(f"{byte:08b}" for byte in fp.codes[i]) == expected
        assert "".join(f"{key:032b}" for key in fp.keys[:, 0, i]) == expected
        assert fp.status[i] == Status.OK


@pytest.mark.parametrize(
    ("tables", "length", "bits"), [(1, 1, 64), (5, 20, 128), (50, 7, 64), (64, 31, 4096)]
)
def test_smaller_sizes_are_prefixes(tables, length, bits):
    largest = FAMILY.hasher(SIZE, HashParams(bits=4096, seed=9))(TEXTS)
    fp = FAMILY.hasher(TableSize(tables, length), HashParams(bits=bits, seed=9))(TEXTS)
    cut = np.uint32(32 - length)
    np.testing.assert_array_equal(fp.keys, largest.keys[:tables] >> cut << cut)
    np.testing.assert_array_equal(fp.codes, largest.codes[:, : bits // 8])


def test_frequent_shingles_weigh_more():
    hasher = FAMILY.hasher(TableSize(1, 1), HashParams(bits=64, seed=1))
    alone, many = hasher(["xxx", "x" * 200 + "yz"]).codes
    np.testing.assert_array_equal(alone, many)


def test_near_texts_have_near_codes():
    a = "the quick brown fox jumps over the lazy dog near the river bank"
    fp = FAMILY.hasher(TableSize(1, 1), HashParams(bits=1024, seed=1))(
        [a, a + "s", "entirely different words"]
    )
    bits = np.unpackbits(fp.codes, axis=1)
    assert (bits[0] != bits[1]).mean() < 0.15
    assert 0.4 < (bits[0] != bits[2]).mean() < 0.6


@pytest.mark.parametrize("bits", [192, 4096])
def test_compatible_codes_end_at_128_bits(bits):
    with pytest.raises(SettingError, match=f"bits {bits}.*64 or 128"):
        FAMILY.hasher(TableSize(1, 1), HashParams(bits=bits, seed=0), compat=True)


def test_signatures_are_refused():
    with pytest.raises(SettingError, match="no signatures"):
        FAMILY.hasher(TableSize(1, 1), HashParams(bits=64, seed=0, signatures=True))


def weighted_bits(weights, seed, words):
    sums = [0] * (64 * words)
    for shingle, weight in weights.items():
        for place, bit in enumerate(stream(shingle, seed, words)):
            sums[place] += weight if bit == "1" else -weight
    return "".join("1" if total > 0 else "0" for total in sums)


@pytest.mark.parametrize(("tables", "bits"), [(1, 64), (3, 128), (20, 576)])
def test_weighted_sums_are_exact(tables, bits):
    documents = ["red fox jumps", "red dog", "red fox", "a red red cat sat on the red mat", "Red!"]
    texts = [*documents, "red fox and cat " * 40, "unseen words"]
    params = HashParams(bits=bits, seed=5, unit="word", shingle_size=1, weighting="idf")
    hasher = FAMILY.hasher(TableSize(tables, 32), params)
    hasher.learn(documents[:2])
    hasher.learn(documents[2:])
    df = Counter(w for text in documents for w in set(re.findall(r"\w+", text.lower())))
    fp = hasher(texts)
    for i, text in enumerate(texts):
        weights = {
            word: count * int(inverse_frequencies(np.array([df[word]]), 5)[0])
            for word, count in Counter(re.findall(r"\w+", text.lower())).items()
        }
        expected = weighted_bits(weights, 5, 12)
        assert "".join(f"{byte:08b}" for byte in fp.codes[i]) == expected[:bits]
        keys = "".join(f"{key:032b}" for key in fp.keys[:, 0, i])
        assert keys == expected[: 32 * tables]


def test_weights_without_documents_are_those_of_tf():
    params = HashParams(bits=128, seed=5)
    counted = FAMILY.hasher(SIZE, params)(TEXTS)
    weighted = FAMILY.hasher(SIZE, replace(params, weighting="idf"))(TEXTS)
    np.testing.assert_array_equal(counted.codes, weighted.codes)
    np.testing.assert_array_equal(counted.keys, weighted.keys)


@pytest.mark.parametrize("times", [*range(1, 18), 255, 256, 257, 4096])
def test_counters_of_any_length(times):
    # "ab" repeated: shingles aba and bab in turn, the first one oftener or as often
    fp = FAMILY.hasher(TableSize(1, 1), HashParams(bits=512, seed=3))(["ab" * times + "a"])
    expected = bits_by_summing("ab" * times + "a", 3, 8)
    assert "".join(f"{byte:08b}" for byte in fp.codes[0]) == expected


def test_a_text_without_words_is_too_short():
    fp = FAMILY.hasher(SIZE, HashParams(bits=64, seed=3, unit="word"))(["?!", "", "word"])
    assert fp.status.tolist() == [Status.TOO_SHORT, Status.EMPTY, Status.OK]
    assert not fp.codes[:2].any()
    assert not fp.keys[:, :, :2].any()
