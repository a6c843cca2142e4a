"""What every backend keeps to, for each kind and family that it says it can search.

The cells are found, not listed: every backend, kind and family that is not `impossible`, with
every vector type and library of graphs that an engine's own vector search has.
Answers are expected by definition: sets, a table of edit distances, float64 cosines. A graph may
miss some: of its answers the form, the scores and the share that it finds are looked at.
"""

from __future__ import annotations

import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from harness.bench import matrix
from harness.settings import TEXT_KINDS
from indexers import registry
from indexers.errors import SettingError
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import HashParams, Status, TableSize

TABLES, LENGTHS = 4, (4, 7)
DIMENSION = 144
TEXT_BITS, VECTOR_BITS = 64, 72  # the second is no whole number of 64-bit words
DOCUMENTS, QUERIES = 120, 16
OWNER, OTHER_OWNER = "conformance-test", "conformance-test-other"
# which of the documents at the boundary FAISS gives is its own
BOUNDARY_IS_OWN = ("faiss",)
APPROXIMATE = "hnsw"
LEAST_RECALL, WIDE = 0.95, 400
VECTOR_TYPES = ("bit", "float", "byte", "int8", "int4", "bbq")
TYPED = ("simhash", "bge")  # a code and a vector: of the others, types hold nothing else
# How far the score of a rounded vector may be from its cosine (measured: 0.009, 0.005, 0.042),
# and the share of the nearest that must be found (0.99, 0.93, 0.80, 0.73, of the nearest one).
ROUNDED = {"byte": 0.02, "int8": 0.01, "int4": 0.08}
RECALL_ROUNDED = {"byte": 0.9, "int8": 0.85, "int4": 0.65, "bbq": 0.6}


def bits_of(family):
    if "bits" not in family.forms:
        return None
    bits = TEXT_BITS if family.source == "text" else VECTOR_BITS
    try:
        family.check(TableSize(TABLES, max(LENGTHS)), hash_params(family, bits))
    except SettingError:  # it has widths of its own
        return family.sweep(DIMENSION).bits
    return bits


def hash_params(family, bits):
    return HashParams(
        bits=bits or 0,
        seed=123,
        signatures="signature" in family.forms,
        dimension=DIMENSION if family.source == "vector" else None,
    )


def spec_of(backend, kind, family_name):
    """The largest index of the kind."""
    if family_name is None:
        return IndexSpec(backend, kind)
    bits = bits_of(registry.family(family_name))
    lengths = {"lsh": LENGTHS, "multihash": LENGTHS[-1:]}.get(kind, ())
    return IndexSpec(backend, kind, family_name, TABLES if lengths else None, lengths, bits)


def params_of(spec):
    """Every way to search it that its backend says exists, the default first."""
    reranks = registry.family(spec.family).reranks if spec.family else ("code",)
    sizes = [(None, None)]
    if spec.num_tables:
        sizes = [(t, h) for t in (TABLES, 3, 1) for h in sorted(spec.hash_lengths, reverse=True)]
    widths = (WIDE, 10) if spec.kind == APPROXIMATE else (None,)
    asked = [
        SearchParams(10, t, h, rerank, width)
        for rerank in reranks
        for t, h in sizes
        for width in widths
    ]
    return [p for p in asked if registry.backend(spec.backend).impossible(spec, p) is None]


def cells():
    found = []
    for backend in registry.backend_names():
        for kind in registry.backend(backend).kinds:
            names = (None,) if kind in TEXT_KINDS else registry.family_names()
            found += [s for name in names if params_of(s := spec_of(backend, kind, name))]
    return found + [s for spec in found for s in typed(spec)]


def typed(spec):
    """The same index as every vector type, and by every library that needs nothing native."""
    if spec.family not in TYPED:
        return []
    variants = [replace(spec, vector_type=name) for name in VECTOR_TYPES]
    variants.append(replace(spec, knn_engine="lucene"))
    return [s for s in variants if params_of(s)]


