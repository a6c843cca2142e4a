"""A server that echoes what opened it: no error tells it, whichever way was asked."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from indexers.address import address_of
from indexers.backends import _engine_existing as existing
from indexers.backends._engine_bulk import Lines
from indexers.backends._engine_http import HttpTransport, hidden
from indexers.backends._engine_production import update
from indexers.errors import BackendError
from indexers.http_request import HttpRequest
from indexers.index_types import BackendConfig
from indexers.registry import backend

PASSWORD = 'pass/word "7'
TOKEN = "bWU6cGFzcy93b3JkICI3"  # of me:pass/word "7 in base 64


@pytest.fixture(scope="module")
def echo():
    """URL of a server that answers HTTP 400 with the header that it was sent."""

    class Echo(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            sent = f"{self.headers.get('Authorization')} {PASSWORD}"
            told = json.dumps({"error": {"type": "bad_header", "reason": f"you sent {sent}"}})
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told.encode())

        do_GET = do_POST = _answer  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def assert_told_without_secret(error):
    assert "bad_header: you sent Basic *** ***" in str(error)
    assert TOKEN not in str(error)
    assert PASSWORD not in str(error)


def config(url):
    return BackendConfig(url=url, owner="me", user="me", password=PASSWORD)


@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])
def test_administrative_requests(echo, engine):
    made = backend(engine)(config(echo))
    with pytest.raises(BackendError) as caught:
        made._call(HttpRequest("GET", ("_cluster", "health")), what="looking")
    assert_told_without_secret(caught.value)
    with pytest.raises(BackendError) as caught:
        update(made._call, "harness-me-0123abcd", Lines(["a"], [b'{"index":{}}\n{}\n']))
    assert_told_without_secret(caught.value)


def test_what_goes_around_the_clients(echo):
    send = HttpTransport(address_of("opensearch", config(echo)), 10.0)
    status, reply = send(HttpRequest("POST", ("i", "_bulk")))
    assert status == 400
    assert json.loads(reply) == {
        "error": {"type": "bad_header", "reason": "you sent Basic *** ***"}
    }
    with pytest.raises(BackendError) as caught:
        existing.look(send, "i")
    assert_told_without_secret(caught.value)
    send.close()


def test_replies_of_every_kind_are_looked_through():
    to = address_of("opensearch", config("http://127.0.0.1:1"))
    assert hidden(to, {"a": [f"x {TOKEN}", 1]}) == b'{"a":["x ***",1]}'
    assert hidden(to, f"x {TOKEN}") == b'"x ***"'
    assert hidden(to, b"\xff " + TOKEN.encode()) == "\ufffd ***".encode()
    assert hidden(to, {"a": "\ud800", "b": TOKEN}) == b'{"a": "\\ud800", "b": "***"}'
