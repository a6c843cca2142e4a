"""Both engines on real nodes: answers against brute force, and every way to break a build."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from indexers import registry
from indexers.backends import _engine_bulk as bulk
from indexers.backends import _engine_chunks as chunks
from indexers.backends import _engine_sending as sending
from indexers.errors import BackendError, EngineUnavailable, IndexMissing
from indexers.index_types import (
    BackendConfig,
    Documents,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
)
from indexers.types import Fingerprints, Ragged

pytestmark = pytest.mark.engine
OWNER = f"test-{os.getpid()}"
N, TABLES = 300, 6


def fingerprints(n, atom="bit", bits=128, seed=1):
    """Few different codes and keys, so that scores and tokens tie."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (12, bits // 8), dtype=np.uint8)[rng.integers(0, 12, n)]
    codes[:, 0] = rng.integers(0, 4, n)
    words = 1 if atom == "bit" else 3
    keys = rng.integers(0, 2**32 if atom == "bit" else 2, (TABLES, words, n), dtype=np.uint32)
    status = (rng.random(n) < 0.1).astype(np.uint8)
    return Fingerprints(status, codes, keys, atom)


def identifiers(n):
    """Ids in code point order, which is not UTF-16's."""
    return sorted(["", "\uffee", "\U0001f600", 'quote"d', *(f"doc-{i}" for i in range(n - 4))])


def documents(n=N, **more):
    return Documents(identifiers(n), ["some text"] * n, fingerprints(n, **more))


def prefix(made, table, row, length):
    words = [int(word) for word in made.keys[table, :, row]]
    if made.atom == "row":
        return tuple(words[:length])
    return "".join(f"{word:032b}" for word in words)[:length]


def brute_force(docs, queries, query, k, num_tables=None, length=None):
    """Ids aside, by the definition: (score falling, ordinal rising) over all or over candidates."""
    asked = int.from_bytes(queries.codes[query].tobytes())
    scored = []
    for row in range(len(docs)):
        meets = num_tables is None or any(
            prefix(docs, t, row, length) == prefix(queries, t, query, length)
            for t in range(num_tables)
        )
        if docs.status[row] == 0 and meets:
            distance = (int.from_bytes(docs.codes[row].tobytes()) ^ asked).bit_count()
            scored.append((-(docs.bits - distance), row))
    best = sorted(scored)[:k]
    return [row for _, row in best], [float(-score) for score, _ in best]


def build(backend, tmp_path, spec, docs, progress=lambda _: None):
    return backend.build(spec, docs, tmp_path, progress)


def lsh(bits=128, lengths=(3, 10)):
    return IndexSpec("engine", "lsh", None, TABLES, lengths, bits)


# ---- answers


@pytest.mark.parametrize(
    ("atom", "bits", "lengths"), [("bit", 128, (2, 7)), ("row", 256, (1, 3)), ("bit", 64, (1, 32))]
)
def test_lsh_answers_are_brute_force(backend, tmp_path, atom, bits, lengths):
    docs = documents(atom=atom, bits=bits)
    asked = docs.fingerprints.take(np.arange(0, N, 11))
    counted = []
    handle = build(backend, tmp_path, lsh(bits, lengths), docs, counted.append)
    ok = int((docs.fingerprints.status == 0).sum())
    assert (handle.documents, sum(counted)) == (ok, ok)
    assert handle.size_bytes > 0
    for tables in (1, TABLES):
        for length in lengths:
            params = SearchParams(7, tables, length)
            searcher = backend.open(handle, params, Queries([], asked), docs.ids)
            for query in range(len(asked)):
                hits = searcher.search(query)
                rows, scores = brute_force(docs.fingerprints, asked, query, 7, tables, length)
                if asked.status[query]:
                    rows, scores = [], []
                assert (hits.ordinals.tolist(), hits.scores.tolist()) == (rows, scores)
            searcher.close()
    backend.drop(handle)
    backend.drop(handle)


def test_flat_answers_are_brute_force(backend, tmp_path):
    docs = documents()
    spec = IndexSpec("engine", "flat", bits=128)
    handle = build(backend, tmp_path, spec, docs)
    asked = docs.fingerprints.take(np.flatnonzero(docs.fingerprints.status == 0)[:20])
    searcher = backend.open(handle, SearchParams(50), Queries([], asked), docs.ids)
    for query in range(len(asked)):
        hits = searcher.search(query)
        rows, scores = brute_force(docs.fingerprints, asked, query, 50)
        assert (hits.ordinals.tolist(), hits.scores.tolist()) == (rows, scores)
    searcher.close()


