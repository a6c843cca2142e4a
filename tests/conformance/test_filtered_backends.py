"""Answers under a filter: exact search over the documents that pass, in every backend and kind.

What passes is told by plain Python. Kinds that look at a fixed set of candidates must answer what
they answer without a filter, all documents asked for, less what does not pass; graphs must answer
passing documents alone and find most of the nearest of them.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from indexers import registry
from indexers.errors import SettingError
from indexers.index_types import (
    BackendConfig,
    Documents,
    Filter,
    IndexSpec,
    Queries,
    SearchParams,
)
from indexers.types import HashParams, Status, TableSize

DOCUMENTS, QUERIES, K, BITS, DIMENSION = 120, 12, 7, 64, 64
TABLES, LENGTH = 5, 6
ATTRIBUTES = (("colour", "keyword"), ("price in €", "double"))
COLOURS = ['a "b"', "b\\", None, "c\nd", "ü€"]
FAMILIES = ("simhash", "minhash", "winnowing", "fuzzyhash", "bge")
ON_ENGINES = ("simhash", "winnowing", "fuzzyhash")  # one of each way to rank; vectors by hnsw
FILTERS = (
    Filter("colour", value='a "b"'),
    Filter("colour", value="ü€"),
    Filter("colour", value="nobody's"),
    Filter("price in €", low=10, high=30),
    Filter("price in €", low=95.5),
    Filter("price in €", high=-3),
    Filter("price in €", value=17.0),
)


def prices():
    return [None if row % 11 == 3 else float((37 * row) % 101) for row in range(DOCUMENTS)]


def colours():
    return [COLOURS[row * row % 5] for row in range(DOCUMENTS)]


def passes(filter_):
    """The ordinals that pass, by the definition."""
    values = colours() if filter_.field == "colour" else prices()
    if filter_.value is not None:
        return {row for row, value in enumerate(values) if value == filter_.value}
    low = -1e300 if filter_.low is None else filter_.low
    high = 1e300 if filter_.high is None else filter_.high
    return {row for row, v in enumerate(values) if v is not None and low <= v <= high}


def texts(count, seed):
    rng = np.random.default_rng(seed)
    words = np.array([a + b for a in ("la", "mo", "ri", "tek", "su") for b in ("no", "va", "qui")])
    drafts = np.random.default_rng(5).choice(words, (8, 40))
    made = drafts[rng.integers(8, size=count)]
    where = rng.random(made.shape) < rng.choice([0.02, 0.1, 0.2], (count, 1))
    return [" ".join(row) for row in np.where(where, rng.choice(words, made.shape), made)]


def vectors(count, seed):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(5).normal(size=(8, DIMENSION))
    made = centres[rng.integers(8, size=count)] + 0.5 * rng.normal(size=(count, DIMENSION))
    return made.astype(np.float32)


@cache
def corpus(family_name):
    ids = [f"d{row:03}" for row in range(DOCUMENTS)]
    attributes = {"colour": colours(), "price in €": prices(), "unread": ["x"] * DOCUMENTS}
    written, asked = texts(DOCUMENTS, 1), texts(QUERIES, 2)
    if family_name is None:
        return Documents(ids, written, None, attributes), Queries(asked, None)
    family = registry.family(family_name)
    of_vectors = family.source == "vector"
    params = HashParams(bits=BITS, seed=1, dimension=DIMENSION if of_vectors else None)
    hasher = family.hasher(TableSize(TABLES, LENGTH), params)
    given = (vectors(DOCUMENTS, 1), vectors(QUERIES, 2)) if of_vectors else (written, asked)
    return (
        Documents(ids, written, hasher(given[0]), attributes),
        Queries(asked, hasher(given[1])),
    )


def params_of(spec):
    reranks = registry.family(spec.family).reranks[:1] if spec.family else ("code",)
    if spec.kind == "lsh" and "code" in reranks:
        reranks = (*reranks, "window", "none")
    tables, length = (TABLES, LENGTH) if spec.num_tables else (None, None)
    asked = [
        SearchParams(
            K,
            tables,
            length,
            rerank,
            ef_search=200 if spec.kind == "hnsw" else None,
            window_size=400 if rerank == "window" else None,
            filter=FILTERS[0],
        )
        for rerank in reranks
    ]
    return [p for p in asked if registry.backend(spec.backend).impossible(spec, p) is None]


def cells():
    found = []
    for backend in registry.backend_names():
        for kind in registry.backend(backend).kinds:
            for family in (None, *FAMILIES):
                if family and kind not in registry.family(family).kinds:
                    continue
                left_out = family not in (None, *ON_ENGINES) and (kind, family) != ("hnsw", "bge")
                if left_out and registry.backend(backend).remote:
                    continue
                bits = None
                if family and "bits" in registry.family(family).forms:
                    bits = BITS
                nested = kind == "lsh" and family
                spec = IndexSpec(
                    backend,
                    kind,
                    family,
                    TABLES if nested else None,
                    (LENGTH,) if nested else (),
                    bits,
                    attributes=ATTRIBUTES,
                )
                if (family or kind in ("bm25", "more_like_this", "min_hash")) and params_of(spec):
                    found.append(spec)
    return found


CELLS = cells()


def test_cells_are_found():
    found = {(spec.backend, spec.kind) for spec in CELLS}
    for engine in ("opensearch", "elasticsearch"):
        kinds = ("lsh", "flat", "tokens", "bm25", "hnsw", "more_like_this", "min_hash")
        assert {(engine, kind) for kind in kinds} <= found
    in_process = {"exact": "flat", "tables": "lsh tokens", "faiss": "flat hnsw", "hnswlib": "hnsw"}
    assert {(b, k) for b, kinds in in_process.items() for k in kinds.split()} <= found
    assert ("faiss", "multihash") not in found


def answers(backend, handle, params, family):
    documents, queries = corpus(family)
    searcher = backend.open(handle, params, queries, documents.ids)
    try:
        return [searcher.search(row) for row in range(QUERIES)]
    finally:
        searcher.close()


def similarities(spec, row):
    """Of every document, in numpy: bits less differing bits, or cosines."""
    documents, queries = (what.fingerprints for what in corpus(spec.family))
    if spec.bits is not None:
        differing = np.unpackbits(documents.codes ^ queries.codes[row], axis=1).sum(axis=1)
        return BITS - differing.astype(float)
    return documents.vectors.astype(float) @ queries.vectors[row].astype(float)


@pytest.mark.parametrize("spec", CELLS, ids=lambda s: f"{s.backend}-{s.kind}-{s.family}")
def test_answers_are_those_of_exact_search_over_what_passes(request, spec, tmp_path):
    cls = registry.backend(spec.backend)
    if spec.backend == "hnswlib":
        request.getfixturevalue("hnswlib")
    url = request.getfixturevalue(f"{spec.backend}_url") if cls.remote else None
    backend = cls(BackendConfig(url=url, owner="conformance-filter"))
    documents, _ = corpus(spec.family)
    handle = backend.build(spec, documents, tmp_path)
    try:
        for params in params_of(spec):
            every = replace(params, k=DOCUMENTS, filter=None)
            if spec.kind != "hnsw":
                whole = answers(backend, handle, every, spec.family)
            # one search of each kind costs an engine what the others do
            for filter_ in FILTERS[::3] if cls.remote else FILTERS:
                given = answers(backend, handle, replace(params, filter=filter_), spec.family)
                if spec.kind == "hnsw":
                    check_graph(spec, filter_, given)
                else:
                    check(spec, filter_, given, whole)
    finally:
        backend.drop(handle)


def check(spec, filter_, given, whole):
    passing = passes(filter_)
    for few, all_ in zip(given, whole, strict=True):
        kept = [
            (ordinal, score)
            for ordinal, score in zip(all_.ordinals.tolist(), all_.scores.tolist(), strict=True)
            if ordinal in passing
        ]
        if spec.backend == "faiss":  # which of equals at the boundary it gives is its own
            assert few.scores.tolist() == pytest.approx([score for _, score in kept[:K]])
            assert set(few.ordinals.tolist()) <= passing
        else:
            assert few.ordinals.tolist() == [ordinal for ordinal, _ in kept[:K]]
            assert few.scores.tolist() == pytest.approx([score for _, score in kept[:K]], rel=1e-6)


def check_graph(spec, filter_, given):
    documents, queries = (what.fingerprints for what in corpus(spec.family))
    passing = sorted(row for row in passes(filter_) if documents.status[row] == Status.OK)
    found = wanted = 0
    for row, hits in enumerate(given):
        assert set(hits.ordinals.tolist()) <= set(passing)
        if queries.status[row] != Status.OK or not passing:
            continue
        scores = similarities(spec, row)
        nearest = np.sort(scores[passing])[::-1][:K]
        found += sum(scores[hits.ordinals] >= nearest[-1] - 1e-6)
        wanted += len(nearest)
    # of many equal codes, a graph does not reach all
    assert found >= 0.8 * wanted


@pytest.mark.parametrize("spec", [s for s in CELLS if s.backend in ("exact", "opensearch")][:2])
def test_what_the_index_does_not_hold_is_refused(spec):
    params = replace(params_of(spec)[0], filter=Filter("size", value="L"))
    told = registry.backend(spec.backend).impossible(spec, params)
    assert told == (
        "a filter reads size as keyword, and of attributes the index holds colour as keyword, "
        "price in € as double"
    )


def test_multihash_of_faiss_has_none(tmp_path):
    spec = IndexSpec(
        "faiss", "multihash", "simhash", TABLES, (LENGTH,), BITS, attributes=ATTRIBUTES
    )
    backend = registry.backend("faiss")(BackendConfig())
    documents, queries = corpus("simhash")
    handle = backend.build(spec, documents, tmp_path)
    params = SearchParams(K, TABLES, LENGTH, filter=FILTERS[0])
    with pytest.raises(SettingError, match="multihash of faiss answers without a filter"):
        backend.open(handle, params, queries, documents.ids)
