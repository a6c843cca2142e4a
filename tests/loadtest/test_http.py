"""A real load process against a real server that behaves as the test says."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from indexers.errors import EngineUnavailable
from loadtest.profile import UNANSWERED, UNDER_LOAD, LoadProfile

PROFILE = LoadProfile(rate_per_s=100, samples=30, burst_s=0.1, warmup_min=0, timeout_s=0.4, users=2)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_POST(self) -> None:
        query = int(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.add((self.path, self.headers["authorization"]))
        behaviour = self.server.behaviour.get(query)
        if behaviour == "slow":
            time.sleep(0.6)
        body = json.dumps([query, query + 1]).encode()
        self.send_response(503 if behaviour == "busy" else 200)
        self.send_header("content-length", str(len(body) + 5 * (behaviour == "torn")))
        self.end_headers()
        self.wfile.write(body)
        if behaviour == "torn":
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A client that gave up is no news."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.connections, server.behaviour, server.seen = 0, {}, set()
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_answers_come_over_few_connections(server, runner, target) -> None:
    url = f"http://elastic:pa%40ss@127.0.0.1:{server.server_port}/base/"
    result = runner.run(target(url, k=2), PROFILE)
    assert result.answers.tolist() == [[query, query + 1] for query in range(10)]
    assert set(result.state) == {UNDER_LOAD}
    assert result.errors == 0
    pair = base64.b64encode(b"elastic:pa@ss").decode()
    assert server.seen == {("/base/ask", f"Basic {pair}")}
    assert server.connections <= 40  # rate × timeout: as many as can be on their way at once
    assert server.connections < len(result.latency_ms)


def test_each_way_to_fail(server, runner, target) -> None:
    server.behaviour = {1: "slow", 2: "busy", 3: "torn"}
    result = runner.run(target(f"http://127.0.0.1:{server.server_port}", k=2), PROFILE)
    assert set(result.query[np.isinf(result.latency_ms)].tolist()) == {1, 2, 3}
    assert np.flatnonzero(result.state == UNANSWERED).tolist() == [1, 2, 3]
    assert result.errors >= 9
    assert "status 503" in result.error_texts
    assert any("timed out" in text for text in result.error_texts)
    assert any("broke off" in text for text in result.error_texts)
    assert not result.saturated


def test_a_server_that_is_gone_ends_the_trial_at_once(server, runner, target) -> None:
    url = f"http://elastic:secret@127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    with pytest.raises(EngineUnavailable, match=r"stopped answering .*refused") as told:
        runner.run(target(url), LoadProfile(rate_per_s=100, samples=10_000))
    assert "secret" not in str(told.value)
