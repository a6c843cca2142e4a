"""The exact requests that read an index at a point in time."""

import json

import pytest

from indexers.backends._engine_pit import (
    PITS,
    close_request,
    known,
    open_request,
    page_request,
)
from indexers.errors import BackendError


def sent(request):
    return request.method, request.target, json.loads(request.body or b"null")


def test_opening():
    assert sent(open_request(PITS["elasticsearch"], "a=ä")) == (
        "POST",
        "/a%3D%C3%A4/_pit?keep_alive=2m",
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


@pytest.mark.parametrize(
    "pit", ["_all", "*", "", "_", "short", None, 7, ["a" * 40], "a" * 40 + "\n"]
)
def test_an_id_that_could_mean_those_of_others_is_none(pit):
    """OpenSearch closes every point in time of the cluster for `_all`."""
    with pytest.raises(BackendError, match="names no point in time"):
        known(pit)


def test_an_id_of_a_server_is_taken_as_it_is():
    pit = "o463QQEFc2hvcC0xFkJ4dkdWOXBqUWNhRnFWdHVQWHF4Y1EAFg-_=="
    assert known(pit) == pit


def test_pages():
    where = (
        "/_search?allow_partial_search_results=false&filter_path=pit_id,timed_out,_shards,"
        "hits.hits._id,hits.hits._source,hits.hits.sort,error,status"
    )
    first = sent(page_request(PITS["elasticsearch"], "p", (1, 4), ["title", "a.b"], 100, None))
    assert first == (
        "POST",
        where,
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
