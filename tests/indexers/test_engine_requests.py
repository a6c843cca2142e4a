"""What goes over the wire to both engines alike, and what is made of their replies."""

from __future__ import annotations

import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers import atoms, registry
from indexers.address import address
from indexers.backends import _engine_admin as admin
from indexers.backends import _engine_bulk as bulk
from indexers.backends import _engine_chunks as chunks
from indexers.backends import _engine_merge as merging
from indexers.backends import _engine_sending as sending
from indexers.backends import _engine_temporary as temporary
from indexers.backends._engine_errors import Refused, reason, refusal
from indexers.backends._engine_fields import settings_of, token_lists
from indexers.backends._engine_layout import properties
from indexers.backends._engine_queries import terms
from indexers.backends._engine_search import EngineSearcher, bodies
from indexers.backends._engine_sets import MERGING
from indexers.backends._engine_sets import bodies as sets_bodies
from indexers.backends._engine_strings import SCRIPT as LEVENSHTEIN
from indexers.backends._engine_text import text_bodies
from indexers.errors import BackendError, EngineUnavailable, SettingError
from indexers.http_request import HttpRequest
from indexers.index_types import (
    BackendConfig,
    Documents,
    IndexHandle,
    IndexSpec,
    Layout,
    Queries,
    SearchParams,
)
from indexers.types import Fingerprints, Ragged

URL = "http://127.0.0.1:1"
LSH = IndexSpec("engine", "lsh", "simhash", 2, (6, 8), 128)
FLAT = IndexSpec("engine", "flat", "simhash", bits=64)
BM25 = IndexSpec("engine", "bm25")
ROWS = IndexSpec("engine", "lsh", "minhash", 2, (2,), 128)
TOKENS = IndexSpec("engine", "tokens", "winnowing")
SETS = IndexSpec("engine", "flat", "winnowing")
STRINGS = IndexSpec("engine", "tokens", "fuzzyhash")
BGE = IndexSpec("engine", "flat", "bge")

FINGERPRINTS = Fingerprints(
    status=np.zeros(2, np.uint8),
    codes=np.zeros((2, 16), np.uint8),
    keys=np.array([[[0xABCDEF01, 0x01000000]], [[0x00FFFFFF, 0xFF000000]]], np.uint32),
    atom="bit",
)


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine(request):
    """The class of either engine."""
    return registry.backend(request.param)


@pytest.fixture
def dialect(engine):
    return engine.dialect


def documents(spec=LSH, ids=("a", "b"), texts=("", "")):
    return Documents(list(ids), list(texts), None if spec.kind == "bm25" else FINGERPRINTS)


def lines(spec, docs, dialect):
    rows = bulk.indexed_rows(spec, docs)
    return [line for block in bulk.blocks(spec, docs, rows, dialect) for line in block.lines]


# ---- what is sent


def test_only_ok_documents_are_sent(dialect):
    status = np.array([1, 0], np.uint8)
    part = Fingerprints(status, FINGERPRINTS.codes, FINGERPRINTS.keys, "bit")
    made = lines(LSH, Documents(["a", "b"], ["", ""], part), dialect)
    assert [line.partition(b",")[0] for line in made] == [b'{"index":{"_id":"1"}}\n{"id":"b"']


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_tokens_are_those_of_the_contract(data):
    atom = data.draw(st.sampled_from(["bit", "row"]))
    length = data.draw(st.integers(1, 32 if atom == "bit" else 3))
    tables, n = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    words = 1 if atom == "bit" else 3
    keys = rng.integers(0, 2**32, (tables, words, n), dtype=np.uint32)
    values = atoms.prefix_values(keys, atom, length)
    for row, made in enumerate(token_lists(keys, atom, length)):
        assert orjson.loads(made.tobytes()) == [
            atoms.token(table, int(values[table, row]), atom, length) for table in range(tables)
        ]


# ---- families without a code

