import hashlib
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.errors import SettingError
from indexers.families.flyhash import FAMILY
from indexers.finite import finite_keys
from indexers.normaliser import normalise
from indexers.types import HashParams, Status, TableSize
from indexers.weights import inverse_frequencies

MASK = 2**64 - 1
SIZE = TableSize(3, 64)


def mix(state):
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
    return state ^ state >> 31


def units(shingle, bits, seed):
    """The documented draws, in Python's integers."""
    digest = hashlib.blake2b(
        shingle.encode(), digest_size=16, key=seed.to_bytes(8, "little"), person=b"flyhash"
    ).digest()
    d0, d1 = int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")
    found, draw = [], 0
    while len(found) < 3:
        value = mix(mix((d0 + draw * 0x9E3779B97F4A7C15) & MASK) ^ d1) >> 32
        if (unit := value * bits >> 32) not in found:
            found.append(unit)
        draw += 1
    return found


def winners(weights, bits, seed):
    """Units that win, by sorting, for a dict of shingle -> weight."""
    sums = Counter()
    for shingle, weight in weights.items():
        for unit in units(shingle, bits, seed):
            sums[unit] += weight
    ranked = sorted(sums, key=lambda unit: (-sums[unit], unit))
    return sorted(ranked[: bits // 16])


def set_bits(code):
    return np.flatnonzero(np.unpackbits(code)).tolist()


@settings(max_examples=40, deadline=None)
@given(
    text=st.text("abcé中😀 .", max_size=300).filter(normalise),
    seed=st.sampled_from([0, 55, 2**32 - 1]),
    bits=st.sampled_from([64, 256, 1024]),
)
def test_codes_are_the_units_with_the_greatest_sums(text, seed, bits):
    fp = FAMILY.hasher(SIZE, HashParams(bits=bits, seed=seed))([text])
    text = normalise(text)
    counts = Counter(text[i : i + 3] for i in range(max(len(text) - 2, 1)))
    assert set_bits(fp.codes[0]) == winners(counts, bits, seed)


def test_weights_are_those_of_the_documents_learnt():
    documents = ["red fox jumps", "red dog", "red fox", "a red red cat sat on the red mat"]
    query = "red fox and cat"
    hasher = FAMILY.hasher(
        SIZE, HashParams(bits=64, seed=55, unit="word", shingle_size=1, weighting="idf")
    )
    hasher.learn(documents[:3])
    hasher.learn(documents[3:])
    df = Counter(word for text in documents for word in set(text.split()))
    for text, code in zip([*documents, query], hasher([*documents, query]).codes, strict=True):
        counts = Counter(re.findall(r"\w+", text))
        weights = {
            word: count * int(inverse_frequencies(np.array([df[word]]), 4)[0])
            for word, count in counts.items()
        }
        assert set_bits(code) == winners(weights, 64, 55)


def test_a_sixteenth_of_the_units_wins_and_units_without_excitation_never_do():
    source = np.random.default_rng(1)
    long = " ".join(map(str, source.integers(0, 10**6, 2000)))
    fp = FAMILY.hasher(SIZE, HashParams(bits=1024, seed=55))([long, "a", ""])
    assert [len(set_bits(code)) for code in fp.codes] == [64, 3, 0]
    assert fp.status.tolist() == [Status.OK, Status.OK, Status.EMPTY]


def test_keys_read_the_code():
    texts = ["some words to hash", "and a few more of them", ""]
    fp = FAMILY.hasher(SIZE, HashParams(bits=512, seed=7))(texts)
    np.testing.assert_array_equal(fp.keys[:, :, :2], finite_keys(fp.codes[:2], SIZE, 7))
    assert not fp.keys[:, :, 2].any()


def test_near_texts_share_winners():
    a = "the quick brown fox jumps over the lazy dog near the river bank"
    fp = FAMILY.hasher(SIZE, HashParams(bits=1024, seed=55))([a, a + "s", "entirely different"])
    first, near, far = (set(set_bits(code)) for code in fp.codes)
    assert len(first & near) > 0.8 * len(first)
    assert len(first & far) < 0.3 * len(first)


@pytest.mark.parametrize(
    ("size", "bits", "problem"),
    [(TableSize(65, 8), 64, "num_tables 65"), (TableSize(1, 65), 128, "hash_length 65")]
    + [(TableSize(1, 8), bits, f"bits {bits}") for bits in (0, 100, 8192)],
)
def test_sizes_out_of_range_are_refused(size, bits, problem):
    with pytest.raises(SettingError, match=problem):
        FAMILY.hasher(size, HashParams(bits=bits, seed=55))
