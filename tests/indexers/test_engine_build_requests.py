"""What goes over the wire while a temporary index is built, request by request."""

import orjson
import pytest

from indexers.backends._engine_build import Build, Lost
from indexers.backends._engine_bulk import Lines
from indexers.errors import EngineUnavailable, IndexMissing
from indexers.index_types import Layout
from indexers.types import no_progress

BODY = {"settings": {}, "mappings": {"_meta": {"harness": {"owner": "me"}}}}
NAME, ALIAS = "harness-me-0123abcd", "harness-me-0123abcd-updates"
SENT = Lines(["a", "b"], [b'{"index":{"_id":"0"}}\n{}\n', b'{"index":{"_id":"1"}}\n{}\n'])
DONE = {"items": [{"index": {"status": 201}}] * 2}


class Wire:
    """Answers as a server does that finds these numbers of documents when it is asked."""

    def __init__(self, *counts, bulk=()):
        self.sent, self._counts, self._bulk = [], list(counts), list(bulk)
        self._uuid = self._number = 0
        self.uuids = []

    def call(self, request, *, what, timeout_s=0):
        assert what
        del timeout_s
        self._note(request)
        if request.segments == (NAME,) and request.method == "PUT":
            self._number += 1
            self._uuid = self._number
            self.uuids.append(f"u{self._uuid}")
        if request.segments == (NAME,) and request.method == "GET":
            return {NAME: self._index()} if self._uuid else {}
        if request.segments == (NAME,) and request.method == "DELETE":
            self._uuid = 0
        if request.segments[-1] == "_count":
            return {"count": self._counts.pop(0)}
        return {"status": "green"}

    def _note(self, request):
        self.sent.append((request.method, request.target, request.body))

    def _index(self):
        tag = {"owner": "me", "created": "2026-01-02T03:04:05Z"}
        settings = {"index": {"uuid": f"u{self._uuid}"}}
        return {"mappings": {"_meta": {"harness": tag}}, "settings": settings}

    def send(self, request):
        self._note(request)
        reply = self._bulk.pop(0) if self._bulk else DONE
        if isinstance(reply, Exception):
            raise reply
        return 200, orjson.dumps(reply)

    def build(self, alias=ALIAS):
        layout = Layout(segments=0)
        made = Build(self.call, self.send, NAME, BODY, layout, 60, no_progress, 5.0, alias=alias)
        made.owner = None if alias is None else "me"
        done = made.run(lambda: iter([SENT]))
        assert made.uuid == (None if alias is None else f"u{self._number}")
        return done


def test_documents_go_by_an_alias_that_is_made_with_the_index():
    wire = Wire(2)
    assert wire.build() == 2
    assert wire.sent[0] == (
        "PUT",
        f"/{NAME}?wait_for_active_shards=0",
        orjson.dumps(BODY | {"aliases": {ALIAS: {}}}),
    )
    bulk = [(method, path, body) for method, path, body in wire.sent if "/_bulk" in path]
    where = "_bulk?filter_path=items.*.status,items.*.error&require_alias=true"
    assert bulk == [("POST", f"/{ALIAS}/{where}", b"".join(SENT.lines))]
    assert "aliases" not in BODY


def test_an_index_that_was_there_before_is_filled_by_its_own_name():
    wire = Wire(2)
    wire.build(alias=None)
    assert wire.sent[0][2] == orjson.dumps(BODY)
    where = f"/{NAME}/_bulk?filter_path=items.*.status,items.*.error"
    assert [path for _, path, _ in wire.sent if "/_bulk" in path] == [where]


def test_an_alias_that_is_gone_is_an_index_that_is_gone():
    told = {"status": 404, "error": {"type": "index_not_found_exception", "reason": "no alias"}}
    wire = Wire(2, bulk=[{"items": [{"index": told}] * 2}])
    with pytest.raises(IndexMissing, match=f"^{NAME} is gone"):
        wire.build()
    assert sum("/_bulk" in path for _, path, _ in wire.sent) == 1


def test_what_a_server_forgot_is_built_again_once_then_left_to_who_waits_for_servers(monkeypatch):
    monkeypatch.setattr("indexers.backends._engine_sending.ANSWER_AFTER_S", (0.0,))
    away = EngineUnavailable("no answer")
    # what failed is sent in two halves, of a document each
    half = {"items": DONE["items"][:1]}
    wire = Wire(1, 2, bulk=[away, half, half])
    assert wire.build() == 2
    assert wire.uuids == ["u1", "u2"]
    assert ("DELETE", f"/{NAME}?expand_wildcards=none", b"") in wire.sent
    wire = Wire(1, 1, bulk=[away, half, half, away, half, half])
    with pytest.raises(Lost, match="has 1 documents, and 2 were sent") as caught:
        wire.build()
    assert isinstance(caught.value, EngineUnavailable)
    assert sum(method == "PUT" for method, _, _ in wire.sent) == 2