# Document a has the hashes 5, 2^63 + 1 (twice) and 0, b has 255: signed and ascending, a's are
# -2^63 + 1, 0 and 5. The strings are "ab" and, over two blocks of 64 characters, 64 times a and b.
LONG_TEXT = b"a" * 64 + b"b"
PLAIN = Fingerprints(
    status=np.zeros(2, np.uint8),
    codes=np.zeros((2, 0), np.uint8),
    keys=np.zeros((0, 0, 2), np.uint32),
    atom="bit",
    hashes=Ragged(np.array([0, 4, 5]), np.array([5, 2**63 + 1, 0, 2**63 + 1, 255], np.uint64)),
    strings=Ragged(np.array([0, 2, 67]), np.frombuffer(b"ab" + LONG_TEXT, np.uint8)),
    vectors=np.array([[0.6, -0.8], [0.1, 1.0]], np.float32),
)
SORTED = (
    b'{"size":10,"_source":false,"stored_fields":"_none_","track_total_hits":false%b,'
    b'"sort":[{"_script":{"type":"number","order":"desc","script":{"source":"%b",'
    b'"params":%b}}},{"id":"asc"}],"query":%b}'
)
COUNTING = b"double c = _score; return c / (doc['n'].value + params.n - c);"
ALL = b'{"match_all":{}}'
A_TOKENS = b'["8000000000000001","0000000000000000","0000000000000005"]'


def plain(spec, rerank, dialect):
    """Document lines and the bodies of the same two as queries; the server allows two clauses."""
    handle = IndexHandle(spec, "i", 2, 1, 0.0)
    two, server = replace(dialect, clause_limit=lambda _: 2), Script((200, b"{}"))
    made = bodies(handle, SearchParams(10, rerank=rerank), Queries([], PLAIN), server, two)
    return lines(spec, Documents(["a", "b"], ["", ""], PLAIN), dialect), made


def test_mappings_of_families_without_a_code(dialect):
    word = {"type": "long", "index": False, "doc_values": True}
    count = {"type": "integer", "index": False, "doc_values": True}
    string = {"type": "keyword", "index": False, "doc_values": True}
    tokens = {
        "type": "keyword",
        "norms": False,
        "doc_values": False,
        "index_options": "docs",
        "similarity": "boolean",
        "split_queries_on_whitespace": True,
    }
    docs = Documents(["a", "b"], ["", ""], PLAIN)
    assert properties(TOKENS, docs, dialect) == {"n": count, "p": word, "t": tokens}
    assert properties(SETS, docs, dialect) == {"n": count, "p": word}
    assert properties(STRINGS, docs, dialect) == {"s": string, "t": tokens}
    flat = IndexSpec("engine", "flat", "fuzzyhash")
    assert properties(flat, docs, dialect) == {"s": string}


def test_tokens_of_sets(dialect):
    sent, made = plain(TOKENS, "jaccard", dialect)
    assert sent == [
        b'{"index":{"_id":"0"}}\n{"id":"a","n":3,"p":[-9223372036854775807,0,5],"t":'
        + A_TOKENS
        + b"}\n",
        b'{"index":{"_id":"1"}}\n{"id":"b","n":1,"p":[255],"t":["00000000000000ff"]}\n',
    ]
    # one hash is counted, three are merged
    assert made[1] == SORTED % (
        b',"track_scores":true',
        COUNTING,
        b'{"n":1}',
        b'{"match":{"t":"00000000000000ff"}}',
    )
    assert made[0] == SORTED % (
        b"",
        MERGING.encode(),
        b'{"w":[-9223372036854775807,0,5]}',
        b'{"bool":{"filter":{"terms":{"t":' + A_TOKENS + b"}}}}",
    )


def test_counted_hashes_are_words_of_one_match():
    one = PLAIN.take(np.array([0]))
    (made,) = sets_bodies(one.hashes, 10, tokens=True, clauses=3)
    query = b'{"match":{"t":"8000000000000001 0000000000000000 0000000000000005"}}'
    assert made == SORTED % (b',"track_scores":true', COUNTING, b'{"n":3}', query)


def test_flat_of_sets(dialect):
    sent, made = plain(SETS, "jaccard", dialect)
    assert sent[1] == b'{"index":{"_id":"1"}}\n{"id":"b","n":1,"p":[255]}\n'
    assert made[1] == SORTED % (b"", MERGING.encode(), b'{"w":[255]}', ALL)


