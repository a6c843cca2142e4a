"""BM25 in process against its formula, worked in plain Python."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from harness.collection.bm25 import nearest, words
from harness.collection.types import Corpus

TEXTS = ["red shoe", "red red shoe for men", "blue hat", "", "a red hat, a blue hat", "red shoe"]


def corpus(queries, own=None):
    own = np.full(len(queries), -1, np.int32) if own is None else np.array(own, np.int32)
    ids = [f"d{i}" for i in range(len(TEXTS))]
    names = [f"q{i}" for i in range(len(queries))]
    return Corpus("c", "0" * 32, ids, TEXTS, names, queries, own, None)


def by_formula(query):
    """Lucene: sum over words of idf · tf / (tf + k1 · (1 - b + b · length / mean length))."""
    bags = [Counter(text.replace(",", "").split()) for text in TEXTS]
    lengths = [sum(bag.values()) for bag in bags]
    mean = sum(lengths) / len(lengths)
    scores = []
    for bag, length in zip(bags, lengths, strict=True):
        total = 0.0
        for word in query.split():
            df = sum(word in b for b in bags)
            idf = math.log(1 + (len(TEXTS) - df + 0.5) / (df + 0.5))
            tf = bag[word]
            total += idf * tf / (tf + 1.2 * (0.25 + 0.75 * length / mean))
        scores.append(total)
    return scores


@pytest.mark.parametrize("query", ["red", "red shoe", "blue hat", "hat hat red"])
def test_scores_are_those_of_the_formula(query):
    found = nearest(corpus([query]), k=10)
    expected = by_formula(query)
    ranked = sorted((-s, i) for i, s in enumerate(expected) if s > 0)
    assert found.documents.tolist() == [i for _, i in ranked]
    assert found.similarity.tolist() == pytest.approx([-s for s, _ in ranked], rel=1e-9)
    assert found.kth.tolist() == [0.0]


def test_the_tie_class_is_whole_and_the_query_itself_left_out():
    found = nearest(corpus(["red shoe", "red shoe"], own=[-1, 0]), k=1)
    assert found.indptr.tolist() == [0, 2, 3]
    assert found.documents.tolist() == [0, 5, 5]


def test_queries_without_known_words_find_nothing():
    found = nearest(corpus(["zebra", "", "red"]), k=2)
    assert found.valid.tolist() == [True, False, True]
    assert found.indptr.tolist()[:3] == [0, 0, 0]


def test_words_are_lower_cased_runs():
    assert words("Red-shoe, Größe 42!") == ["red", "shoe", "größe", "42"]


def test_documents_without_a_word():
    blank = replace(corpus(["red", "!"]), texts=["", " ", "!", "?", "…", "-"])
    found = nearest(blank, k=2)
    assert len(found.documents) == 0
    assert found.valid.tolist() == [True, False]
