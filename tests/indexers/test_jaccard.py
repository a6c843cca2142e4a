"""Exact Jaccard neighbours against Python sets, worked values and judged real text."""

from __future__ import annotations

import csv
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from indexers.errors import SettingError
from indexers.nearest import nearest_by_matrix
from indexers.similarity import _texts, jaccard
from indexers.text import Shingler
from indexers.types import Fingerprints, Ragged


def shingles(text, size=3):
    """Distinct n-grams of ASCII text, straight from the definition."""
    text = " ".join(text.lower().split())
    if 0 < len(text) < size:
        return {text}
    return {text[i : i + size] for i in range(len(text) - size + 1)}


def fraction(a, b):
    return Fraction(len(a & b), len(a | b)) if a and b else Fraction(0)


def rows(found, query):
    part = slice(found.indptr[query], found.indptr[query + 1])
    return found.documents[part].tolist(), found.similarity[part].tolist()


def nobody(queries):
    return np.full(len(queries), -1, np.int32)


def check(documents, queries, k, exclude, size=3):
    found = jaccard.nearest(documents, queries, k=k, exclude=exclude, shingle_size=size)
    for q, query in enumerate(queries):
        mine = shingles(query, size)
        scored = sorted(
            (-fraction(mine, shingles(text, size)), d)
            for d, text in enumerate(documents)
            if d != exclude[q] and shingles(text, size)
        )
        assert found.valid[q] == bool(mine)
        last = scored[:k][-1][0] if scored and mine else Fraction(0)
        listed = [(s, d) for s, d in scored if s <= last and s < 0]
        assert rows(found, q) == ([d for _, d in listed], [float(-s) for s, _ in listed])
        assert found.kth[q] == float(-last)


def test_worked_by_hand():
    documents = ["abcde", "ABC  de", "abcdx", "abc", "", "  ", "zzz", "ab"]
    # abc bcd cde; "abc de": abc bc_ c_d _de; abc bcd cdx; abc; -; -; zzz; ab
    found = jaccard.nearest(
        documents, ["abcde", "", "ab", "q"], k=2, exclude=np.array([0, -1, -1, -1], np.int32)
    )
    assert rows(found, 0) == ([2, 3], [2 / 4, 1 / 3])
    assert rows(found, 1) == ([], [])
    assert rows(found, 2) == ([7], [1])
    assert rows(found, 3) == ([], [])
    assert found.valid.tolist() == [True, False, True, True]
    assert found.kth.tolist() == [1 / 3, 0, 0, 0]


def test_the_tie_class_of_the_last_comes_whole():
    documents = ["abcd", "abcx", "abcy", "abcz", "qqqq"]
    found = jaccard.nearest(documents, ["abcd"], k=2, exclude=nobody("1"))
    assert rows(found, 0) == ([0, 1, 2, 3], [1, 1 / 3, 1 / 3, 1 / 3])
    assert found.kth.tolist() == [1 / 3]


def test_fewer_documents_than_asked_for():
    found = jaccard.nearest(["abcd", "abcx", ""], ["abcd"], k=9, exclude=nobody("1"))
    assert rows(found, 0) == ([0, 1], [1, 1 / 3])
    assert found.kth.tolist() == [1 / 3]  # a text without shingles is no document


@pytest.mark.parametrize("documents", [[], ["", " \n"]])
def test_no_documents(documents):
    found = jaccard.nearest(documents, ["abc", ""], k=3, exclude=np.zeros(2, np.int32))
    assert len(found.documents) == 0
    assert found.kth.tolist() == [0, 0]
    assert found.valid.tolist() == [True, False]


def test_no_queries():
    found = jaccard.nearest(["abc"], [], k=3, exclude=nobody(""))
    assert found.indptr.tolist() == [0]
    assert len(found.valid) == 0


TEXTS = st.lists(st.text("ab c", max_size=9), max_size=30)


@settings(max_examples=60, deadline=None)
@given(
    documents=TEXTS,
    queries=st.lists(st.text("abcD ", max_size=9), min_size=1, max_size=4),
    k=st.integers(1, 8),
    size=st.integers(1, 4),
    block=st.sampled_from([1, 3, 1000]),
    data=st.data(),
)
def test_agrees_with_sets(documents, queries, k, size, block, data):
    ordinals = st.integers(-1, len(documents) - 1)
    exclude = np.array([data.draw(ordinals) for _ in queries], np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_texts, "BLOCK", block)
        check(documents, queries, k, exclude, size)