@pytest.mark.parametrize("atom", ["bit", "row"])
def test_lsh_answers_are_those_of_tables(backend, tmp_path, atom):
    docs = documents(atom=atom)
    asked = fingerprints(40, atom, seed=2)
    tables = registry.backend("tables")(BackendConfig())
    local = tables.build(lsh(lengths=(1, 3)), docs, tmp_path)
    remote = build(backend, tmp_path, lsh(lengths=(1, 3)), docs)
    for params in (SearchParams(10, 2, 1), SearchParams(10, TABLES, 3)):
        pair = [
            each.open(handle, params, Queries([], asked), docs.ids)
            for each, handle in ((tables, local), (backend, remote))
        ]
        for query in range(len(asked)):
            one, other = (searcher.search(query) for searcher in pair)
            assert one.ordinals.tolist() == other.ordinals.tolist()
            assert one.scores.tolist() == other.scores.tolist()
        for searcher in pair:
            searcher.close()


def test_codes_of_every_byte(backend, tmp_path):
    codes = np.zeros((4, 256), np.uint8)
    codes[1], codes[2], codes[3] = range(256), range(255, -1, -1), 255
    made = Fingerprints(np.zeros(4, np.uint8), codes, np.zeros((1, 1, 4), np.uint32), "bit")
    spec = IndexSpec("engine", "flat", bits=2048)
    handle = build(backend, tmp_path, spec, Documents(["a", "b", "c", "d"], [""] * 4, made))
    searcher = backend.open(handle, SearchParams(4), Queries([], made), ["a", "b", "c", "d"])
    hits = searcher.search(1)  # half of all bits of all bytes are 1, and b and c are complements
    assert hits.ordinals.tolist() == [1, 0, 3, 2]
    assert hits.scores.tolist() == [2048, 1024, 1024, 0]
    searcher.close()


def test_wide_codes(backend, tmp_path):
    docs = documents(bits=2048)
    handle = build(backend, tmp_path, IndexSpec("engine", "flat", bits=2048), docs)
    asked = docs.fingerprints.take(np.flatnonzero(docs.fingerprints.status == 0)[:5])
    searcher = backend.open(handle, SearchParams(20), Queries([], asked), docs.ids)
    for query in range(5):
        hits = searcher.search(query)
        assert (hits.ordinals.tolist(), hits.scores.tolist()) == brute_force(
            docs.fingerprints, asked, query, 20
        )
    searcher.close()


# ---- families without a code


def plain(n, **forms):
    """Fingerprints without codes and keys, every tenth not OK."""
    status = (np.arange(n) % 10 == 3).astype(np.uint8)
    codes, keys = np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32)
    return Fingerprints(status, codes, keys, "bit", **forms)


def ragged(lists, dtype):
    indptr = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Ragged(indptr, np.array([value for part in lists for value in part], dtype))


def hash_lists(n, seed, longest=40):
    """Hashes of either sign, repeats kept; many sets have the same similarity."""
    rng = np.random.default_rng(seed)
    pool = np.random.default_rng(9).integers(0, 2**64, 3000, dtype=np.uint64).tolist()
    return [[pool[i] for i in rng.integers(0, 60, rng.integers(1, longest))] for _ in range(n)]


def ranked(similarities, k):
    """(similarity falling, ordinal rising) of what has a similarity."""
    best = sorted((-s, row) for row, s in enumerate(similarities) if s is not None)[:k]
    return [row for _, row in best], [-s for s, _ in best]


def check_answers(backend, tmp_path, spec, rerank, docs, asked, similarity, k=15):
    """Answers against the definition; a similarity of None is no candidate."""
    ids = identifiers(len(docs))
    handle = build(backend, tmp_path, spec, Documents(ids, [""] * len(docs), docs))
    searcher = backend.open(handle, SearchParams(k, rerank=rerank), Queries([], asked), ids)
    for query in range(len(asked)):
        hits = searcher.search(query)
        wanted = [
            similarity(query, row) if docs.status[row] == asked.status[query] == 0 else None
            for row in range(len(docs))
        ]
        assert (hits.ordinals.tolist(), hits.scores.tolist()) == ranked(wanted, k)
    searcher.close()
    backend.drop(handle)