def test_tokens_and_flat_of_strings(dialect):
    sent, made = plain(STRINGS, "levenshtein", dialect)
    assert sent[0] == b'{"index":{"_id":"0"}}\n{"id":"a","s":"ab","t":' + A_TOKENS + b"}\n"
    eq = [0] * 128
    eq[ord("a")], eq[ord("b")] = 1, 2
    params = orjson.dumps({"eq": eq, "m": 2})
    where = b'{"bool":{"filter":{"terms":{"t":' + A_TOKENS + b"}}}}"
    assert made[0] == SORTED % (b"", LEVENSHTEIN.encode(), params, where)
    eq = [0] * 256
    eq[2 * ord("a")], eq[2 * ord("b") + 1] = -1, 1
    params = orjson.dumps({"eq": eq, "m": 65})
    _, made = plain(IndexSpec("engine", "flat", "fuzzyhash"), "levenshtein", dialect)
    assert made[1] == SORTED % (b"", LEVENSHTEIN.encode(), params, ALL)


def test_more_terms_than_a_clause_takes_are_several_clauses():
    tokens = [f"{i:x}" for i in range(65_537)]
    query = orjson.loads(terms("t", orjson.dumps(tokens)))
    clauses = query["bool"]["filter"]["bool"]["should"]
    assert [len(clause["terms"]["t"]) for clause in clauses] == [65_536, 1]
    assert [token for clause in clauses for token in clause["terms"]["t"]] == tokens
    query = orjson.loads(terms("t", orjson.dumps(tokens[:-1])))
    assert query == {"bool": {"filter": {"terms": {"t": tokens[:-1]}}}}


def test_queries_that_are_not_ok_are_not_asked(dialect):
    status = np.array([0, 2], np.uint8)
    part = replace(PLAIN, status=status)
    handle = IndexHandle(SETS, "i", 2, 1, 0.0)
    made = bodies(handle, SearchParams(10, rerank="jaccard"), Queries([], part), Script(), dialect)
    assert [body is None for body in made] == [False, True]


# ---- what a server is asked


class Script:
    """A transport that answers from a list and keeps what it was sent."""

    def __init__(self, *replies):
        self.replies, self.sent = list(replies), []

    def __call__(self, request):
        self.sent.append(request)
        return self.replies.pop(0)


def test_long_texts_are_cut_where_the_server_s_analyzer_says(dialect):
    two = replace(dialect, clause_limit=lambda _: 2)
    # an astral character counts two in Java: "😀a" ends at 3, "bb" at 6
    tokens = orjson.dumps({"tokens": [{"end_offset": 3}, {"end_offset": 6}, {"end_offset": 9}]})
    server = Script((200, b"{}"), (200, tokens))
    (body,) = text_bodies("i", 10, ["😀a bb cc"], server, two)
    assert orjson.loads(body)["query"] == {"match": {"text": "😀a bb"}}
    assert wire(server.sent[1]) == (
        "POST",
        "/i/_analyze?filter_path=tokens.end_offset",
        '{"field":"text","text":"😀a bb cc"}'.encode(),
    )


def wire(request):
    return request.method, request.target, request.body


def test_search_path():
    searcher = EngineSearcher("i", [b"x", None], ["a"], Script(), lambda: None)
    assert wire(searcher.request(0)) == (
        "POST",
        "/i/_search?allow_partial_search_results=false"
        "&filter_path=timed_out,_shards.failed,_shards.failures.reason,hits.hits.sort"
        "&preference=query-0",
        b"x",
    )
    with pytest.raises(BackendError, match="query 1 has no fingerprint"):
        searcher.request(1)
    assert searcher.search(1).ordinals.tolist() == []


# ---- what comes back


def answered(status, body):
    searcher = EngineSearcher("i", [b"x"], ["a", "b", "c"], Script((status, body)), lambda: None)
    return searcher.search(0)


def found(*pairs, **more):
    hits = {"hits": [{"sort": list(pair)} for pair in pairs]}
    return orjson.dumps({"timed_out": False, "_shards": {"failed": 0}, "hits": hits, **more})


def test_hits_keep_the_engine_s_order():
    hits = answered(200, found((128.0, "c"), (90.0, "a")))
    assert (hits.ordinals.tolist(), hits.scores.tolist()) == ([2, 0], [128.0, 90.0])
    assert (hits.ordinals.dtype, hits.scores.dtype) == (np.int32, np.float64)


def test_no_hits():
    assert answered(200, b'{"timed_out":false,"_shards":{"failed":0}}').ordinals.tolist() == []