def own_search(spec):
    """Whether an engine's own vector search ranks: which of equals it gives is its own."""
    return spec.vector_type is not None or spec.kind == APPROXIMATE


def approximate(spec):
    """Whether it may miss some: a graph, or vectors that are rounded."""
    return spec.kind == APPROXIMATE or spec.vector_type not in (None, "bit", "float")


CELLS = cells()
BY_FINGERPRINT = [spec for spec in CELLS if spec.family]
BY_TEXT = [spec for spec in CELLS if not spec.family]


def cell_id(spec):
    held = (spec.backend, spec.kind, spec.family, spec.vector_type, spec.knn_engine)
    return "-".join(str(name) for name in held if name)


def texts(count, seed):
    """Texts of few and of many words: near-duplicates, equal ones, and some without a character."""
    rng = np.random.default_rng(seed)
    syllables = ["la", "mo", "ri", "tek", "su", "no", "va", "pel", "qui", "dra"]
    words = [a + b for a in syllables for b in syllables]
    drafts = np.random.default_rng(7)  # documents and queries are edits of the same drafts
    drafts = [drafts.choice(words, drafts.choice([3, 5, 60, 90])) for _ in range(12)]
    made = []
    for _ in range(count):
        text = drafts[rng.integers(len(drafts))].copy()
        for _ in range(rng.choice([0, 0, 1, 4])):
            text[rng.integers(len(text))] = rng.choice(words)
        made.append(" ".join(text))
    return ["" if i % 17 == 5 else text for i, text in enumerate(made)]


def vectors(count, seed):
    """Vectors near a few others, some of them equal, and some zero."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(12, DIMENSION))
    made = centres[rng.integers(len(centres), size=count)]
    made += rng.choice([0, 0.1, 0.8], (count, 1)) * rng.normal(size=made.shape)
    made[5::17] = 0
    return made.astype(np.float32)


def hashed(family, items):
    size = TableSize(TABLES, max(LENGTHS))
    return family.hasher(size, hash_params(family, bits_of(family)))(items)


@cache
def corpus(family_name):
    """Documents and queries of this family; of no family, those of text indexes."""
    ids = [f"d{i:04}" for i in range(DOCUMENTS)]
    document_texts, query_texts = texts(DOCUMENTS, seed=1), texts(QUERIES, seed=2)
    if family_name is None:
        return Documents(ids, document_texts, None), Queries(query_texts, None)
    family = registry.family(family_name)
    of_documents, of_queries = document_texts, query_texts
    if family.source == "vector":
        of_documents, of_queries = vectors(DOCUMENTS, seed=1), vectors(QUERIES, seed=2)
    return (
        Documents(ids, document_texts, hashed(family, of_documents)),
        Queries(query_texts, hashed(family, of_queries)),
    )


def made(request, name, owner=OWNER):
    cls = registry.backend(name)
    if name == "hnswlib":
        request.getfixturevalue("hnswlib")
    url = request.getfixturevalue(f"{name}_url") if cls.remote else None
    return cls(BackendConfig(url=url, owner=owner))


@dataclass
class Index:
    backend: object
    spec: IndexSpec
    handle: object
    documents: Documents
    queries: Queries

    def answers(self, params):
        searcher = self.backend.open(self.handle, params, self.queries, self.documents.ids)
        hits = [searcher.search(row) for row in range(QUERIES)]
        searcher.close()
        return hits

    def check(self, params):
        found = self.answers(params)
        wanted = [expected(self.spec, params, row) for row in range(QUERIES)]
        check_one = check_graph_answer if approximate(self.spec) else check_answer
        for hits, best in zip(found, wanted, strict=True):
            check_one(self.spec, params, hits, best)
        if approximate(self.spec) and params.ef_search in (None, WIDE):
            least = RECALL_ROUNDED.get(self.spec.vector_type, LEAST_RECALL)
            assert recall(params.k, found, wanted) >= least
        return found


@pytest.fixture(scope="module")
def index(request, tmp_path_factory):
    """One built index a cell, shared by its tests; the parameter is its spec."""
    spec = request.param
    backend = made(request, spec.backend)
    documents, queries = corpus(spec.family)
    handle = backend.build(spec, documents, tmp_path_factory.mktemp(cell_id(spec)))
    yield Index(backend, spec, handle, documents, queries)
    backend.drop(handle)
    backend.sweep()


def prefixes(fingerprints, table, length):
    """The first atoms of every document's key: text of bits, or tuple of rows."""
    columns = fingerprints.keys[table].T.tolist()
    if fingerprints.atom == "row":
        return [tuple(words[:length]) for words in columns]
    return ["".join(f"{word:032b}" for word in words)[:length] for words in columns]