@pytest.mark.parametrize("kind", ["tokens", "flat"])
def test_sets_are_ranked_by_exact_jaccard(backend, tmp_path, kind):
    lists, queries = hash_lists(N, seed=1), hash_lists(20, seed=2)
    # more hashes than a query may have clauses: these are merged, the others counted
    most = int(backend.check().facts["max_clause_count"])
    pool = np.random.default_rng(9).integers(0, 2**64, most + 99, dtype=np.uint64).tolist()
    queries[1], queries[2], lists[7] = pool[:most], pool[: most + 1], pool

    def jaccard(query, row):
        one, other = set(queries[query]), set(lists[row])
        shared = len(one & other)
        return shared / len(one | other) if shared or kind == "flat" else None

    docs = plain(N, hashes=ragged(lists, np.uint64))
    asked = plain(20, hashes=ragged(queries, np.uint64))
    spec = IndexSpec("engine", kind, "winnowing")
    check_answers(backend, tmp_path, spec, "jaccard", docs, asked, jaccard)


def edit_distance(one, other):
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


@pytest.mark.parametrize("kind", ["tokens", "flat"])
def test_strings_are_ranked_by_exact_edit_distance(backend, tmp_path, kind):
    """Lengths about the blocks of 64 characters, few characters, so that distances tie."""
    rng = np.random.default_rng(3)
    lengths = [1, 2, 63, 64, 65, 100, 127, 128, 129, 150]
    base = rng.choice(list(b"abc:/~"), 200)
    texts = []
    for i in range(120):
        text = base[: lengths[i % len(lengths)]].copy()
        text[rng.integers(0, len(text), i % 7)] = rng.integers(33, 127, i % 7)
        texts.append(np.roll(text, i % 3).tolist())
    lists = hash_lists(120, seed=4, longest=4)

    def similarity(query, row):
        if kind == "tokens" and not set(lists[query]) & set(lists[row]):
            return None
        return 1 / (1 + edit_distance(texts[query], texts[row]))

    docs = plain(120, hashes=ragged(lists, np.uint64), strings=ragged(texts, np.uint8))
    spec = IndexSpec("engine", kind, "fuzzyhash")
    asked = docs.take(np.arange(20))
    check_answers(backend, tmp_path, spec, "levenshtein", docs, asked, similarity)


OTHER_LENGTH = {
    "opensearch": "length=40 does not match the expected length=48",
    "elasticsearch": "different number of dimensions .40. than the document vectors .48.",
}


def test_vectors_are_ranked_by_cosine(backend, tmp_path):
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(N, 48))
    vectors[20] = -vectors[10]
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    docs = plain(N, vectors=vectors)
    ids = identifiers(N)
    spec = IndexSpec("engine", "flat", "bge")
    handle = build(backend, tmp_path, spec, Documents(ids, [""] * N, docs))
    asked = docs.take(np.arange(12))
    searcher = backend.open(handle, SearchParams(N, rerank="cosine"), Queries([], asked), ids)
    for query in (0, 10, 11):
        hits = searcher.search(query)
        exact = vectors.astype(np.float64) @ vectors[query].astype(np.float64)
        assert sorted(hits.ordinals.tolist()) == np.flatnonzero(docs.status == 0).tolist()
        np.testing.assert_allclose(hits.scores, exact[hits.ordinals], atol=1e-6)
        assert hits.ordinals[0] == query
        assert (np.diff(hits.scores) <= 0).all()
    assert searcher.search(3).ordinals.tolist() == []  # not OK
    searcher.close()
    other = plain(1, vectors=vectors[:1, :40])
    searcher = backend.open(handle, SearchParams(5, rerank="cosine"), Queries([], other), ids)
    with pytest.raises(BackendError, match=OTHER_LENGTH[backend.name]):
        searcher.search(0)
    searcher.close()


def test_bm25(backend, tmp_path):
    texts = ["red shoes", "red red hat", "blue hat", ""]
    ids = ["a", "b", "c", "d"]
    handle = build(backend, tmp_path, IndexSpec("engine", "bm25"), Documents(ids, texts, None))
    assert handle.documents == 4
    long = "hat " * 1500
    searcher = backend.open(
        handle, SearchParams(10), Queries(["red", "HAT", "", "green", long], None), ids
    )
    # term frequency beats, then the shorter text; "blue hat" is shorter than "red red hat"
    answers = [searcher.search(query).ordinals.tolist() for query in range(5)]
    assert answers == [[1, 0], [2, 1], [], [], [2, 1]]
    searcher.close()


def test_an_empty_index_has_no_answers(backend, tmp_path):
    docs = documents()
    docs.fingerprints.status[:] = 1
    handle = build(backend, tmp_path, lsh(), docs)
    asked = fingerprints(3)
    asked.status[:] = 0
    searcher = backend.open(handle, SearchParams(5, TABLES, 3), Queries([], asked), docs.ids)
    assert searcher.search(0).ordinals.tolist() == []
    assert handle.documents == 0
    searcher.close()


