"""What every backend keeps to, for each of its kinds."""

from __future__ import annotations

import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from indexers import registry
from indexers.types import (
    BackendConfig,
    Documents,
    IndexSpec,
    Queries,
    SearchParams,
    Status,
    TableSize,
)

BITS = 64
TABLES, LENGTHS = 6, (4, 7)
OWNER = "conformance-test"
CASES = [(name, kind) for name in registry.backend_names() for kind in registry.backend(name).kinds]
CODE_CASES = [case for case in CASES if case[1] != "bm25"]
# which of the documents at the boundary distance FAISS gives is its own
BOUNDARY_IS_OWN = ("faiss",)


def texts(count, seed):
    """Short texts of few words: near-duplicates, equal ones, and some without any character."""
    rng = np.random.default_rng(seed)
    words = ["lamp", "desk", "red", "oak", "steel", "chair", "small", "garden", "led", "table"]
    made = [" ".join(rng.choice(words, rng.integers(2, 7))) for _ in range(count)]
    return ["" if i % 17 == 5 else text for i, text in enumerate(made)]


def hashed(all_texts):
    hasher = registry.family("simhash").hasher(TableSize(TABLES, max(LENGTHS)), bits=BITS, seed=123)
    return hasher(all_texts)


@pytest.fixture(scope="module")
def documents():
    made = texts(150, seed=1)
    return Documents([f"d{i:04}" for i in range(150)], made, hashed(made))


@pytest.fixture(scope="module")
def queries():
    made = texts(25, seed=2)
    return Queries(made, hashed(made))


@pytest.fixture
def make(request):
    """Makes a backend of this name; what it left behind is swept at the end."""
    backends = []

    def of(name):
        cls = registry.backend(name)
        url = request.getfixturevalue(f"{name}_url") if cls.remote else None
        backends.append(cls(BackendConfig(url=url, owner=OWNER)))
        return backends[-1]

    yield of
    for backend in backends:
        backend.sweep()


def spec_and_params(name, kind, k=10, num_tables=TABLES, hash_length=LENGTHS[-1]):
    if kind == "bm25":
        return IndexSpec(name, kind), SearchParams(k)
    if kind == "flat":
        return IndexSpec(name, kind, "simhash", bits=BITS), SearchParams(k)
    lengths = LENGTHS if kind == "lsh" else (hash_length,)
    spec = IndexSpec(name, kind, "simhash", TABLES if kind == "lsh" else num_tables, lengths, BITS)
    return spec, SearchParams(k, num_tables, hash_length)


def candidates(kind, params, docs, query_prints, query):
    """bool (n,): which documents the tables of this kind give, by the definition."""
    if kind == "flat":
        return np.ones(len(docs), np.bool_)
    length = params.hash_length
    if kind == "lsh":
        mine = query_prints.keys[: params.num_tables, 0, query] >> (32 - length)
        return (docs.keys[: params.num_tables, 0] >> (32 - length) == mine[:, None]).any(axis=0)
    assert kind == "multihash"
    # FAISS reads a code from the least significant bit of its first byte on
    used = params.num_tables * length
    bits = np.unpackbits(docs.codes, axis=1, bitorder="little")[:, :used]
    mine = np.unpackbits(query_prints.codes[query], bitorder="little")[:used]
    return (bits == mine).reshape(len(docs), params.num_tables, length).all(axis=2).any(axis=1)


def expected(kind, params, docs, query_prints, query):
    """Every candidate that is OK as (−score, ordinal), best first."""
    if query_prints.status[query] != Status.OK:
        return []
    able = candidates(kind, params, docs, query_prints, query) & (docs.status == Status.OK)
    differing = np.unpackbits(docs.codes ^ query_prints.codes[query], axis=1).sum(axis=1)
    return sorted((int(differing[d]) - BITS, int(d)) for d in np.flatnonzero(able))


def answers(backend, handle, params, queries, ids):
    searcher = backend.open(handle, params, queries, ids)
    hits = [searcher.search(row) for row in range(len(queries.texts))]
    searcher.close()
    return hits


def check_answer(name, hits, wanted, k):
    given = [(-score, d) for score, d in zip(hits.scores, hits.ordinals, strict=True)]
    assert given == sorted(given)
    assert len(set(hits.ordinals.tolist())) == len(hits.ordinals)
    if name in BOUNDARY_IS_OWN:
        assert set(given) <= set(wanted)
        assert [s for s, _ in given] == [s for s, _ in wanted[:k]]
    else:
        assert given == wanted[:k]


@pytest.mark.parametrize("name", registry.backend_names())
def test_says_what_it_is(name, make):
    cls = registry.backend(name)
    assert cls.name == name
    assert cls.kinds
    assert make(name).check().version


