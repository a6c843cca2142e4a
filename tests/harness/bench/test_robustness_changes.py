"""What is done to texts: hand-worked changes, laws, and LexRank against a dense solution."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from harness.bench.robustness import perturbations as changes
from harness.bench.robustness.perturbations import PERTURBATIONS, Draws
from harness.bench.robustness.summarise import by_centrality, centrality, sentences

SEED = Draws(123, "test", "d1")
SHARES = st.sampled_from([0.2, 0.4, 0.6, 0.8, 1.0])
TEXTS = st.text(st.sampled_from("aAéß. ,!?字。\n"), max_size=60)
WORDS = st.lists(st.sampled_from(["red", "Blue,", "e.g.", "字", "x"]), min_size=1, max_size=30)


# ---- draws


def splitmix64(state):
    """Outputs of splitmix64 by its reference code."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        yield z ^ z >> 31


def test_draws_are_splitmix64_of_seed_and_names():
    import hashlib

    start = hashlib.blake2b(b"7\0typos\0d\xc3\xa4", digest_size=8).digest()
    wanted = splitmix64(int.from_bytes(start, "little"))
    assert Draws(7, "typos", "dä").numbers(4).tolist() == [next(wanted) for _ in range(4)]
    assert sorted(Draws(7).order(50)) == list(range(50))
    assert Draws(7, "a").order(50) != Draws(7, "b").order(50)
    assert Draws(7, "\ud800").order(3)  # an id may be no valid Unicode


# ---- sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two!  Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "go." Then (he left.) 3 days.', ['He said "go."', "Then (he left.)", "3 days."]),
        ("As Ng et al. said, e.g. here. So", ["As Ng et al. said, e.g. here.", "So"]),
        ("一句。二句！三", ["一句。", "二句！", "三"]),
        ("title\n\n body 2.5 cm \n", ["title", "body 2.5 cm"]),
        (" \n ", []),
        ("See e.g.   here. \t Then", ["See e.g.   here.", "Then"]),
        ("a. \r\n\r\n b", ["a.", "b"]),
    ],
)
def test_sentences(text, parts):
    assert sentences(text) == parts


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (" " * 1_000_000, 0),
        ("a." + " " * 1_000_000 + "b", 1),
        ("\n" * 1_000_000, 0),
        (" . \t" * 250_000, 250_000),
        ("The cat sat on the mat. " * 40_000, 40_000),
    ],
)
def test_a_megabyte_ends(text, count):
    """Looking at each space once: a second look at each from each would take hours."""
    assert len(sentences(text)) == count


def dense_centrality(parts):
    """By the definition: the stationary distribution of the dense matrix, solved."""
    counts = [Counter(part.lower().split()) for part in parts]
    words = sorted(set().union(*counts))
    n = len(parts)
    idf = {w: 1 + math.log((1 + n) / (1 + sum(w in c for c in counts))) for w in words}
    vectors = np.array([[c[w] * idf[w] for w in words] for c in counts])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, 0)
    cosines[cosines.sum(axis=1) == 0] = 1  # shares no word: from there to any
    walk = cosines / cosines.sum(axis=1, keepdims=True)
    return np.linalg.solve(np.eye(n) - 0.85 * walk.T, np.full(n, 0.15 / n))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=6), min_size=1, max_size=8)
)
def test_centrality_is_that_of_the_dense_matrix(parts):
    parts = [" ".join(part) for part in parts]
    np.testing.assert_allclose(centrality(parts), dense_centrality(parts), atol=2e-9)


def test_central_sentences():
    # the first shares words with both others, which share none with each other
    parts = ["red shoes and blue hats", "red shoes", "blue hats", "!!!"]
    assert by_centrality(parts)[0] == 0
    assert by_centrality(parts)[-1] == 3  # no words: nothing leads there
    assert centrality(parts).sum() == pytest.approx(1)
    assert by_centrality(["same here", "same here", "same here"]) == [0, 1, 2]


# ---- shortening


def test_extract_keeps_the_most_central_in_their_order():
    text = "Blue hats. Red shoes and blue hats. Red shoes. Nothing else matters here today."
    # words: 2, 5, 2, 5 of 14; the most central is the second, then the first and third, which
    # tie by symmetry; 40 % of 14 words are 5.6, 60 % are 8.4, 80 % are 11.2
    assert changes.extract(text, 0.6, SEED) == "Red shoes and blue hats."
    assert changes.extract(text, 0.4, SEED) == "Blue hats. Red shoes and blue hats. Red shoes."
    assert changes.extract("one sentence alone", 0.8, SEED) == "one sentence alone"