def test_what_is_built(backend, tmp_path, node):
    handle = build(backend, tmp_path, lsh(), documents())
    assert backend.segments(handle).count(":") == 2  # one segment
    assert backend.segments(handle) == backend.segments(handle)
    stored = node("GET", f"/{handle.location}/_settings")[handle.location]["settings"]["index"]
    assert stored["queries"]["cache"]["enabled"] == "false"
    assert stored["requests"]["cache"]["enable"] == "false"
    hit = node("GET", f"/{handle.location}/_search?size=1")["hits"]["hits"][0]
    assert "_source" not in hit


def test_its_size_is_that_without_a_hidden_copy_of_the_documents(backend, tmp_path, node):
    """Elasticsearch cannot do without the copy; OpenSearch can."""
    texts = ["".join(f" word{(i * j) % 997}" for j in range(60)) for i in range(N)]
    bm25 = IndexSpec("engine", "bm25")
    handle = build(backend, tmp_path, bm25, Documents(identifiers(N), texts, None))
    stored = node("GET", f"/{handle.location}/_stats/store")
    whole = stored["_all"]["primaries"]["store"]["size_in_bytes"]
    if backend.name == "opensearch":
        assert handle.size_bytes == whole
        return
    usage = node("POST", f"/{handle.location}/_disk_usage?run_expensive_tasks=true")
    copy = usage[handle.location]["fields"]["_recovery_source"]["total_in_bytes"]
    assert copy > 10_000
    assert handle.size_bytes == whole - copy


# ---- bulk


def test_refused_documents_are_named_and_nothing_stays(backend, tmp_path, node, monkeypatch):
    original = bulk.tails

    def spoiled(*arguments):
        tails = original(*arguments)
        tails[2] = tails[2].replace(b'"c":', b'"unmapped":')
        return tails

    monkeypatch.setattr(bulk, "tails", spoiled)
    docs = documents()
    third = docs.ids[int(np.flatnonzero(docs.fingerprints.status == 0)[2])]
    with pytest.raises(BackendError) as caught:
        build(backend, tmp_path, lsh(), docs)
    told = str(caught.value)
    assert told.startswith(f"1 document could not be indexed ({third!r}): ")
    assert "strict_dynamic_mapping_exception" in told
    assert node.indices(f"harness-{OWNER}-*") == []


def test_ctrl_c_leaves_nothing(backend, tmp_path, node):
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(backend, tmp_path, lsh(), documents(5000), interrupt)
    time.sleep(0.5)  # a late bulk request would bring the index back
    assert node.indices(f"harness-{OWNER}-*") == []


# ---- indices of other people


def test_other_people_s_indices_stay(backend, tmp_path, node):
    meta = {"_meta": {"harness": {"owner": f"{OWNER}-b", "created": "now"}}}
    theirs = [
        f"harness-{OWNER}-0123abcd",
        f"harness-{OWNER}-notours",
        f"harness-{OWNER}-b-0123abcd",
    ]
    node("PUT", f"/{theirs[0]}", {"mappings": meta})
    node("PUT", f"/{theirs[1]}", {"settings": {"number_of_replicas": 0}})
    node("PUT", f"/{theirs[2]}", {"mappings": meta})
    try:
        handle = build(backend, tmp_path, lsh(), documents())
        assert backend.sweep() == [handle.location]
        assert node.indices(f"harness-{OWNER}-*") == sorted(theirs)
        for name in theirs:
            with pytest.raises(BackendError, match="is not removed"):
                backend.drop(IndexHandle(lsh(), name, 0, 0, 0.0))
        assert node.indices(f"harness-{OWNER}-*") == sorted(theirs)
    finally:
        for name in theirs:
            node("DELETE", f"/{name}")


# ---- a cluster in a bad state


def test_yellow_is_a_warning_and_red_an_error(owned, own_node, tmp_path):
    backend = owned(own_node)
    own_node("PUT", "/other", {"settings": {"number_of_replicas": 1}})
    try:
        assert "yellow" in backend.check().warnings[0]
        backend.drop(build(backend, tmp_path, lsh(), documents()))
        own_node("DELETE", "/other")
        nowhere = {"index.routing.allocation.require._name": "nobody", "number_of_replicas": 0}
        own_node("PUT", "/other?wait_for_active_shards=0", {"settings": nowhere})
        with pytest.raises(EngineUnavailable, match="is red"):
            backend.check()
    finally:
        own_node("DELETE", "/other")
    assert backend.check().warnings == ()