@pytest.mark.parametrize("name", registry.backend_names())
def test_names_a_kind_that_it_has_not(name):
    spec = IndexSpec(name, "no-such-kind", "simhash", 4, (4,), BITS)
    assert "no-such-kind" in registry.backend(name).impossible(spec, SearchParams(1, 4, 4))


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_its_own_kinds_are_possible(name, kind):
    assert registry.backend(name).impossible(*spec_and_params(name, kind)) is None


@pytest.mark.parametrize(("name", "kind"), CODE_CASES)
def test_answers_by_definition(name, kind, make, documents, queries, tmp_path):
    backend = make(name)
    spec, params = spec_and_params(name, kind)
    handle = pickle.loads(pickle.dumps(backend.build(spec, documents, tmp_path)))
    assert handle.spec == spec
    assert handle.documents == np.count_nonzero(documents.fingerprints.status == Status.OK)
    assert handle.size_bytes > 0
    assert handle.build_s > 0
    for hits, row in zip(
        answers(make(name), handle, params, queries, documents.ids), range(25), strict=True
    ):
        assert hits.ordinals.dtype == np.int32
        assert hits.scores.dtype == np.float64
        wanted = expected(kind, params, documents.fingerprints, queries.fingerprints, row)
        check_answer(name, hits, wanted, params.k)
    backend.drop(handle)


@pytest.mark.parametrize(("name", "kind"), [case for case in CASES if case[1] == "lsh"])
def test_one_index_serves_smaller_sizes(name, kind, make, documents, queries, tmp_path):
    backend = make(name)
    spec, _ = spec_and_params(name, kind)
    handle = backend.build(spec, documents, tmp_path)
    for tables in (1, 3):
        for length in LENGTHS:
            _, params = spec_and_params(name, kind, 5, tables, length)
            for row, hits in enumerate(answers(backend, handle, params, queries, documents.ids)):
                wanted = expected(kind, params, documents.fingerprints, queries.fingerprints, row)
                check_answer(name, hits, wanted, 5)
    backend.drop(handle)


@pytest.mark.parametrize(("name", "kind"), CODE_CASES)
def test_more_answers_asked_for_than_there_are(name, kind, make, documents, queries, tmp_path):
    backend = make(name)
    spec, params = spec_and_params(name, kind, k=400)
    handle = backend.build(spec, documents, tmp_path)
    for row, hits in enumerate(answers(backend, handle, params, queries, documents.ids)):
        wanted = expected(kind, params, documents.fingerprints, queries.fingerprints, row)
        check_answer(name, hits, wanted, 400)
    backend.drop(handle)


@pytest.mark.parametrize(("name", "kind"), CODE_CASES)
def test_several_threads_get_the_same_answers(name, kind, make, documents, queries, tmp_path):
    backend = make(name)
    spec, params = spec_and_params(name, kind)
    handle = backend.build(spec, documents, tmp_path)
    searcher = backend.open(handle, params, queries, documents.ids)
    rows = list(range(25)) * 4
    alone = [searcher.search(row).ordinals.tolist() for row in rows]
    with ThreadPoolExecutor(4) as pool:
        together = [hits.ordinals.tolist() for hits in pool.map(searcher.search, rows)]
    searcher.close()
    assert together == alone
    backend.drop(handle)


@pytest.mark.parametrize(("name", "kind"), CODE_CASES)
def test_an_index_without_documents(name, kind, make, queries, tmp_path):
    backend = make(name)
    spec, params = spec_and_params(name, kind)
    nothing = Documents(["a", "b"], ["", " "], hashed(["", " "]))
    handle = backend.build(spec, nothing, tmp_path)
    assert handle.documents == 0
    assert all(
        len(hits.ordinals) == 0 for hits in answers(backend, handle, params, queries, nothing.ids)
    )
    backend.drop(handle)


@pytest.mark.parametrize(("name", "kind"), [case for case in CASES if case[1] == "bm25"])
def test_bm25_lives(name, kind, make, documents, queries, tmp_path):
    backend = make(name)
    spec, params = spec_and_params(name, kind)
    handle = backend.build(spec, Documents(documents.ids, documents.texts, None), tmp_path)
    asked = Queries(queries.texts, None)
    for text, hits in zip(
        queries.texts, answers(backend, handle, params, asked, documents.ids), strict=True
    ):
        assert (len(hits.ordinals) > 0) == bool(text)
        assert (np.diff(hits.scores) <= 0).all()
        words = set(re.findall(r"\w+", text))
        assert all(words & set(documents.texts[d].split()) for d in hits.ordinals)
    backend.drop(handle)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_leaves_nothing(name, kind, make, documents, tmp_path):
    backend = make(name)
    spec, _ = spec_and_params(name, kind)
    handle = backend.build(spec, documents, tmp_path)
    backend.drop(handle)
    backend.drop(handle)
    assert not tmp_path.exists() or not any(tmp_path.iterdir())
    assert backend.sweep() == []
