import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.errors import SettingError
from indexers.kernels import threads
from indexers.normaliser import normalise
from indexers.text import Shingler
from indexers.types import Status

ANY_TEXT = st.text(st.characters(), max_size=40)  # lone surrogates included
MIXED = st.text("aAbB éÉß中😀\t\n\x00\x1c\u2003İΣ\u030c\ud800", max_size=30)


def shingles_by_slicing(text, size):
    text = normalise(text)
    return [text[i : i + size] for i in range(max(len(text) - size + 1, 1))] if text else []


def decoded(shingler, block):
    words = [s.decode("utf-8", "surrogatepass") for s in shingler.shingles(0, shingler.size)]
    return [
        [words[token] for token in block.tokens[block.offsets[i] : block.offsets[i + 1]]]
        for i in range(len(block.offsets) - 1)
    ]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", ""),
        (" \t\n", ""),
        ("  Hello\t\nWorld ", "hello world"),
        ("Cafe\u0301", "caf\u00e9"),
        ("J\u030c", "\u01f0"),  # only the lower case letter has a composed form
        ("a\u00a0\u2003b", "a b"),
        ("A-1, (B)!", "a-1, (b)!"),
        ("\u4e2d\u6587 \u0627\u0644", "\u4e2d\u6587 \u0627\u0644"),
        ("A\x00B", "a\x00b"),
        ("\ud800X", "\ud800x"),
    ],
)
def test_normalise(raw, expected):
    assert normalise(raw) == expected


@given(MIXED | ANY_TEXT)
def test_normalise_is_idempotent_composed_and_trimmed(text):
    once = normalise(text)
    assert normalise(once) == once
    assert once == unicodedata.normalize("NFC", once)
    assert once.split() == ([] if not once else once.split(" "))


def test_ids_by_first_appearance():
    shingler = Shingler(3)
    block = shingler.block(["Banana", "", "ab", "nab"])
    assert shingler.shingles(0, shingler.size) == [b"ban", b"ana", b"nan", b"ab", b"nab"]
    assert block.tokens.tolist() == [0, 1, 2, 1, 3, 4]
    assert block.offsets.tolist() == [0, 4, 4, 5, 6]
    assert block.tokens.dtype == np.int32
    assert block.offsets.dtype == np.int64


@settings(max_examples=60, deadline=None)
@given(st.lists(MIXED | ANY_TEXT, max_size=6), st.integers(1, 7))
def test_shingles_are_slices_of_the_normalised_text(texts, size):
    shingler = Shingler(size)
    found = decoded(shingler, shingler.block(texts))
    assert found == [shingles_by_slicing(text, size) for text in texts]


@settings(max_examples=30, deadline=None)
@given(st.lists(MIXED, max_size=8), st.integers(0, 8), st.integers(1, 7))
def test_block_boundaries_do_not_matter(texts, cut, size):
    whole, parts = Shingler(size), Shingler(size)
    expected = whole.block(texts).tokens.tolist()
    found = parts.block(texts[:cut]).tokens.tolist() + parts.block(texts[cut:]).tokens.tolist()
    assert found == expected
    assert whole.shingles(0, whole.size) == parts.shingles(0, parts.size)


def test_short_texts_and_nul_are_told_apart():
    shingler = Shingler(3)
    assert shingler.block(
        ["\x00", "\x00\x00", "\x00\x00\x00", "a", "\x00a", "\x00\x00a"]
    ).tokens.tolist() == list(range(6))


@pytest.mark.parametrize("size", [3, 5])
def test_vocabulary_grows_past_its_first_table(size):
    texts = [chr(0x4E00 + i % 20000) + chr(0x3400 + i % 6000) + "xyz" for i in range(40000)]
    shingler = Shingler(size)
    found = decoded(shingler, shingler.block(texts))
    assert found == [shingles_by_slicing(text, size) for text in texts]
    known = shingler.size
    again = shingler.block(texts)
    assert shingler.size == known
    assert decoded(shingler, again) == found


def test_threads_do_not_change_ids(monkeypatch):
    texts = [f"text number {i} of {i % 7}" for i in range(1000)]
    one = Shingler(3).block(texts).tokens
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(5)))
    monkeypatch.setattr(threads, "SMALLEST", 1)
    np.testing.assert_array_equal(Shingler(3).block(texts).tokens, one)


def test_a_megabyte_of_text():
    text = "All work and no play makes Jack a dull boy. " * 24_000
    block = Shingler(3).block([text])
    assert len(block.tokens) == len(text) - 1 - 2


@pytest.mark.parametrize("size", [0, 8, -1])
def test_sizes_out_of_range_are_refused(size):
    with pytest.raises(SettingError, match=f"shingle size {size}.*1 to 7"):
        Shingler(size)


def words_by_regex(text, size):
    words = re.findall(r"\w+", normalise(text))
    return [
        " ".join(words[i : i + size]) for i in range(max(len(words) - size + 1, len(words) > 0))
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text("abé中_9 .,!\u0301\u0ca0", max_size=60) | MIXED | ANY_TEXT, max_size=6),
    st.integers(1, 7),
)
def test_word_shingles_are_runs_of_word_characters(texts, size):
    shingler = Shingler(size, "word")
    block = shingler.block(texts)
    assert decoded(shingler, block) == [words_by_regex(text, size) for text in texts]
    assert shingler.block(texts).tokens.tolist() == block.tokens.tolist()


def test_words_by_hand():
    shingler = Shingler(2, "word")
    block = shingler.block(["The cat -- the CAT's hat_1", "cat", "the,cat"])
    assert decoded(shingler, block) == [
        ["the cat", "cat the", "the cat", "cat s", "s hat_1"],
        ["cat"],
        ["the cat"],
    ]


def test_a_text_without_words_is_too_short():
    texts = ["!?", "", " \t", "a", "—"]
    expected = [Status.TOO_SHORT, Status.EMPTY, Status.EMPTY, Status.OK, Status.TOO_SHORT]
    assert Shingler(1, "word").block(texts).status.tolist() == expected
    assert Shingler(1).block(texts).status.tolist() == [0, 1, 1, 0, 0]


def test_word_vocabulary_and_its_letters_grow():
    texts = [f"{'long' * (i % 50)}word{i} and {i * 7919}" for i in range(30_000)]
    shingler = Shingler(2, "word")
    found = decoded(shingler, shingler.block(texts))
    assert found == [words_by_regex(text, 2) for text in texts]


def test_a_megabyte_of_one_word():
    shingler = Shingler(1, "word")
    shingler.block(["w" * 1_000_000, "v " * 500_000])
    assert shingler.shingles(0, 2) == [b"w" * 1_000_000, b"v"]


def test_an_unknown_unit_is_refused():
    with pytest.raises(SettingError, match="unit 'line': choose from char, word"):
        Shingler(3, "line")
