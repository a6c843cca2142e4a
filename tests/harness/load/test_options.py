"""What may be asked of `harness load`, and how what may not is told."""

import socket
from pathlib import Path

import pytest

from harness.load.drive import free_port
from harness.load.options import load_options
from indexers.errors import SettingError
from indexers.index_types import BackendConfig


@pytest.fixture(autouse=True)
def _no_servers(monkeypatch):
    monkeypatch.delenv("HARNESS_OPENSEARCH_URL", raising=False)
    monkeypatch.delenv("HARNESS_ELASTICSEARCH_URL", raising=False)


def test_defaults():
    options = load_options({"study": Path("s"), "index": None, "web": False})
    assert (options.duration_s, options.web_port, options.rate, options.users) == (
        *(30.0, 8089),
        *(None, None),
    )


def test_a_flag_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("HARNESS_OPENSEARCH_URL", "http://user:secret@127.0.0.1:9200")
    flags = {"index": "a", "queries": Path("q")}
    known = BackendConfig(url="http://127.0.0.1:9200", user="user", password="secret")
    assert load_options(flags).access == {"opensearch": known}
    assert "secret" not in repr(load_options(flags))
    given = load_options({**flags, "elasticsearch_url": "http://127.0.0.1:9201"})
    assert given.access == {"elasticsearch": BackendConfig(url="http://127.0.0.1:9201")}
    assert given.named == ("elasticsearch_url",)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({}, "give either --study DIR"),
        ({"study": Path("s"), "index": "a"}, "give either --study DIR"),
        ({"study": Path("s"), "queries": Path("q")}, "--queries: belongs to --index"),
        ({"index": "a"}, "--index needs --queries"),
        ({"index": "a", "queries": Path("q"), "key": "1"}, "--key: belongs to --study"),
        ({"index": "a*", "queries": Path("q")}, "--index: expected the name of one index"),
        ({"index": "a,b", "queries": Path("q")}, "--index: expected the name of one index"),
        ({"index": "a/_doc", "queries": Path("q")}, "--index: expected the name of one index"),
        ({"index": "_all", "queries": Path("q")}, "--index: expected the name of one index"),
        ({"index": "..", "queries": Path("q")}, "--index: expected the name of one index"),
        ({"study": Path("s"), "rate": "0"}, "--rate: expected a number above 0, not '0'"),
        ({"study": Path("s"), "rate": "fast"}, "--rate: expected a number, not 'fast'"),
        ({"study": Path("s"), "users": "1.5"}, "--users: expected a whole number, not '1.5'"),
        ({"study": Path("s"), "duration": "-1"}, "--duration: expected a number above 0"),
        ({"study": Path("s"), "sla_ms": "inf"}, "--sla-ms: expected a finite number"),
        ({"study": Path("s"), "web_port": "70000"}, "--web-port: expected a number at most 65535"),
        ({"study": Path("s"), "opensearch_url": "http://u:secret@h"}, "seen by others"),
    ],
)
def test_what_cannot_be_is_told(flags, told):
    with pytest.raises(SettingError) as error:
        load_options(flags)
    assert told in str(error.value)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


def test_more_requests_than_are_kept_in_memory():
    options = load_options({"study": Path("s"), "duration": "86400"})
    assert options.requests(100) == 8_640_000
    with pytest.raises(SettingError, match="86,400,000 requests are more than 10,000,000"):
        options.requests(1000)


def test_a_port_that_is_taken_is_told_at_once():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingError, match=f"--web-port {port}: .* choose another"):
            free_port(port)
    assert free_port(0) > 0