@pytest.mark.parametrize("name", ["extract", "drop-sentences"])
@settings(max_examples=25, deadline=None)
@given(text=TEXTS, share=SHARES)
def test_whole_sentences_stay_in_order(name, text, share):
    parts, left = sentences(text), PERTURBATIONS[name](text, share, SEED)
    if not parts:
        assert left == text
        return
    rest = iter(parts)
    kept = [part for part in sentences_of(left, parts) if part in rest]
    assert " ".join(kept) == left
    assert kept


def sentences_of(left, parts):
    """The parts of which a shortened text was joined, greedily."""
    found = []
    for part in parts:
        if left == part or left.startswith(part + " "):
            found.append(part)
            left = left[len(part) + 1 :]
    return found


@settings(max_examples=25, deadline=None)
@given(words=WORDS)
def test_dropped_words_are_nested_and_as_many_as_asked(words):
    marked = [f"{word}{place}" for place, word in enumerate(words)]
    text, before = " ".join(marked), set(marked)
    for share in (0.2, 0.4, 0.6, 0.8):
        left = changes.drop_words(text, share, SEED).split()
        gone = min(math.floor(share * len(words) + 0.5), len(words) - 1)
        assert len(left) == len(words) - gone
        assert left == [word for word in marked if word in set(left)]
        assert set(left) <= before
        before = set(left)


# ---- other changes


@pytest.mark.parametrize("name", PERTURBATIONS)
@settings(max_examples=15, deadline=None)
@given(text=TEXTS, share=SHARES)
def test_strength_0_changes_nothing_and_every_text_is_taken(name, text, share):
    perturbation = PERTURBATIONS[name]
    assert perturbation(text, 0.0, SEED) == text
    assert perturbation(text, share, SEED) == perturbation(text, share, Draws(123, "test", "d1"))


@settings(max_examples=25, deadline=None)
@given(text=st.text("abcdefgh ", min_size=1, max_size=80), share=SHARES)
def test_typos_are_at_most_as_many_as_asked(text, share):
    typed = changes.typos(text, share, SEED)
    most = math.floor(share * len(text) + 0.5)
    # swaps that touch each other cost up to two edits each
    assert OSA.distance(text, typed) <= 2 * most
    assert abs(len(typed) - len(text)) <= most


def test_every_kind_of_typo_occurs():
    text = "abcdefghij" * 20
    typed = {changes.typos(text, 1 / 200, Draws(1, "t", str(i))) for i in range(60)}
    lengths = Counter(len(each) for each in typed)
    assert set(lengths) == {199, 200, 201}
    assert any(sorted(each) == sorted(text) and each != text for each in typed)  # swapped


@settings(max_examples=25, deadline=None)
@given(words=WORDS, share=SHARES)
def test_moved_words_are_the_same_words(words, share):
    marked = [f"{word}{place}" for place, word in enumerate(words)]
    moved = changes.reorder_words(" ".join(marked), share, SEED).split()
    assert sorted(moved) == sorted(marked)
    differing = sum(a != b for a, b in zip(moved, marked, strict=True))
    touched = math.floor(share * len(words) + 0.5)
    assert differing == (touched if touched > 1 else 0)


def test_moved_sentences_are_the_same_sentences():
    text = "One. Two. Three. Four."
    moved = changes.reorder_sentences(text, 1.0, SEED)
    assert sorted(sentences(moved)) == sorted(sentences(text))
    assert all(a != b for a, b in zip(sentences(moved), sentences(text), strict=True))


@settings(max_examples=25, deadline=None)
@given(text=TEXTS)
def test_case_and_punctuation_at_full_strength(text):
    assert changes.case(text, 1.0, SEED) == text.upper()
    left = changes.punctuation(text, 1.0, SEED)
    assert left == "".join(c for c in text if not unicodedata.category(c).startswith("P"))


def test_case_and_punctuation_touch_the_share():
    text = "a b c d e, f. g! h? i; j:"
    assert sum(c.isupper() for c in changes.case(text, 0.4, SEED)) == 4
    assert len(changes.punctuation(text, 0.5, SEED)) == len(text) - 3


def test_unicode_forms():
    text = "Café ﬁne １2 e\u0301"
    made = {name: PERTURBATIONS[name](text, 1.0, SEED) for name in ("nfc", "nfd", "nfkc")}
    assert made["nfc"] == "Caf\u00e9 ﬁne １2 \u00e9"
    assert made["nfd"] == "Cafe\u0301 ﬁne １2 e\u0301"
    assert made["nfkc"] == "Caf\u00e9 fine 12 \u00e9"
    assert PERTURBATIONS["full-width"]("Ab 1~é", 1.0, SEED) == "Ａｂ　１～é"