def sets(ragged):
    return [set(ragged.take(np.array([i])).values.tolist()) for i in range(len(ragged))]


def words_of(ragged):
    return [ragged.take(np.array([i])).values.tobytes() for i in range(len(ragged))]


@cache
def candidates(spec, num_tables, length, query):
    """Which documents this kind looks at, by the definition."""
    docs, queries = (what.fingerprints for what in corpus(spec.family))
    if spec.kind in ("flat", APPROXIMATE):
        return range(len(docs))
    if spec.kind == "tokens":
        mine = sets(queries.hashes)[query]
        return [d for d, other in enumerate(sets(docs.hashes)) if mine & other]
    if spec.kind == "lsh":
        found = set()
        for table in range(num_tables):
            mine = prefixes(queries, table, length)[query]
            found |= {d for d, key in enumerate(prefixes(docs, table, length)) if key == mine}
        return sorted(found)
    assert spec.kind == "multihash"
    # FAISS reads a code from the least significant bit of its first byte on
    used = num_tables * length
    bits = np.unpackbits(docs.codes, axis=1, bitorder="little")[:, :used]
    mine = np.unpackbits(queries.codes[query], bitorder="little")[:used]
    same = (bits == mine).reshape(len(docs), num_tables, length).all(axis=2).any(axis=1)
    return np.flatnonzero(same).tolist()


@cache
def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
    return row[-1]


@cache
def similarities(family_name, rerank, query):
    """Of every document to the query, by the definition."""
    docs, queries = (what.fingerprints for what in corpus(family_name))
    if rerank == "code":
        return [docs.bits - int(np.unpackbits(c ^ queries.codes[query]).sum()) for c in docs.codes]
    if rerank == "signature":
        mine = queries.signatures[query].tolist()
        return [sum(a == b for a, b in zip(mine, r, strict=True)) for r in docs.signatures.tolist()]
    if rerank == "jaccard":
        mine = sets(queries.hashes)[query]
        return [len(mine & other) / max(len(mine | other), 1) for other in sets(docs.hashes)]
    if rerank == "levenshtein":
        mine = words_of(queries.strings)[query]
        return [1 / (1 + edit_distance(mine, other)) for other in words_of(docs.strings)]
    assert rerank == "cosine"
    mine, others = queries.vectors[query].astype(float), docs.vectors.astype(float)
    lengths = np.linalg.norm(others, axis=1) * np.linalg.norm(mine)
    return (others @ mine / np.where(lengths == 0, 1, lengths)).tolist()


def expected(spec, params, query):
    """Every candidate that is OK as (−score, ordinal), best first."""
    docs, queries = (what.fingerprints for what in corpus(spec.family))
    if queries.status[query] != Status.OK:
        return []
    scores = similarities(spec.family, params.rerank, query)
    able = candidates(spec, params.num_tables, params.hash_length, query)
    return sorted((-scores[d], d) for d in able if docs.status[d] == Status.OK)


def tolerance(spec, params):
    """Engines keep scores as float32; sums of products depend on their order."""
    if params.rerank in ("code", "signature"):
        return 0
    if registry.backend(spec.backend).remote:
        return ROUNDED.get(spec.vector_type, 1e-6)
    return 1e-12 if params.rerank == "cosine" else 0


