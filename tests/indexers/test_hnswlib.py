"""Graphs in process, of FAISS and of hnswlib: what they find, and what hnswlib does on its own."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from indexers import registry
from indexers.backends import _hnswlib_file
from indexers.errors import BackendError, MissingPackage
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import Fingerprints


@pytest.fixture(params=["faiss", "hnswlib"])
def backend(request):
    if request.param == "hnswlib":
        request.getfixturevalue("hnswlib")
    return registry.backend(request.param)(BackendConfig())


@pytest.fixture
def own(hnswlib):
    del hnswlib  # skips where the package is not there
    return registry.backend("hnswlib")(BackendConfig())


def fingerprints(codes=None, vectors=None, status=None):
    n = len(vectors if codes is None else codes)
    return Fingerprints(
        np.array([0] * n if status is None else status, np.uint8),
        np.zeros((n, 0), np.uint8) if codes is None else np.asarray(codes, np.uint8),
        np.zeros((0, 0, n), np.uint32),
        "bit",
        vectors=None if vectors is None else np.asarray(vectors, np.float32),
    )


def spec(backend, **sizes):
    return IndexSpec(backend.name, "hnsw", "simhash", bits=64, **sizes)


def dense(backend, **sizes):
    return IndexSpec(backend.name, "hnsw", "bge", **sizes)


def ask(backend, spec, docs, queries, folder, **params):
    handle = backend.build(spec, Documents([], [], docs), folder)
    searcher = backend.open(handle, SearchParams(**params), Queries([], queries), [])
    hits = [searcher.search(row) for row in range(len(queries))]
    searcher.close()
    return [(h.ordinals.tolist(), h.scores.tolist()) for h in hits]


def at_one_distance(n):
    """Codes of 64 bits that differ from zero in 3 of them each, and from each other."""
    bits = np.zeros((n, 64), np.uint8)
    for row, start in zip(bits, range(n), strict=True):
        row[start : start + 3] = 1
    return np.packbits(bits, axis=1)


def random_codes(n, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, 8), dtype=np.uint8)


def unit(n, seed=0, dimension=24):
    made = np.random.default_rng(seed).normal(size=(n, dimension))
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.mark.parametrize("k", [1, 10, 20, 50])
def test_ties_come_by_ordinal(backend, tmp_path, k):
    docs, query = fingerprints(at_one_distance(20)), fingerprints(np.zeros((1, 8)))
    ((ordinals, scores),) = ask(backend, spec(backend), docs, query, tmp_path, k=k)
    assert len(ordinals) == min(k, 20)
    assert ordinals == sorted(set(ordinals))
    assert scores == [61.0] * len(ordinals)


def test_equal_documents_are_all_there(backend, tmp_path):
    docs = fingerprints(np.repeat(random_codes(3), 10, axis=0))
    ((ordinals, scores),) = ask(
        backend, spec(backend), docs, fingerprints(random_codes(1)), tmp_path, k=10
    )
    assert ordinals == list(range(10))
    assert scores == [64.0] * 10


def test_only_documents_that_are_ok_enter(backend, tmp_path):
    status = [0, 1, 0, 2, 3, 0]
    docs = fingerprints(random_codes(6), status=status)
    queries = fingerprints(random_codes(6), status=status)
    answers = ask(backend, spec(backend), docs, queries, tmp_path, k=6)
    assert [sorted(ordinals) for ordinals, _ in answers] == [
        [0, 2, 5] if s == 0 else [] for s in status
    ]


def test_cosines_are_those_of_the_similarity(backend, tmp_path):
    docs, queries = fingerprints(vectors=unit(60)), fingerprints(vectors=unit(5, seed=1))
    answers = ask(
        backend, dense(backend), docs, queries, tmp_path, k=5, rerank="cosine", ef_search=60
    )
    exact = registry.similarity("cosine").matrix(queries, docs, "vector")
    for (ordinals, scores), row in zip(answers, exact, strict=True):
        assert ordinals == np.argsort(-row, kind="stable")[:5].tolist()
        assert scores == row[ordinals].tolist()


@pytest.mark.parametrize("of_vectors", [False, True])
def test_a_wider_search_finds_more(backend, tmp_path, of_vectors):
    docs = fingerprints(vectors=unit(3000)) if of_vectors else fingerprints(random_codes(3000))
    asked = fingerprints(vectors=unit(40, 1)) if of_vectors else fingerprints(random_codes(40, 1))
    made = dense(backend, m=4, ef_construction=20) if of_vectors else spec(backend, m=4)
    rerank = "cosine" if of_vectors else "code"
    handle = backend.build(made, Documents([], [], docs), tmp_path)
    totals = []
    for width in (1, 20, 400):
        params = SearchParams(10, rerank=rerank, ef_search=width)
        searcher = backend.open(handle, params, Queries([], asked), [])
        hits = [searcher.search(row) for row in range(40)]
        assert all(len(h.ordinals) == 10 for h in hits)  # a width below k is raised to it
        totals.append(sum(h.scores.sum() for h in hits))
    assert totals[0] < totals[1] < totals[2]


def test_build_sizes_reach_the_library(backend, tmp_path):
    docs, sizes = fingerprints(random_codes(500)), {}
    for m in (2, 32):
        folder = tmp_path / str(m)
        folder.mkdir()
        sizes[m] = backend.build(spec(backend, m=m), Documents([], [], docs), folder).size_bytes
    assert sizes[32] - sizes[2] > 500 * 4 * 2 * 30 * 0.9  # links of the lowest layer


def test_candidates_in_building_reach_the_library(backend, tmp_path):
    docs, asked = fingerprints(random_codes(3000)), fingerprints(random_codes(40, 1))
    totals = []
    for number, ef_construction in enumerate((1, 200)):
        folder = tmp_path / str(number)
        folder.mkdir()
        made = spec(backend, m=8, ef_construction=ef_construction)
        found = ask(backend, made, docs, asked, folder, k=10, ef_search=10)
        totals.append(sum(sum(scores) for _, scores in found))
    assert totals[0] < totals[1]


def test_without_documents(backend, tmp_path):
    for number, (made, docs, query, rerank) in enumerate(
        [
            (spec(backend), fingerprints(np.zeros((1, 8)), status=[1]), random_codes(1), "code"),
            (dense(backend), fingerprints(vectors=np.zeros((1, 4)), status=[1]), None, "cosine"),
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        asked = fingerprints(query) if query is not None else fingerprints(vectors=unit(1, 0, 4))
        assert ask(backend, made, docs, asked, folder, k=3, rerank=rerank) == [([], [])]


def test_vectors_of_another_dimension_are_refused(backend, tmp_path):
    docs, query = fingerprints(vectors=unit(3, 0, 4)), fingerprints(vectors=unit(1, 0, 5))
    with pytest.raises(BackendError, match="D 4 are indexed and the queries have D 5"):
        ask(backend, dense(backend), docs, query, tmp_path, k=1, rerank="cosine")


@pytest.mark.parametrize(
    ("sizes", "width", "reason"),
    [
        ({}, None, None),
        ({"m": 2, "ef_construction": 1}, 1, None),
        ({"m": 1}, None, "m 1 is out of range: 2 to 512"),
        ({"ef_construction": 0}, None, "ef_construction 0 is out of range"),
        ({}, 10_001, "ef_search 10001 is out of range: 1 to 10000"),
    ],
)
def test_sizes_out_of_range(backend, sizes, width, reason):
    found = backend.impossible(spec(backend, **sizes), SearchParams(10, ef_search=width))
    assert found == reason if reason is None else reason in found


def test_what_has_neither_code_nor_vector(backend):
    made = IndexSpec(backend.name, "hnsw", "winnowing")
    assert "winnowing has no kind 'hnsw'" in backend.impossible(
        made, SearchParams(1, rerank="jaccard")
    )
    made = IndexSpec(backend.name, "hnsw", "minhash", bits=64)
    assert "no rerank 'signature'" in backend.impossible(made, SearchParams(1, rerank="signature"))


def test_nodes_that_a_search_cannot_reach_are_left_out(own, tmp_path):
    # with 2 links a node, clusters of equal codes link among themselves alone
    codes = np.repeat(random_codes(40, 3), 50, axis=0)
    docs, queries = fingerprints(codes), fingerprints(random_codes(40, 3))
    made = spec(own, m=2, ef_construction=5)
    answers = ask(own, made, docs, queries, tmp_path, k=1000, ef_search=1000)
    counts = [len(ordinals) for ordinals, _ in answers]
    assert min(counts) < 1000
    bits = np.unpackbits(codes, axis=1)
    for (ordinals, scores), mine in zip(answers, np.unpackbits(queries.codes, axis=1), strict=True):
        assert scores == (64 - (bits[ordinals] != mine).sum(axis=1)).tolist()
        assert scores == sorted(scores, reverse=True)


def test_fewer_than_asked_for_are_all_that_there_are(own, tmp_path):
    # the greatest number that the library gives
    codes = np.repeat(random_codes(40, 3), 50, axis=0)
    docs, queries = fingerprints(codes), fingerprints(random_codes(40, 3))
    made = spec(own, m=2, ef_construction=5)
    handle = own.build(made, Documents([], [], docs), tmp_path)
    searcher = own.open(handle, SearchParams(1000, ef_search=1000), Queries([], queries), [])
    found, row = min((len(searcher.search(row).ordinals), row) for row in range(40))
    assert 0 < found < 1000
    index = _hnswlib_file.read(handle, "l2", 64)
    index.set_ef(1000)
    asked = 2 * np.unpackbits(queries.codes[row]).astype(np.float32) - 1
    assert len(index.knn_query(asked, found)[0][0]) == found
    with pytest.raises(RuntimeError):
        index.knn_query(asked, found + 1)


def test_many_threads_search_one_graph(own, tmp_path):
    docs, queries = fingerprints(random_codes(2000)), fingerprints(random_codes(100, 1))
    handle = own.build(spec(own), Documents([], [], docs), tmp_path)
    searcher = own.open(handle, SearchParams(10), Queries([], queries), [])
    rows = list(range(100)) * 20
    alone = [searcher.search(row).ordinals.tolist() for row in range(100)] * 20
    with ThreadPoolExecutor(8) as pool:
        assert [h.ordinals.tolist() for h in pool.map(searcher.search, rows)] == alone


def test_a_damaged_file_is_one_line(own, tmp_path):
    handle = own.build(spec(own), Documents([], [], fingerprints(random_codes(9))), tmp_path)
    path = tmp_path / "index.hnswlib"
    whole = path.read_bytes()
    for damaged in (b"rubbish", whole[:-20], whole + b"more"):
        path.write_bytes(damaged)
        with pytest.raises(BackendError, match=r"^[^\n]*index\.hnswlib cannot be opened: [^\n]*$"):
            own.open(handle, SearchParams(1), Queries([], fingerprints(random_codes(1))), [])
    path.unlink()
    with pytest.raises(BackendError, match="cannot be opened"):
        own.open(handle, SearchParams(1), Queries([], fingerprints(random_codes(1))), [])


def test_a_file_of_another_layout_is_refused(own, tmp_path, monkeypatch):
    docs = fingerprints(vectors=unit(9))
    handle = own.build(dense(own), Documents([], [], docs), tmp_path)
    other = np.dtype([("more", "<u8"), *_hnswlib_file._HEADER.descr])
    monkeypatch.setattr(_hnswlib_file, "_HEADER", other)
    with pytest.raises(BackendError, match="layout"):
        own.open(handle, SearchParams(1, rerank="cosine"), Queries([], docs), [])


def test_a_missing_package_names_the_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    with pytest.raises(MissingPackage, match=r"pip install '\.\[hnswlib\]'"):
        registry.backend("hnswlib")(BackendConfig()).check()
