"""What a request sends is quoted, and names one thing or is only read."""

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexers.errors import BackendError, SettingError
from indexers.http_request import HttpRequest, Listing
from indexers.index_name import checked_name

WIDER = [
    *("", ".", "..", "*", "a*", "a,b", "-a", "+a", "_all", "_", "__", "_A", "_search_", "_a-b"),
    *("a/b", "a\\b", "a?b", "a#b", "a%2ab", "%2e%2e", "<a-{now/d}>", 'a"b', "a|b", "a:b", "a b"),
    *("a\n", "a\0", "a\x1b[2J", "a\u202eb", "a\u200bb", "a\xa0b", "\ud800", "_\u0430ll", "_all\n"),
]


@pytest.mark.parametrize("segment", WIDER)
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "POST", "HEAD"])
def test_what_could_mean_more_than_one_thing_is_not_sent(method, segment):
    for segments in ((segment,), ("_cluster", "health", segment), (segment, "_settings")):
        with pytest.raises(BackendError, match="is not sent: it is not the name of one thing"):
            HttpRequest(method, segments)


@pytest.mark.parametrize("segment", WIDER)
def test_no_such_name_is_one_of_an_index(segment):
    with pytest.raises(SettingError, match="the name of one index or alias"):
        checked_name(segment)


@pytest.mark.parametrize("name", ["_search", "Shop", "a" * 256, "\u00e4" * 128])
def test_names_that_no_index_can_have(name):
    with pytest.raises(SettingError, match="the name of one index or alias"):
        checked_name(name)


def test_targets():
    assert HttpRequest("GET", ()).target == "/"
    assert HttpRequest("GET", ("_cluster", "health", "shop-1")).target == "/_cluster/health/shop-1"
    told = {"filter_path": "*.a,b", "timeout": "5s", "q": "a&b=c d#é"}
    assert HttpRequest("POST", ("shöp&x", "_search"), told).target == (
        "/sh%C3%B6p%26x/_search?filter_path=*.a,b&timeout=5s&q=a%26b%3Dc%20d%23%C3%A9"
    )


def test_several_things_are_only_read():
    assert HttpRequest("GET", (Listing("harness-*"), "_stats")).target == "/harness-*/_stats"
    for method in ("DELETE", "PUT", "POST"):
        with pytest.raises(BackendError, match=f"{method} of 'harness-\\*' is not sent"):
            HttpRequest(method, (Listing("harness-*"),))
    for text in ("", "a/b", "%2a", "<a>", "a b", "A", "\u0430", "a\n"):
        with pytest.raises(BackendError, match="is not sent"):
            HttpRequest("GET", (Listing(text),))


@given(st.text(), st.sampled_from(["GET", "DELETE"]))
def test_a_name_is_one_segment_that_a_server_reads_as_it_was_meant(name, method):
    """Once decoded, or twice by a proxy, it is the name, in a path of three segments."""
    try:
        target = HttpRequest(method, ("_x", name, "_y")).target
    except BackendError:
        return
    assert target.isascii()
    assert target.isprintable()
    _, first, segment, last = target.split("/")
    assert (first, unquote(segment), unquote(unquote(segment)), last) == ("_x", name, name, "_y")
    assert not set(unquote(segment)) & set("*,?/%#<>\\: ")