def in_form(hits):
    """The answers as (−score, ordinal), which come by it, each once."""
    assert hits.ordinals.dtype == np.int32
    assert hits.scores.dtype == np.float64
    given = list(zip((-hits.scores).tolist(), hits.ordinals.tolist(), strict=True))
    assert given == sorted(given)
    assert len({ordinal for _, ordinal in given}) == len(given)
    return given


def check_graph_answer(spec, params, hits, wanted):
    """Documents that are OK with their own scores, no more than were asked for."""
    given, score_of = in_form(hits), {d: score for score, d in wanted}
    assert len(given) <= params.k
    assert [s for s, _ in given] == pytest.approx(
        [score_of[d] for _, d in given], abs=tolerance(spec, params), rel=0
    )


def recall(k, found, wanted):
    """Share of the k best that were found, over all queries; ties with the k-th count."""
    hit = asked = 0
    for hits, best in zip(found, wanted, strict=True):
        if best:
            last, score_of = best[:k][-1][0] + 1e-6, {d: score for score, d in best}
            hit += sum(score_of[d] <= last for d in hits.ordinals.tolist())
            asked += len(best[:k])
    return hit / asked


def check_answer(spec, params, hits, wanted):
    given = in_form(hits)
    ordinals = hits.ordinals.tolist()
    near = tolerance(spec, params)
    best = wanted[: params.k]
    assert [s for s, _ in given] == pytest.approx([s for s, _ in best], abs=near, rel=0)
    own = spec.backend in BOUNDARY_IS_OWN or own_search(spec)
    if not own and params.rerank != "cosine":
        assert ordinals == [d for _, d in best]
        return
    score_of = {d: score for score, d in wanted}
    assert [s for s, _ in given] == pytest.approx([score_of[d] for d in ordinals], abs=near, rel=0)
    if best:  # what is nearer than the last is there
        assert {d for score, d in wanted if score < best[-1][0] - 2 * near} <= set(ordinals)


@pytest.mark.parametrize("name", registry.backend_names())
def test_says_what_it_is(name, request):
    cls = registry.backend(name)
    assert cls.name == name
    assert cls.kinds
    assert made(request, name).check().version


@pytest.mark.parametrize("name", registry.backend_names())
def test_names_a_kind_that_it_has_not(name):
    spec = IndexSpec(name, "no-such-kind", "simhash", 4, (4,), TEXT_BITS)
    assert "no-such-kind" in registry.backend(name).impossible(spec, SearchParams(1, 4, 4))


def test_the_printed_matrix_is_what_runs_here():
    printed = {(c.backend, c.kind, c.family) for c in matrix.cells() if c.reason is None}
    assert printed == {(spec.backend, spec.kind, spec.family) for spec in BY_FINGERPRINT}


@pytest.mark.parametrize("name", registry.backend_names())
def test_every_kind_of_it_searches_something(name):
    found = {spec.kind for spec in CELLS if spec.backend == name}
    assert found == set(registry.backend(name).kinds)


@pytest.mark.parametrize("name", [n for n in registry.family_names() if registry.family(n).kinds])
def test_every_family_that_can_be_searched_is_searched(name):
    kinds = {spec.kind for spec in CELLS if spec.family == name}
    assert kinds >= {kind for kind in registry.family(name).kinds if kind != "multihash"}


@pytest.mark.parametrize("name", registry.backend_names())
@pytest.mark.parametrize("family_name", registry.family_names())
def test_what_does_not_exist_has_a_reason_in_one_line(name, family_name):
    cls = registry.backend(name)
    for kind in (*cls.kinds, "tokens", "flat"):
        for rerank in ("code", "signature", "jaccard", "levenshtein", "cosine"):
            spec = spec_of(name, kind, family_name)
            lengths = spec.hash_lengths
            params = SearchParams(1, spec.num_tables, max(lengths) if lengths else None, rerank)
            reason = cls.impossible(spec, params)
            assert reason is None or (reason and "\n" not in reason)