def test_a_repeated_id_is_dropped_and_counted():
    hits = answered(200, found((9.0, "b"), (8.0, "a"), (7.0, "b")))
    assert (hits.ordinals.tolist(), hits.scores.tolist(), hits.duplicates) == ([1, 0], [9, 8], 1)


FAILED_SEARCH = {
    "error": {
        "type": "search_phase_execution_exception",
        "reason": "all shards failed",
        "failed_shards": [
            {
                "reason": {
                    "type": "script_exception",
                    "reason": "runtime error",
                    "caused_by": {"type": "null_pointer_exception", "reason": "no\nword"},
                }
            }
        ],
    }
}


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (200, found((1.0, "z")), "i answered with unknown document 'z'"),
        (200, found(timed_out=True), "the engine ran out of time searching i"),
        (500, orjson.dumps(FAILED_SEARCH), "HTTP 500 null_pointer_exception: no word"),
        (502, b"<html>\nbad gateway", "HTTP 502 <html> bad gateway"),
        (200, b"hello", "i gave no search reply, but 'hello'"),
        (200, b"{}", "i gave no search reply, but '{}'"),
        (
            200,
            found(
                _shards={
                    "failed": 1,
                    "failures": [{"reason": {"type": "t", "reason": "why"}}],
                }
            ),
            "searching i failed: t: why",
        ),
    ],
)
def test_a_bad_reply_is_one_line(status, body, told):
    with pytest.raises(BackendError) as caught:
        answered(status, body)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_reasons_are_short_and_say_what_to_do():
    blocked = {"type": "cluster_block_exception", "reason": "index [i] blocked"}
    assert reason(blocked).startswith("cluster_block_exception: index [i] blocked; it is read-only")
    assert len(reason({"type": "t", "reason": "x" * 9999})) == 300
    assert reason("plain") == "plain"
    assert "other credentials" in str(refusal("GET /", 401, b"Unauthorized"))


# ---- layouts and merging


def test_settings_of_a_layout():
    usual = settings_of(Layout())
    assert (usual["number_of_shards"], usual["number_of_replicas"]) == (1, 0)
    assert (usual["refresh_interval"], usual["translog.durability"]) == ("-1", "async")
    assert "codec" not in usual
    other = Layout(3, 2, "zstd", "5s", "request", segments=0)
    assert settings_of(other) == usual | {
        "number_of_shards": 3,
        "number_of_replicas": 2,
        "codec": "zstd",
        "refresh_interval": "5s",
        "translog.durability": "request",
    }


@pytest.mark.parametrize(
    ("replicas", "nodes", "told"),
    [
        (1, 1, "cluster has 1 data node, and each holds .* --replicas 0, or add nodes"),
        (3, 3, "cluster has 3 data nodes, and each holds .* --replicas 0 to 2, or add nodes"),
        (2, 3, None),
    ],
)
def test_replicas_need_nodes(replicas, nodes, told):
    def call(*_, **__):
        return {"number_of_data_nodes": nodes}

    if told is None:
        admin.check_replicas(call, replicas)
        return
    with pytest.raises(BackendError, match=told):
        admin.check_replicas(call, replicas)


class Merging:
    """Calls of a server that merges: what it says of the merge comes from a list."""

    def __init__(self, *replies, segments):
        self.replies, self.segments, self.asked = list(replies), list(segments), []

    def __call__(self, request, **_):
        path = request.target
        if "_forcemerge" in path:
            self.asked.append(path)
            reply = self.replies.pop(0)
            if isinstance(reply, Exception):
                raise reply
            return reply
        if "_segments" in path:
            number = self.segments.pop(0) if len(self.segments) > 1 else self.segments[0]
            shard = {"0": [{"num_search_segments": number}]}
            return {"indices": {"i": {"shards": shard}}}
        return {"_all": {"primaries": {"merges": {"current": 0}}}} if "_stats" in path else {}


def test_a_merge_is_asked_again_where_its_answer_was_lost(monkeypatch):
    monkeypatch.setattr(merging, "POLL_S", 0.01)
    gone = EngineUnavailable("no answer")
    call, told = Merging(gone, Refused("starting", 503), {}, segments=[7, 7, 1]), []
    merging.merge(call, "i", 1, told.append)
    assert call.asked == ["/i/_forcemerge?max_num_segments=1"] * 3
    assert "waiting for the server" in told


