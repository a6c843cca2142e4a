"""Replies of someone else's index."""

from __future__ import annotations

import orjson
import pytest

from indexers.errors import BackendError, IndexMissing
from loadtest.attached import AttachedSearcher, hit_count, search_request
from loadtest.attached_answers import AnswerSearcher


def reply(**changes: object) -> bytes:
    return orjson.dumps({"timed_out": False, "hits": {"hits": [{}, {}, {}]}, **changes})


def test_a_request_only_searches() -> None:
    request = search_request("shöp&1", b"{}")
    assert (request.method, request.target) == ("POST", "/sh%C3%B6p%261/_search")
    for name in ("a/_delete_by_query?x", "*", "a,b", "_all", "%2a", "<a-{now/d}>"):
        with pytest.raises(BackendError, match="not the name of one thing"):
            search_request(name, b"{}")


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


IDS = ["a", "b", "c"]


def judged(hits, id_field=None, sent=None):
    def transport(request):
        if sent is not None:
            sent.append(request.target)
        return 200, orjson.dumps({"timed_out": False, "hits": {"hits": hits}})

    found = AnswerSearcher("shop", (b"one", b"two"), IDS, id_field, transport).search(1)
    return [IDS[ordinal] for ordinal in found.ordinals], found


def test_answers_of_scores_and_ids_alone_are_by_score_then_id() -> None:
    hits = [
        {"_score": 5.0, "fields": {"id": ["c"]}},
        {"_score": 7.0, "fields": {"id": ["b"]}},
        {"_score": 7.0, "fields": {"id": ["a"]}},
        {"_score": 1.0, "fields": {"id": ["x"]}},
    ]
    names, found = judged(hits)
    assert names == ["a", "b", "c"]
    assert found.unknown == 1
    assert found.scores.tolist() == [7.0, 7.0, 5.0]


def test_answers_that_an_engine_put_in_order_stay_so() -> None:
    for more in ({"_id": "{}"}, {"sort": [7.0, "{}"]}):
        hits = [
            {"_score": 7.0, "fields": {"id": [name]}}
            | {n: v.format(name) if n == "_id" else [v[0], name] for n, v in more.items()}
            for name in ("c", "a", "b")
        ]
        assert judged(hits)[0] == ["c", "a", "b"]
    by_sku = [{"_score": 7.0, "fields": {"sku": [name]}} for name in ("c", "a")]
    assert judged(by_sku, "sku")[0] == ["c", "a"]


def test_a_judged_query_prefers_a_copy() -> None:
    sent: list[str] = []
    judged([], sent=sent)
    assert sent == ["/shop/_search?preference=query-1"]