def test_an_index_that_never_becomes_green(owned, own_node, tmp_path):
    nowhere = {"persistent": {"cluster.routing.allocation.enable": "none"}}
    own_node("PUT", "/_cluster/settings", nowhere)
    try:
        with pytest.raises(EngineUnavailable, match="did not become green in 1 s"):
            build(owned(own_node, timeout_s=1), tmp_path, lsh(), documents())
    finally:
        nowhere["persistent"]["cluster.routing.allocation.enable"] = None
        own_node("PUT", "/_cluster/settings", nowhere)
    assert own_node.indices("harness-*") == []


def test_a_read_only_cluster_says_so(owned, own_node, tmp_path):
    block = "cluster.blocks.read_only"
    own_node("PUT", "/_cluster/settings", {"transient": {block: True}})
    try:
        with pytest.raises(BackendError) as caught:
            build(owned(own_node), tmp_path, lsh(), documents())
    finally:
        own_node("PUT", "/_cluster/settings", {"transient": {block: None}})
    assert "cluster_block_exception" in str(caught.value)
    assert "it is read-only: clear index.blocks" in str(caught.value)


def test_an_index_that_turns_read_only_says_so(owned, own_node, tmp_path, monkeypatch):
    for name in ("START_BYTES", "MOST_BYTES"):  # so that there is more to send after the first
        monkeypatch.setattr(f"indexers.backends._engine_chunks.{name}", 64 << 10)

    def lock(_):
        (name,) = own_node.indices("harness-*")
        own_node("PUT", f"/{name}/_settings", {"index.blocks.write": True})

    with pytest.raises(BackendError, match="read-only") as caught:
        build(owned(own_node), tmp_path, lsh(), documents(9000), lock)
    assert "documents could not be indexed" in str(caught.value)
    assert own_node.indices("harness-*") == []


def breaker(node, limit):
    """What the requests under way may take; this setting itself is always let through."""
    node(
        "PUT",
        "/_cluster/settings",
        {"transient": {"network.breaker.inflight_requests.limit": limit}},
    )


def test_bulk_waits_for_a_server_that_refuses_with_429(owned, own_node, tmp_path):
    lifted = threading.Timer(0.5, lambda: breaker(own_node, None))

    def trip(_):
        if not lifted.is_alive() and not lifted.finished.is_set():
            breaker(own_node, "10b")
            lifted.start()

    backend, docs = owned(own_node), documents(9000)
    handle = build(backend, tmp_path, lsh(), docs, trip)
    lifted.join()
    assert handle.documents == int((docs.fingerprints.status == 0).sum())
    backend.drop(handle)


def test_a_breaker_that_trips_is_told_and_the_next_search_goes_on(owned, own_node, tmp_path):
    backend, docs = owned(own_node), documents()
    handle = build(backend, tmp_path, lsh(), docs)
    asked = docs.fingerprints.take(np.flatnonzero(docs.fingerprints.status == 0)[:1])
    searcher = backend.open(handle, SearchParams(5, TABLES, 3), Queries([], asked), docs.ids)
    before = searcher.search(0).ordinals.tolist()
    breaker(own_node, "10b")
    try:
        with pytest.raises(BackendError, match="circuit_breaking_exception"):
            searcher.search(0)
    finally:
        breaker(own_node, None)
    assert searcher.search(0).ordinals.tolist() == before
    searcher.close()
    backend.drop(handle)


def test_an_index_that_someone_removed_says_so(backend, node, tmp_path):
    docs = documents()
    handle = build(backend, tmp_path, lsh(), docs)
    asked = docs.fingerprints.take(np.flatnonzero(docs.fingerprints.status == 0)[:1])
    searcher = backend.open(handle, SearchParams(5, TABLES, 3), Queries([], asked), docs.ids)
    node("DELETE", f"/{handle.location}")
    with pytest.raises(IndexMissing, match="is gone: someone removed it"):
        searcher.search(0)
    searcher.close()
    assert backend.state(handle) == ""
    backend.drop(handle)


def test_a_node_killed_during_bulk_and_brought_back(owned, own_node, tmp_path, monkeypatch):
    monkeypatch.setattr(sending, "ANSWER_AFTER_S", (0.1, 0.1))
    monkeypatch.setattr(chunks, "START_BYTES", 1 << 16)
    backend = owned(own_node, patience_s=1)
    killed = []

    def kill(_):
        if not killed:
            killed.append(True)
            own_node.kill()

    with pytest.raises(EngineUnavailable, match="no answer from"):
        build(backend, tmp_path, lsh(), documents(9000), kill)
    with pytest.raises(EngineUnavailable, match="is the server running"):
        backend.sweep()
    own_node.bring_back()
    assert len(backend.sweep()) == 1
    assert backend.sweep() == []