def test_a_merge_that_failed_or_came_to_nothing(monkeypatch):
    monkeypatch.setattr(merging, "POLL_S", 0.01)
    failures = [{"reason": {"type": "t", "reason": "disk full"}}]
    call = Merging({"_shards": {"failures": failures}}, segments=[3])
    with pytest.raises(BackendError, match="merging i failed: t: disk full"):
        merging.merge(call, "i", 1, lambda _: None)
    with pytest.raises(Refused, match="no right"):
        merging.merge(Merging(Refused("no right", 403), segments=[3]), "i", 1, lambda _: None)
    call = Merging({}, {}, {}, segments=[3])
    with pytest.raises(BackendError, match="i has 3 segments in a shard after merging to 2"):
        merging.merge(call, "i", 2, lambda _: None)


def test_a_server_that_stays_away_while_merging(monkeypatch):
    monkeypatch.setattr(merging, "POLL_S", 0.01)
    monkeypatch.setattr(merging, "PATIENCE_S", 0.05)

    def call(*_, **__):
        raise EngineUnavailable("no answer from x")

    with pytest.raises(EngineUnavailable, match="no answer from x"):
        merging.merge(call, "i", 1, lambda _: None)


# ---- bulk


def statuses(*codes):
    items = []
    for code in codes:
        error = {"error": {"type": "t", "reason": f"r{code}"}} if code >= 300 else {}
        items.append({"index": {"status": code, **error}})
    return {"items": items}


def run_bulk(monkeypatch, *replies):
    monkeypatch.setattr(sending, "RETRY_AFTER_S", (0.0, 0.0))
    monkeypatch.setattr(sending, "ANSWER_AFTER_S", (0.0, 0.0))
    sent, counts, left = [], [], list(replies)

    def send(body):
        sent.append(body)
        reply = left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    source = iter([bulk.Lines(["a", "b", "c"], [b"A\n", b"B\n", b"C\n"])])
    try:
        return sending.Bulk(send).run(source, counts.append), counts, sent
    except BackendError as error:
        return error, counts, sent


def test_bulk_sends_again_only_what_was_rejected(monkeypatch):
    done, counts, sent = run_bulk(monkeypatch, statuses(201, 429, 201), statuses(201))
    assert (done, counts, sent) == (3, [3], [b"A\nB\nC\n", b"B\n"])


def test_bulk_sends_all_again_in_halves_when_the_server_is_busy(monkeypatch):
    replies = Refused("busy", 429), statuses(201), statuses(201, 201)
    done, _, sent = run_bulk(monkeypatch, *replies)
    assert (done, sent) == (3, [b"A\nB\nC\n", b"A\n", b"B\nC\n"])


@pytest.mark.parametrize(
    "trouble",
    [
        EngineUnavailable("no answer"),
        Refused("HTTP 413 too large", 413),
        Refused("HTTP 503 no master", 503),
        Refused("HTTP 500 circuit_breaking_exception: data too large", 500),
    ],
)
def test_bulk_halves_what_was_too_much(monkeypatch, trouble):
    done, _, sent = run_bulk(monkeypatch, trouble, statuses(201), statuses(429, 201), statuses(200))
    assert (done, sent) == (3, [b"A\nB\nC\n", b"A\n", b"B\nC\n", b"B\n"])


def test_bulk_does_not_send_again_what_stays_wrong(monkeypatch):
    for trouble in (Refused("HTTP 404 gone", 404), Refused("HTTP 403 flood-stage", 429)):
        error, _, sent = run_bulk(monkeypatch, trouble)
        assert (error, len(sent)) == (trouble, 1)


def test_bulk_gives_up_on_a_server_that_stays_away(monkeypatch):
    gone = EngineUnavailable("no answer")
    error, counts, sent = run_bulk(monkeypatch, gone, gone, gone)
    assert (error, counts, sent) == (gone, [], [b"A\nB\nC\n", b"A\n", b"A\n"])


def test_bulk_gives_up_with_the_ids(monkeypatch):
    error, counts, sent = run_bulk(monkeypatch, *[statuses(429, 201, 201)], *[statuses(429)] * 2)
    assert str(error) == "1 document could not be indexed after 2 retries ('a'): t: r429"
    assert (counts, len(sent)) == ([], 3)


