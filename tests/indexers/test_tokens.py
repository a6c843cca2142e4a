"""Inverted indexes in process against sets and plain edit distances."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.backends.tables import Tables
from indexers.errors import BackendError, SettingError
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import Fingerprints, Ragged

BACKEND = Tables(BackendConfig())
HASHES = st.lists(
    st.lists(st.sampled_from([0, 1, 2, 3, 2**63, 2**64 - 1]), max_size=6), max_size=12
)


def ragged(lists, dtype):
    joined = [value for one in lists for value in one]
    return Ragged(np.cumsum([0, *map(len, lists)]), np.array(joined, dtype))


def fingerprints(hashes, strings=None, status=None):
    n = len(hashes)
    return Fingerprints(
        np.array([not one for one in hashes] if status is None else status, np.uint8),
        np.zeros((n, 0), np.uint8),
        np.zeros((0, 0, n), np.uint32),
        "bit",
        hashes=ragged(hashes, np.uint64),
        strings=None if strings is None else ragged(strings, np.uint8),
    )


def build(docs, folder):
    family = "winnowing" if docs.strings is None else "fuzzyhash"
    return BACKEND.build(IndexSpec("tables", "tokens", family), Documents([], [], docs), folder)


def ask(handle, queries, k):
    rerank = "jaccard" if queries.strings is None else "levenshtein"
    searcher = BACKEND.open(handle, SearchParams(k, rerank=rerank), Queries([], queries), [])
    hits = [searcher.search(row) for row in range(len(queries))]
    searcher.close()
    return [(h.ordinals.tolist(), h.scores.tolist()) for h in hits]


def test_sets_worked_by_hand(tmp_path):
    docs = fingerprints([[5, 5, 6], [6, 5, 7], [8], [5, 6], [6]], status=[0, 0, 0, 0, 3])
    handle = build(docs, tmp_path)
    assert handle.documents == 4
    queries = fingerprints([[6, 5, 6, 9], [9], []])
    # {5, 6, 9}: 2 of 3 shared with {5, 6}, 2 of 4 with {5, 6, 7}, none with {8}
    assert ask(handle, queries, 9) == [([0, 3, 1], [2 / 3, 2 / 3, 2 / 4]), ([], []), ([], [])]
    assert ask(handle, queries, 1)[0] == ([0], [2 / 3])


def test_strings_worked_by_hand(tmp_path):
    hashes = [[1, 2], [2], [3], [1], [1]]
    docs = fingerprints(
        hashes, [b"kitten", b"sitting", b"mitten", b"mitten", b"x"], [0, 0, 0, 0, 2]
    )
    queries = fingerprints([[1, 2]], [b"mitten"])
    # document 2 is equal and shares no hash; sitting: m -> s, e -> i, and g
    assert ask(build(docs, tmp_path), queries, 9) == [([3, 0, 1], [1, 1 / 2, 1 / 4])]


@settings(max_examples=60, deadline=None)
@given(docs=HASHES, queries=HASHES, k=st.integers(1, 8), unusable=st.sets(st.integers(0, 11)))
def test_agrees_with_sets(docs, queries, k, unusable):
    status = [3 if i in unusable else not one for i, one in enumerate(docs)]
    wanted = []
    for query in map(set, queries):
        scored = [
            (-len(query & set(doc)) / len(query | set(doc)), i)
            for i, doc in enumerate(docs)
            if not status[i] and query & set(doc)
        ]
        best = sorted(scored)[:k]
        wanted.append(([i for _, i in best], [-score for score, _ in best]))
    with tempfile.TemporaryDirectory() as folder:
        handle = build(fingerprints(docs, status=status), Path(folder))
        assert ask(handle, fingerprints(queries), k) == wanted


def test_threads_share_a_searcher(tmp_path):
    rng = np.random.default_rng(0)
    docs = fingerprints([rng.integers(0, 90, 12).tolist() for _ in range(400)])
    handle = build(docs, tmp_path)
    searcher = BACKEND.open(handle, SearchParams(9, rerank="jaccard"), Queries([], docs), [])
    alone = [searcher.search(row).ordinals.tolist() for row in range(400)]
    with ThreadPoolExecutor(4) as pool:
        together = [h.ordinals.tolist() for h in pool.map(searcher.search, range(400))]
    assert together == alone
    assert all(row in found for row, found in enumerate(alone))


def test_size_is_that_of_the_files(tmp_path):
    handle = build(fingerprints([[1], [2, 3]]), tmp_path)
    assert handle.size_bytes == sum(f.stat().st_size for f in tmp_path.rglob("*"))
    assert BACKEND.size_bytes(handle, SearchParams(1, rerank="jaccard")) == handle.size_bytes


@pytest.mark.parametrize(
    ("spec", "rerank", "problem"),
    [
        (IndexSpec("tables", "tokens", "winnowing"), "code", "winnowing has no rerank 'code'"),
        (IndexSpec("tables", "tokens", "simhash", bits=64), "code", "simhash has no kind 'tokens'"),
        (IndexSpec("tables", "lsh", "winnowing"), "jaccard", "winnowing has no kind 'lsh'"),
        (IndexSpec("tables", "flat", "winnowing"), "jaccard", "tables has no kind 'flat'"),
        (IndexSpec("tables", "tokens", "karp_rabin"), "jaccard", "karp_rabin is only compared"),
        (IndexSpec("tables", "tokens", "winnowing"), "jaccard", None),
        (IndexSpec("tables", "tokens", "fuzzyhash"), "levenshtein", None),
    ],
)
def test_what_does_not_exist(spec, rerank, problem):
    found = Tables.impossible(spec, SearchParams(1, rerank=rerank))
    assert found is None if problem is None else found.startswith(problem)


def test_tables_that_do_not_nest_are_all_searched():
    spec = IndexSpec("tables", "lsh", "lshash", 4, (8,), 64)
    assert Tables.impossible(spec, SearchParams(1, 4, 8)) is None
    assert "does not nest in num_tables" in Tables.impossible(spec, SearchParams(1, 2, 8))


def test_forms_that_are_not_there(tmp_path):
    docs = fingerprints([[1], [2]])
    handle = build(docs, tmp_path)
    bare = Fingerprints(docs.status, docs.codes, docs.keys, "bit")
    with pytest.raises(BackendError, match="needs fingerprints with sequence, and these have none"):
        BACKEND.open(handle, SearchParams(1, rerank="jaccard"), Queries([], bare), [])
    spec = IndexSpec("tables", "tokens", "fuzzyhash")
    with pytest.raises(BackendError, match=r"fingerprints with string, .* have sequence"):
        BACKEND.build(spec, Documents([], [], docs), tmp_path / "other")
    with pytest.raises(SettingError, match="no rerank 'levenshtein'"):
        BACKEND.open(handle, SearchParams(1, rerank="levenshtein"), Queries([], docs), [])