def test_agrees_with_sets_where_shingles_overflow_the_bits(monkeypatch):
    monkeypatch.setattr(_texts, "BLOCK", 100)
    monkeypatch.setattr(_texts, "CHUNK", 7)
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 6)) for _ in range(800)]
    documents = [" ".join(rng.choice(words, 25)) for _ in range(250)]
    queries = documents[:20]
    assert len(set().union(*map(shingles, queries))) > 1024
    check(documents, queries, 5, np.arange(20, dtype=np.int32))


@settings(max_examples=40, deadline=None)
@given(documents=TEXTS, query=st.text("ab c", max_size=9), percent=st.integers(1, 100))
def test_pairs_above_agree_with_sets(documents, query, percent):
    found = jaccard.pairs_above(documents, [query], minimum=percent / 100, exclude=nobody("1"))
    scored = sorted((-fraction(shingles(query), shingles(d)), i) for i, d in enumerate(documents))
    listed = [(float(-s), i) for s, i in scored if float(-s) >= percent / 100]
    assert rows(found, 0) == ([i for _, i in listed], [s for s, _ in listed])
    assert found.kth.tolist() == [percent / 100]


@pytest.mark.parametrize("minimum", [0, -1, 1.5, float("nan")])
def test_a_minimum_out_of_range(minimum):
    with pytest.raises(SettingError, match="choose above 0, at most 1"):
        jaccard.pairs_above(["abc"], ["abc"], minimum=minimum, exclude=nobody("1"))


def test_progress_counts_every_document(monkeypatch):
    monkeypatch.setattr(_texts, "BLOCK", 2)
    told = []
    jaccard.nearest(["abc"] * 5, ["abc"], k=1, exclude=nobody("1"), progress=told.append)
    assert told == [2, 2, 1]


def test_judged_near_duplicates(data_dir):
    folder = data_dir("debian-neardup")

    def texts(name):
        with (folder / name).open(encoding="utf-8") as lines:
            return {row["_id"]: row["text"] for row in map(json.loads, lines)}

    documents, queries = texts("corpus.jsonl"), texts("queries.jsonl")
    ids = sorted(documents)
    with (folder / "qrels.tsv").open(encoding="utf-8") as lines:
        judged = {
            (row["query-id"], row["corpus-id"]): int(row["score"])
            for row in csv.DictReader(lines, delimiter="\t")
        }
    itself = np.array([ids.index(query) for query in queries], np.int32)
    found = jaccard.pairs_above(
        [documents[i] for i in ids], list(queries.values()), minimum=0.5, exclude=itself
    )
    bands = {
        (query, ids[document]): 1 + (similarity >= 0.7) + (similarity >= 0.9)
        for q, query in enumerate(queries)
        for document, similarity in zip(*rows(found, q), strict=True)
    }
    assert bands == judged


def of_codes(*codes):
    n = len(codes)
    keys = np.zeros((0, 0, n), np.uint32)
    return Fingerprints(np.zeros(n, np.uint8), np.array(codes, np.uint8), keys, "bit")


def test_codes_are_sets_of_their_ones():
    a, b = of_codes([0b1110, 1], [0, 0]), of_codes([0b0111, 0], [0b1110, 1], [0, 0])
    found = jaccard.SIMILARITY.matrix(a, b, "bits")
    assert found[0].tolist() == [2 / 5, 1, 0]
    np.testing.assert_array_equal(found[1], [0, 0, np.nan])  # two empty sets have none


def test_codes_agree_with_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 256, (4, 9)), rng.integers(0, 256, (1030, 9))
    bits = (np.unpackbits(codes.astype(np.uint8), axis=1).astype(bool) for codes in (a, b))
    found = jaccard.SIMILARITY.matrix(of_codes(*a), of_codes(*b), "bits")
    np.testing.assert_allclose(found, 1 - cdist(*bits, "jaccard"), rtol=0, atol=1e-15)


def test_the_matrix_finds_the_neighbours_of_the_texts():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcd "), 30)) for _ in range(300)]
    texts[7] = ""
    block = Shingler(3).block(texts)
    hashes = Ragged(block.offsets, block.tokens.astype(np.uint64))
    status = (np.diff(block.offsets) == 0).astype(np.uint8)
    bare = np.zeros((300, 0), np.uint8), np.zeros((0, 0, 300), np.uint32)
    fp = Fingerprints(status, *bare, "bit", hashes=hashes)
    queries, exclude = fp.take(np.arange(20)), np.arange(20, dtype=np.int32)
    by_matrix = nearest_by_matrix(jaccard.SIMILARITY, "sequence", queries, fp, k=5, exclude=exclude)
    by_texts = jaccard.nearest(texts, texts[:20], k=5, exclude=exclude)
    for field in ("indptr", "documents", "similarity", "kth", "valid"):
        np.testing.assert_array_equal(getattr(by_matrix, field), getattr(by_texts, field))