def test_bulk_names_the_ids_that_failed(monkeypatch):
    error, counts, _ = run_bulk(monkeypatch, statuses(400, 201, 400))
    assert str(error) == "2 documents could not be indexed ('a', 'c'): t: r400"
    assert counts == []


def test_bulk_reply_must_cover_all_documents(monkeypatch):
    error, _, _ = run_bulk(monkeypatch, statuses(201))
    assert str(error) == "the bulk reply has 1 items for 3 documents"


def test_nothing_leaves_after_an_error(monkeypatch):
    monkeypatch.setattr(chunks, "START_BYTES", 1)
    started, release, sent = threading.Event(), threading.Event(), []

    def send(body):
        sent.append(body)
        started.set()
        release.wait(10)
        return statuses(201)

    def source():
        yield bulk.Lines(["a"], [b"A\n"])
        started.wait(10)
        threading.Timer(0.1, release.set).start()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sending.Bulk(send).run(source(), lambda _: None)
    assert release.is_set()  # the bulk under way was waited for
    assert sent == [b"A\n"]


def test_blocks_are_joined_and_cut_to_the_size_of_a_request(monkeypatch):
    monkeypatch.setattr(chunks, "START_BYTES", 5)
    monkeypatch.setattr(sending, "WORKERS", 1)
    sent = []

    def send(body):
        sent.append(body)
        return statuses(*[201] * body.count(b"\n"))

    source = iter(
        bulk.Lines([name], [name.encode() + b"\n"]) for name in ("a", "b", "cccccccc", "d")
    )
    assert sending.Bulk(send).run(source, lambda _: None) == 4
    assert sent == [b"a\nb\n", b"cccccccc\n", b"d\n"]


def taken(size, rate, count=chunks.MEASURED):
    for _ in range(count):
        size.sent(size.bytes, size.bytes / rate)
    return size.bytes


def test_requests_grow_while_that_is_faster_and_shrink_where_it_is_not():
    size = chunks.ChunkSize()
    assert taken(size, rate=100.0) == 2 * chunks.START_BYTES
    assert taken(size, rate=150.0) == 4 * chunks.START_BYTES == chunks.MOST_BYTES
    assert taken(size, rate=200.0) == chunks.MOST_BYTES
    assert taken(size, rate=100.0) == chunks.MOST_BYTES // 2
    assert taken(size, rate=102.0) == chunks.MOST_BYTES // 2  # no difference worth a change
    assert taken(size, rate=150.0) == chunks.MOST_BYTES // 4
    size.sent(1, 1e-9)  # the last of all says nothing
    assert size.bytes == chunks.MOST_BYTES // 4


def test_requests_halve_when_refused_and_recover():
    size = chunks.ChunkSize()
    for expected in (1 << 20, 512 << 10, 256 << 10, 128 << 10, 64 << 10, 64 << 10):
        size.refused(size.bytes)
        assert size.bytes == expected
    assert taken(size, 100.0, chunks.RECOVERED - 1) == chunks.LEAST_BYTES
    # in steps of two, each after a calm while
    assert taken(size, 200.0, 1) == 2 * chunks.LEAST_BYTES


def test_large_blocks_are_cut(monkeypatch):
    monkeypatch.setattr(bulk, "TARGET_BYTES", 5)
    block = bulk.Lines(["a", "b", "c"], [b"xx\n", b"xx\n", b"xxxxxxxx\n"])
    assert [part.ids for part in bulk.batches(iter([block]))] == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize(
    ("name", "told"), [("x" * 40_000, "has 40000 bytes"), ("\ud800", "is not valid Unicode")]
)
def test_ids_that_no_engine_holds(dialect, name, told):
    with pytest.raises(BackendError, match=told):
        lines(BM25, documents(BM25, ids=("a", name)), dialect)


def test_fingerprints_must_fit(dialect):
    with pytest.raises(BackendError, match="lsh searches fingerprints: the documents have none"):
        lines(LSH, documents(BM25), dialect)
    with pytest.raises(BackendError, match="the documents have codes of 128 bits and the index of"):
        lines(FLAT, documents(FLAT), dialect)
    with pytest.raises(BackendError, match="tokens of winnowing needs fingerprints with sequence"):
        lines(TOKENS, documents(TOKENS), dialect)
    with pytest.raises(BackendError, match="flat of bge needs fingerprints with vector"):
        lines(BGE, documents(BGE), dialect)


