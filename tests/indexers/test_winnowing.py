"""Winnowing: the paper's example, a plain oracle, and the law of shared runs."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers import registry, rolling
from indexers.errors import SettingError
from indexers.families.winnowing import FAMILY, select
from indexers.kernels import threads
from indexers.normaliser import normalise
from indexers.types import HashParams, Status, TableSize

PAPER = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98]
SIZE = TableSize(1, 1)


def oracle(hashes, window):
    """As the paper tells it: the rightmost minimum of every window, each position once."""
    window = min(window, len(hashes))
    kept = []
    for start in range(len(hashes) - window + 1 if window else 0):
        inside = range(start, start + window)
        least = min(hashes[i] for i in inside)
        position = max(i for i in inside if hashes[i] == least)
        if position not in kept:
            kept.append(position)
    return kept


def sequence(text, **values):
    hasher = FAMILY.hasher(SIZE, HashParams(**{"bits": 0, "seed": 123} | values))
    fp = hasher([text])
    return fp.hashes.values.tolist()


def test_the_example_of_the_paper():
    hashes = np.array(PAPER, np.uint64)
    positions = select(hashes, 4)
    assert list(zip(hashes[positions].tolist(), positions.tolist(), strict=True)) == [
        (17, 3),
        (17, 6),
        (8, 8),
        (39, 11),
        (17, 15),
    ]


@pytest.mark.parametrize(
    ("hashes", "window", "expected"),
    [
        ([], 4, []),
        ([9], 4, [0]),
        ([3, 1, 2], 4, [1]),  # fewer than the window: the minimum
        ([3, 1, 1], 4, [2]),  # the rightmost
        ([3, 1, 2], 1, [0, 1, 2]),
        ([7, 7, 7, 7], 2, [1, 2, 3]),
        ([1, 2, 3, 4], 2, [0, 1, 2]),
        ([4, 3, 2, 1], 2, [1, 2, 3]),
        ([2**64 - 1, 2**63, 2**63 - 1], 2, [1, 2]),  # unsigned
    ],
)
def test_selection_by_hand(hashes, window, expected):
    assert select(np.array(hashes, np.uint64), window).tolist() == expected


def test_a_window_of_nothing_is_refused():
    with pytest.raises(SettingError, match=r"window 0 .* at least 1"):
        select(np.array([1], np.uint64), 0)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 12))
def test_selection_equals_the_oracle(hashes, window):
    assert select(np.array(hashes, np.uint64), window).tolist() == oracle(hashes, window)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text("ab é中😀_.\x00", max_size=40), max_size=5),
    st.integers(1, 7),
    st.integers(1, 8),
    st.sampled_from(["char", "word"]),
)
def test_hashes_are_a_selection_of_all_rolling_hashes(texts, k, window, unit):
    params = HashParams(bits=0, seed=9, shingle_size=k, window=window, unit=unit)
    fp = FAMILY.hasher(SIZE, params)(texts)
    everything = registry.family("karp_rabin").hasher(SIZE, params)(texts).hashes
    for i in range(len(texts)):
        hashes = everything.take(np.array([i])).values.tolist()
        expected = [hashes[j] for j in oracle(hashes, window)]
        assert fp.hashes.take(np.array([i])).values.tolist() == expected


@settings(max_examples=100, deadline=None)
@given(
    st.data(),
    st.integers(1, 5),
    st.integers(1, 6),
    st.sampled_from(["char", "word"]),
)
def test_a_shared_run_gives_a_shared_hash(data, k, window, unit):
    units = st.sampled_from("abcdé中" if unit == "char" else ["a", "bc", "dé", "中文", "e_1"])
    least = window + k - 1
    run, *around = (
        data.draw(st.lists(units, min_size=low, max_size=low + 8)) for low in (least, 0, 0, 0, 0)
    )
    glue = "" if unit == "char" else " "
    first, second = (glue.join(around[i] + run + around[i + 1]) for i in (0, 2))
    # the letters that NFC could join are not among the units
    assert normalise(first) == first
    values = {"shingle_size": k, "window": window, "unit": unit}
    assert set(sequence(first, **values)) & set(sequence(second, **values))


def test_a_text_shorter_than_a_shingle_is_one():
    assert len(sequence("ab", shingle_size=5)) == 1
    assert sequence("ab", shingle_size=5) != sequence("ab ", unit="word", shingle_size=5)
    assert sequence("ab", shingle_size=5) != sequence("ba", shingle_size=5)
    assert len(sequence("two words", unit="word")) == 1


def test_statuses():
    hasher = FAMILY.hasher(SIZE, HashParams(bits=0, seed=1))
    assert hasher(["", " \n", "a", "!!!"]).status.tolist() == [
        Status.EMPTY,
        Status.EMPTY,
        Status.OK,
        Status.OK,
    ]
    hasher = FAMILY.hasher(SIZE, HashParams(bits=0, seed=1, unit="word"))
    fp = hasher(["!!! ...", "a"])
    assert fp.status.tolist() == [Status.TOO_SHORT, Status.OK]
    assert fp.hashes.indptr.tolist() == [0, 0, 1]


def test_words_are_runs_of_word_characters():
    text = "Well-known, _under_score; 中文 ÉTÉ 3.14"
    words = re.findall(r"\w+", normalise(text))
    assert sequence(text, unit="word", shingle_size=1, window=1) == sequence(
        " ".join(words), unit="word", shingle_size=1, window=1
    )
    assert len(words) == len(sequence(text, unit="word", shingle_size=1, window=1))


def test_density_is_that_of_the_paper():
    # 2 / (window + 1) of the hashes of a text without repeats
    letters = np.random.default_rng(5).integers(0x4E00, 0x9FA5, 20_000)
    text = "".join(map(chr, letters))
    for window in (4, 9):
        share = len(sequence(text, window=window)) / (len(text) - 2)
        assert abs(share - 2 / (window + 1)) < 0.01


def test_chunks_and_threads_do_not_matter(monkeypatch):
    texts = [f"text {i} of {i * i % 17} {'x' * (i % 5)}" for i in range(200)] + ["", "y" * 5000]
    hasher = FAMILY.hasher(SIZE, HashParams(bits=0, seed=1))
    whole = hasher(texts).hashes
    monkeypatch.setattr(rolling, "CHUNK", 100)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(3)))
    monkeypatch.setattr(threads, "SMALLEST", 1)
    again = hasher(texts).hashes
    np.testing.assert_array_equal(again.indptr, whole.indptr)
    np.testing.assert_array_equal(again.values, whole.values)


def test_a_window_too_wide_is_refused():
    with pytest.raises(SettingError, match="winnowing: window 1001"):
        FAMILY.hasher(SIZE, HashParams(bits=0, seed=1, window=1001))
