"""What goes over the wire where an index is asked as in production, byte for byte."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from indexers.backends import _engine_bulk as bulk
from indexers.backends import _engine_elasticsearch, _engine_opensearch
from indexers.backends import _engine_production as production
from indexers.backends._engine_deploy_body import production_body
from indexers.backends._engine_fields import index_body
from indexers.backends._engine_search import EngineSearcher, bodies
from indexers.errors import BackendError, IndexMissing
from indexers.index_types import Documents, IndexHandle, IndexSpec, Queries, SearchParams
from indexers.types import Fingerprints

FINGERPRINTS = Fingerprints(
    status=np.zeros(2, np.uint8),
    codes=np.array([[0x80, 1], [0xFF, 0x7F]], np.uint8),
    keys=np.array([[[0xABCDEF01, 0x01000000]]], np.uint32),
    atom="bit",
)
SPEC = IndexSpec("opensearch", "lsh", "simhash", 1, (8,), 16)
DOCUMENTS = Documents(["a", "b"], ['say "A"', "a lone \ud800"], FINGERPRINTS)
HANDLE = IndexHandle(SPEC, "i", 2, 1, 0.0)
PATH = (
    "/i/_search?allow_partial_search_results=false"
    "&filter_path=timed_out,_shards.failed,_shards.failures.reason,hits.hits.sort"
)
UPDATE_PATH = "/i-updates/_bulk?require_alias=true&filter_path=items.*.status,items.*.error"


def body_of(spec, source):
    plain = index_body({"text": {"type": "text"}}, "me", "now", {"_source": source})
    before = repr(plain)
    made = production.for_production(plain, spec)
    assert repr(plain) == before
    return plain, made


def test_a_quiet_index_is_left_as_it_is():
    plain, made = body_of(SPEC, {"enabled": False})
    assert made == plain


def test_caches_are_on_where_they_are_in_production():
    plain, made = body_of(replace(SPEC, cached=True), {"enabled": False})
    index = made["settings"]["index"]
    assert (index["queries.cache.enabled"], index["requests.cache.enable"]) == (True, True)
    old = plain["settings"]["index"]
    assert (old["queries.cache.enabled"], old["requests.cache.enable"]) == (False, False)
    assert made["mappings"] == plain["mappings"]


def test_the_document_alone_is_stored():
    source = {"enabled": False, "recovery_source_enabled": False}
    _, made = body_of(replace(SPEC, stores_source=True), source)
    assert made["mappings"]["_source"] == {
        "includes": ["document"],
        "recovery_source_enabled": False,
    }
    assert made["mappings"]["properties"] == {
        "id": {"type": "keyword", "index": False, "doc_values": True},
        "text": {"type": "text"},
        "document": {"type": "object", "enabled": False},
    }


@pytest.mark.parametrize("dialect", [_engine_opensearch.DIALECT, _engine_elasticsearch.DIALECT])
def test_lines_carry_what_answers_bring_along(dialect):
    def lines(spec):
        rows = bulk.indexed_rows(spec, DOCUMENTS)
        return [x for block in bulk.blocks(spec, DOCUMENTS, rows, dialect) for x in block.lines]

    plain, stored = lines(SPEC), lines(replace(SPEC, stores_source=True))
    texts = [rb'"say \"A\""', b'"a lone ?"']
    for ordinal, (line, whole, text) in enumerate(zip(plain, stored, texts, strict=True)):
        name = b'{"index":{"_id":"%d"}}\n{"id":"%b"' % (ordinal, b"ab"[ordinal : ordinal + 1])
        assert line.startswith(name + b',"c":')
        assert whole == line.replace(name, name + b',"document":{"text":%b}' % text)


@pytest.mark.parametrize("dialect", [_engine_opensearch.DIALECT, _engine_elasticsearch.DIALECT])
def test_bodies_ask_for_the_documents(dialect):
    def asked(fetch):
        params = SearchParams(10, 1, 8, fetch_source=fetch)
        return bodies(HANDLE, params, Queries([], FINGERPRINTS), None, dialect)

    for ids, documents in zip(asked(False), asked(True), strict=True):
        assert ids.startswith(b'{"size":10,"_source":false,"stored_fields":"_none_",')
        rest = ids.removeprefix(b'{"size":10,"_source":false,"stored_fields":"_none_",')
        assert documents == b'{"size":10,"_source":true,' + rest


def test_documents_travel_and_each_query_has_its_own_copy():
    plain = EngineSearcher("i", [b"x", b"y"], ["a"], None, lambda: None)
    assert plain.request(1).target == PATH + "&preference=query-1"
    told = EngineSearcher("i", [b"x", b"y"], ["a"], None, lambda: None, fetch_source=True)
    assert told.request(0).target == PATH + ",hits.hits._source&preference=query-0"


def test_answers_with_documents_are_the_same_hits():
    reply = (
        b'{"timed_out":false,"hits":{"hits":['
        b'{"_source":{"document":{"text":"x"}},"sort":[3.0,"b"]},'
        b'{"_source":{"document":{"text":"y"}},"sort":[1.0,"a"]}]}}'
    )
    searcher = EngineSearcher("i", [b"x"], ["a", "b"], None, lambda: None, fetch_source=True)
    hits = searcher.answer(200, reply)
    assert (hits.ordinals.tolist(), hits.scores.tolist()) == ([1, 0], [3.0, 1.0])


class Call:
    def __init__(self, reply):
        self.reply, self.sent = reply, []

    def __call__(self, request, **_):
        self.sent.append((request.method, request.target, request.body))
        return self.reply


def updated(*statuses):
    items = [{"index": {"status": s, "error": {"reason": "too late"}}} for s in statuses]
    call = Call({"items": items})
    production.update(call, "i", bulk.Lines(["a", "b"], [b"one\n", b"two\n"]))
    return call.sent


def test_an_update_goes_through_the_alias():
    assert updated(200, 200) == [("POST", UPDATE_PATH, b"one\ntwo\n")]


def test_an_update_of_an_index_that_is_gone_does_not_make_it_anew():
    with pytest.raises(IndexMissing, match="i is gone"):
        updated(404, 404)


def test_an_update_tells_which_documents_were_refused():
    told = r"1 document could not be indexed \('b'\): error: too late"
    with pytest.raises(BackendError, match=told):
        updated(200, 429)
    with pytest.raises(BackendError, match="1 items for 2 documents"):
        updated(200)


def test_deleted_documents_are_told_as_a_share():
    docs = {"count": 400, "deleted": 100}
    call = Call({"_all": {"primaries": {"docs": docs}}})
    assert production.deleted_share(call, "i") == 0.25
    assert call.sent == [("GET", "/i/_stats/docs?filter_path=_all.primaries.docs", b"")]
    docs["count"] = docs["deleted"] = 0
    assert production.deleted_share(call, "i") == 0.0


def test_production_has_the_server_s_usual_fields_and_settings():
    own = {"_source": {"enabled": False}, "_field_names": {"enabled": False}}
    measured = index_body({"text": {"type": "text"}}, "me", "now", own)
    made = production_body(measured, SPEC, {"format": 1})
    assert made["mappings"] == {
        "_meta": {"harness": {"format": 1}},
        "_source": {"enabled": False},
        "dynamic": "strict",
        "properties": measured["mappings"]["properties"],
    }
    assert made["settings"]["index"] == {
        "number_of_shards": 1,
        "number_of_replicas": 0,
        "analyze.max_token_count": 1_000_000,
    }
    assert measured["mappings"]["_field_names"] == {"enabled": False}