# ---- addresses, names, settings


def test_addresses():
    assert address("opensearch", "http://h:92/es/").shown == "http://h:92/es"
    secret = address("opensearch", "https://u:p%40w@[::1]:9200")
    assert secret.shown == "https://[::1]:9200"
    assert secret.credentials == ("u", "p@w")
    assert secret.headers["Authorization"] == "Basic dTpwQHc="
    assert (address("opensearch", "http://h").port, address("opensearch", "https://h").port) == (
        80,
        443,
    )


@pytest.mark.parametrize("url", ["ftp://h", "h:9200", "http://u:pa/ss@h", "http://h?x=pass@1", ""])
def test_bad_addresses_never_show_a_password(engine, url):
    with pytest.raises(SettingError) as caught:
        engine(BackendConfig(url=url))
    assert "pa" not in str(caught.value).split("allowed")[0].replace("pass@1", "")
    assert "http[s]://" in str(caught.value)


@pytest.mark.parametrize("owner", ["", "Me", "a_b", "a*", "x" * 201])
def test_bad_owners(engine, owner):
    with pytest.raises(SettingError, match="owner"):
        engine(BackendConfig(url=URL, owner=owner))


def test_names_of_ours():
    assert temporary.owner_in(temporary.new_name("a")) == "a"
    assert temporary.owner_in("harness-a-b-0123abcd") == "a-b"
    for name in ("harness-a-0123abcdx", "harness-a-0123abcd\n", "harness-a_b-0123abcd", "x"):
        assert temporary.owner_in(name) is None


@pytest.mark.parametrize(
    ("spec", "params", "told"),
    [
        (IndexSpec("engine", "multihash"), SearchParams(10), "no kind 'multihash'"),
        (ROWS, SearchParams(10, 2, 2, "signature"), "in process only"),
        (LSH, SearchParams(10, 2, 8, "signature"), "simhash has no rerank 'signature'"),
        (TOKENS, SearchParams(10), "winnowing has no rerank 'code'"),
        (IndexSpec("engine", "tokens", "bge"), SearchParams(10), "bge has no kind 'tokens'"),
        (IndexSpec("engine", "flat", "karp_rabin"), SearchParams(10), "only compared"),
        (TOKENS, SearchParams(10, rerank="jaccard"), None),
        (STRINGS, SearchParams(10, rerank="levenshtein"), None),
        (BGE, SearchParams(10, rerank="cosine"), None),
        (LSH, SearchParams(10, 70_000, 8), "65536 terms"),
        (FLAT, SearchParams(10_001), "10000 that an engine gives"),
        (LSH, SearchParams(10, 2, 8), None),
        (BM25, SearchParams(10), None),
    ],
)
def test_impossible(engine, spec, params, told):
    why = engine.impossible(spec, params)
    assert (why is None) if told is None else (told in str(why))


@pytest.mark.parametrize(
    ("params", "told"),
    [
        (SearchParams(10, 3, 8), "num_tables 3: the index allows 1 to 2"),
        (SearchParams(10, 2, 7), "hash_length 7: the index has 6, 8"),
        (SearchParams(10, 2, 8, "signature"), "no rerank 'signature'"),
    ],
)
def test_open_refuses_what_was_not_built(engine, params, told):
    backend = engine(BackendConfig(url=URL))
    handle = IndexHandle(LSH, "i", 2, 1, 0.0)
    with pytest.raises(SettingError, match=told):
        backend.open(handle, params, Queries(["", ""], FINGERPRINTS), ["a", "b"], Script())


def test_open_refuses_codes_of_another_width(engine):
    handle = IndexHandle(FLAT, "i", 2, 1, 0.0)
    with pytest.raises(BackendError, match="codes of 128 bits and the index of 64"):
        engine(BackendConfig(url=URL)).open(
            handle, SearchParams(10), Queries(["", ""], FINGERPRINTS), ["a", "b"], Script()
        )


# ---- servers that are not what they should be


@pytest.fixture
def serve():
    """Starts a server that answers each path with (status, body); gives its URL."""
    servers = []

    def start(replies):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = replies.get(self.path.partition("?")[0], (404, b"{}"))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("X-Elastic-Product", "Elasticsearch")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


