"""Replies of someone else's index."""

from __future__ import annotations

import orjson
import pytest

from indexers.errors import BackendError, IndexMissing
from loadtest.attached import AttachedSearcher, hit_count, search_request


def reply(**changes: object) -> bytes:
    return orjson.dumps({"timed_out": False, "hits": {"hits": [{}, {}, {}]}, **changes})


def test_a_request_only_searches() -> None:
    request = search_request("a/_delete_by_query?x", b"{}")
    assert (request.method, request.path) == ("POST", "/a%2F_delete_by_query%3Fx/_search")
    assert search_request("shop-1", b'{"size":1}').path == "/shop-1/_search"


def test_hits_are_counted() -> None:
    sent = []

    def transport(request):
        sent.append(request.body)
        return 200, reply()

    searcher = AttachedSearcher("shop", (b"one", b"two"), transport)
    assert searcher.search(1).ordinals.tolist() == [0, 1, 2]
    assert sent == [b"two"]


def test_no_hits_are_an_answer() -> None:
    assert hit_count("shop", 200, reply(hits={"hits": []})) == 0


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (400, b'{"error":{"type":"parsing_exception","reason":"no [x]"}}', "parsing_exception"),
        (429, b"{}", "HTTP 429"),
        (200, b"<html>", "gave no search reply"),
        (200, b"[]", "gave no search reply"),
        (200, reply(timed_out=True), "ran out of time"),
        (200, reply(_shards={"failed": 1, "failures": [{"reason": {"reason": "x"}}]}), "failed"),
    ],
)
def test_what_is_no_answer_is_an_error(status: int, body: bytes, told: str) -> None:
    with pytest.raises(BackendError, match=told):
        hit_count("shop", status, body)


def test_a_missing_index_is_told() -> None:
    with pytest.raises(IndexMissing, match="shop is not there"):
        hit_count("shop", 404, b"{}")
