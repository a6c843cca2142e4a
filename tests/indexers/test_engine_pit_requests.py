"""The exact requests that read an index at a point in time."""

import json

from indexers.backends._engine_pit import (
    PAGE_PATH,
    PITS,
    close_request,
    open_request,
    page_request,
)


def sent(request):
    return request.method, request.path, json.loads(request.body or b"null")


def test_opening():
    assert sent(open_request(PITS["elasticsearch"], "a b")) == (
        "POST",
        "/a%20b/_pit?keep_alive=2m",
        None,
    )
    assert sent(open_request(PITS["opensearch"], "goods")) == (
        "POST",
        "/goods/_search/point_in_time?keep_alive=2m",
        None,
    )


def test_closing():
    assert sent(close_request(PITS["elasticsearch"], "p")) == ("DELETE", "/_pit", {"id": "p"})
    assert sent(close_request(PITS["opensearch"], "p")) == (
        "DELETE",
        "/_search/point_in_time",
        {"pit_id": ["p"]},
    )


def test_pages():
    assert PAGE_PATH == (
        "/_search?allow_partial_search_results=false&filter_path=pit_id,timed_out,_shards,"
        "hits.hits._id,hits.hits._source,hits.hits.sort,error,status"
    )
    first = sent(page_request(PITS["elasticsearch"], "p", (1, 4), ["title", "a.b"], 100, None))
    assert first == (
        "POST",
        PAGE_PATH,
        {
            "size": 100,
            "pit": {"id": "p", "keep_alive": "2m"},
            "slice": {"id": 1, "max": 4},
            "sort": ["_shard_doc"],
            "_source": ["title", "a.b"],
            "track_total_hits": False,
        },
    )
    *_, later = sent(page_request(PITS["opensearch"], "p", (0, 2), ["t"], 7, [41]))
    assert later["search_after"] == [41]
    assert later["sort"] == ["_doc"]