@pytest.mark.parametrize("index", BY_FINGERPRINT, indirect=True, ids=cell_id)
def test_answers_by_definition(index, request):
    handle = pickle.loads(pickle.dumps(index.handle))
    assert handle.spec == index.spec
    status = index.documents.fingerprints.status
    assert handle.documents == np.count_nonzero(status == Status.OK)
    assert handle.size_bytes > 0
    assert handle.build_s > 0
    params = params_of(index.spec)[0]
    index.check(params)
    other = made(request, index.spec.backend)
    elsewhere = Index(other, index.spec, handle, index.documents, index.queries)
    assert any(len(hits.ordinals) for hits in elsewhere.check(params))


@pytest.mark.parametrize("index", BY_FINGERPRINT, indirect=True, ids=cell_id)
def test_one_index_serves_every_setting_that_it_says(index):
    for params in params_of(index.spec)[1:]:
        index.check(params)
        assert 0 < index.backend.size_bytes(index.handle, params) <= index.handle.size_bytes


@pytest.mark.parametrize("index", BY_FINGERPRINT, indirect=True, ids=cell_id)
@pytest.mark.parametrize("k", [1, 400])
def test_fewer_and_more_answers_asked_for_than_there_are(index, k):
    first = params_of(index.spec)[0]
    index.check(replace(first, k=k))


@pytest.mark.parametrize("index", BY_FINGERPRINT, indirect=True, ids=cell_id)
def test_several_threads_get_the_same_answers(index):
    params = params_of(index.spec)[0]
    searcher = index.backend.open(index.handle, params, index.queries, index.documents.ids)
    rows = list(range(QUERIES)) * 4
    alone = [searcher.search(row).ordinals.tolist() for row in rows]
    with ThreadPoolExecutor(4) as pool:
        together = [hits.ordinals.tolist() for hits in pool.map(searcher.search, rows)]
    searcher.close()
    assert together == alone


@pytest.mark.parametrize(
    "spec",
    [
        spec
        for spec in BY_FINGERPRINT
        if spec.kind == APPROXIMATE and not registry.backend(spec.backend).remote
    ],
    ids=cell_id,
)
def test_a_graph_is_the_same_each_time_it_is_built(spec, request, tmp_path):
    backend = made(request, spec.backend)
    documents, _ = corpus(spec.family)
    files = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        backend.build(spec, documents, folder)
        files.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert files[0] == files[1]


@pytest.mark.parametrize("spec", BY_FINGERPRINT, ids=cell_id)
def test_an_index_without_documents_answers_nothing_and_leaves_nothing(spec, request, tmp_path):
    backend = made(request, spec.backend, OTHER_OWNER)
    family = registry.family(spec.family)
    nothing = np.zeros((2, DIMENSION), np.float32) if family.source == "vector" else ["", " "]
    documents = Documents(["a", "b"], ["", " "], hashed(family, nothing))
    _, queries = corpus(spec.family)
    handle = backend.build(spec, documents, tmp_path)
    assert handle.documents == 0
    index = Index(backend, spec, handle, documents, queries)
    assert not any(len(hits.ordinals) for hits in index.answers(params_of(spec)[0]))
    backend.drop(handle)
    backend.drop(handle)
    assert not tmp_path.exists() or not any(tmp_path.iterdir())
    assert backend.sweep() == []


@pytest.mark.parametrize("index", BY_TEXT, indirect=True, ids=cell_id)
def test_texts_that_share_words_are_found(index):
    found = index.answers(params_of(index.spec)[0])
    for text, hits in zip(index.queries.texts, found, strict=True):
        assert (len(hits.ordinals) > 0) == bool(text)
        assert (np.diff(hits.scores) <= 0).all()
        features = shingles if index.spec.kind == "min_hash" else words
        shared = [features(text) & features(index.documents.texts[d]) for d in hits.ordinals]
        assert all(shared)


def words(text):
    return set(re.findall(r"\w+", text))


def shingles(text):
    return {text[i : i + 3] for i in range(len(text) - 2)}
