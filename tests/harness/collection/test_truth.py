"""Exact neighbours through the cache, worked by hand on five short texts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from harness.collection import source, truth
from harness.collection.types import Corpus, Neighbours
from indexers.errors import SettingError
from indexers.similarity import jaccard

# shingles of 3 characters: abcd {abc bcd}, abcde {abc bcd cde}, bcde {bcd cde}, wxyz {wxy xyz}
DOCUMENTS = [
    {"_id": "d1", "text": "abcd"},
    {"_id": "d2", "text": "ABCDE"},
    {"_id": "d3", "text": "wxyz"},
    {"_id": "d4", "text": "bcde"},
    {"_id": "d5", "text": ""},
]
QUERIES = [{"_id": "q", "text": "abcd"}, {"_id": "d2", "text": "abcde"}]


@pytest.fixture
def corpus(
    write_beir: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Corpus:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return source.open_corpus(str(write_beir(DOCUMENTS, QUERIES)))


def lists(found: Neighbours) -> list[dict[int, float]]:
    nearest = found.nearest
    bounds = nearest.indptr.tolist()
    return [
        dict(
            zip(
                nearest.documents[first:last].tolist(),
                nearest.similarity[first:last].tolist(),
                strict=True,
            )
        )
        for first, last in pairwise(bounds)
    ]


def test_neighbours_with_the_tie_class_and_without_the_query_itself(corpus: Corpus) -> None:
    found = truth.neighbours(corpus, k=1)
    assert (found.similarity_name, found.k) == ("jaccard", 1)
    # d1 and d4 tie for the second query, which is d2 itself
    assert lists(found) == [{0: 1.0}, {0: 2 / 3, 3: 2 / 3}]
    assert found.nearest.kth.tolist() == [1.0, 2 / 3]
    assert found.nearest.valid.tolist() == [True, True]


def test_pairs_above(corpus: Corpus) -> None:
    assert list(truth.pairs_above(corpus, 0.5)) == [
        ("q", "d1", 1.0),
        ("q", "d2", 2 / 3),
        ("d2", "d1", 2 / 3),
        ("d2", "d4", 2 / 3),
    ]
    assert list(truth.pairs_above(corpus, 1.0)) == [("q", "d1", 1.0)]


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("the neighbours were computed again")


def test_neighbours_are_kept_by_content_k_and_shingle_size(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = truth.neighbours(corpus, k=2)
    with monkeypatch.context() as patch:
        patch.setattr(jaccard, "nearest", _refuse)
        again = truth.neighbours(corpus, k=2)
        for arguments in ({"k": 3}, {"k": 2, "shingle_size": 2}):
            with pytest.raises(AssertionError, match="computed again"):
                truth.neighbours(corpus, **arguments)
    for name in ("indptr", "documents", "similarity", "kth", "valid"):
        kept, fresh = getattr(again.nearest, name), getattr(first.nearest, name)
        assert kept.dtype == fresh.dtype
        assert kept.tolist() == fresh.tolist()


@pytest.mark.parametrize("damage", [b"", b"\0" * 2000, b"PK\x03\x04 not an archive"])
def test_damaged_neighbours_are_computed_anew(
    corpus: Corpus, tmp_path: Path, damage: bytes
) -> None:
    first = lists(truth.neighbours(corpus, k=2))
    (kept,) = (tmp_path / "cache" / "harness" / "neighbours").iterdir()
    whole = kept.read_bytes()
    for content in (damage, whole[:-3], whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]):
        kept.write_bytes(content)
        assert lists(truth.neighbours(corpus, k=2)) == first
        assert kept.read_bytes()[16:] == whole[16:]


def test_a_cache_that_cannot_be_written_is_no_error(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    assert lists(truth.neighbours(corpus, k=1)) == [{0: 1.0}, {0: 2 / 3, 3: 2 / 3}]


def test_neighbours_of_vectors_tell_of_documents_done(corpus: Corpus) -> None:
    told: list[int] = []
    vectors = np.array([[1, 0], [3, 4], [0, 2], [0, 0], [1, 1]], np.float32)
    asked = np.array([[2, 0], [3, 4]], np.float32)
    found = truth.vector_neighbours(corpus, vectors, asked, k=2, progress=told.append)
    assert sum(told) == len(corpus.ids) != len(corpus.query_ids)
    # by hand: cosines of (1, 0) are 1, 3/5, 0, none, 1/sqrt 2; the second query is d2 itself
    assert [list(one) for one in lists(found)] == [[0, 4], [4, 2]]
    assert found.usable == 4
    bad = np.where(np.arange(5)[:, None] == 3, np.nan, vectors).astype(np.float32)
    with pytest.raises(SettingError, match="row 3"):
        truth.vector_neighbours(corpus, bad, asked, k=2)