ROOTS = {
    "opensearch": {"number": "2.19.1", "distribution": "opensearch"},
    "elasticsearch": {"number": "9.4.3", "build_flavor": "default"},
}
OTHER = {"opensearch": "elasticsearch", "elasticsearch": "opensearch"}


def root(name):
    return 200, orjson.dumps({"version": ROOTS[name]})


def check(engine, url):
    return engine(BackendConfig(url=url, timeout_s=5)).check()


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ((200, b"<h1>It works!</h1>"), ": HTTP 200 answered '<h1>It works!</h1>'"),
        ((404, b""), ": HTTP 404"),
        ((200, b'{"version":{}}'), ": HTTP 200"),
        ((401, b"Unauthorized"), "wants credentials: give HARNESS_"),
        ((502, b"<html>"), "answers HTTP 502: what stands before "),
    ],
)
def test_something_else_answers(engine, serve, reply, told):
    with pytest.raises(EngineUnavailable) as caught:
        check(engine, serve({"/": reply}))
    assert told in str(caught.value)
    assert reply[0] in (401, 502) or f"is no {engine.flavour}" in str(caught.value)


def test_the_other_engine_answers(engine, serve):
    other = OTHER[engine.name]
    url = serve({"/": root(other)})
    for act in (check, lambda *_: build(engine, url)):
        with pytest.raises(EngineUnavailable) as caught:
            act(engine, url)
        told = f"is no {engine.flavour}: {registry.backend(other).flavour} "
        assert told + ROOTS[other]["number"] in str(caught.value)
        assert f"--{other}-url" in str(caught.value)


def build(engine, url):
    return engine(BackendConfig(url=url, timeout_s=5)).build(LSH, documents(), None)


def healthy(name, status):
    return {
        "/": root(name),
        "/_cluster/health": (200, orjson.dumps({"status": status, "number_of_data_nodes": 3})),
        "/_cluster/settings": (200, b"{}"),
        "/_nodes/jvm,thread_pool": (200, b"{}"),
    }


def test_health(engine, serve):
    green = check(engine, serve(healthy(engine.name, "green")))
    assert (green.version, green.warnings) == (ROOTS[engine.name]["number"], ())
    facts = {"flavour": engine.flavour, "nodes": "3", "max_clause_count": "1024"}
    assert green.facts == facts
    assert "is yellow" in check(engine, serve(healthy(engine.name, "yellow"))).warnings[0]
    with pytest.raises(EngineUnavailable, match="is red"):
        check(engine, serve(healthy(engine.name, "red")))


def test_unreachable_is_one_line_without_the_password(engine):
    for act in (check, lambda engine, url: engine(BackendConfig(url=url)).sweep()):
        with pytest.raises(EngineUnavailable) as caught:
            act(engine, "http://me:secret@127.0.0.1:1")
        told = str(caught.value)
        assert told.startswith("no answer from http://127.0.0.1:1: ")
        assert told.endswith("refused; is the server running?")
        assert len(told) < 120


def test_answers_that_break_off_or_are_no_json_are_one_line(engine, serve):
    made = engine(BackendConfig(url=serve({"/x": (200, b"<html>\nhello")}), timeout_s=5))
    with pytest.raises(EngineUnavailable) as caught:
        made._call(HttpRequest("GET", ("x",)), what="reading x")
    assert str(caught.value).startswith("reading x failed: ")
    assert "\n" not in str(caught.value)


def test_what_a_server_says_is_harmless_to_a_terminal():
    told = {"error": {"type": "t", "reason": "no index [\x1b[2Jharness-\u202egnp\n\tx]"}}
    for body in (told, orjson.dumps(told), b"<title>\x1b]0;x\x07</title>"):
        assert str(refusal("reading x", 404, body)).isprintable()


def test_refusals_keep_their_status_and_reason(engine, serve):
    body = orjson.dumps({"error": {"type": "t", "reason": "why"}, "status": 400})
    made = engine(BackendConfig(url=serve({"/x": (400, body)}), timeout_s=5))
    with pytest.raises(Refused, match="reading x failed: HTTP 400 t: why") as caught:
        made._call(HttpRequest("GET", ("x",)), what="reading x")
    assert caught.value.status == 400
