"""Locust's own page over a real load process: a person's clicks, told by plain requests."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from indexers.errors import BackendError
from loadtest.messages import Serve, Tick
from loadtest.profile import LoadProfile

PROFILE = LoadProfile(rate_per_s=200, users=2, backlog_limit_s=0.3)
LIMIT_S = 30.0
GONE = object()
CACHED_S = 2.5
"""The page's figures are a little old: this much later they are those of now."""


class Person:
    """Uses the page in a thread; then ends it by Ctrl-C, unless it has ended by itself."""

    def __init__(self, port: int, acts: Callable[[Person], object]) -> None:
        self.url, self.port = f"http://127.0.0.1:{port}", port
        self.ticks: list[Tick] = []
        self.trouble: BaseException | None = None
        self._acts = acts
        self._thread: threading.Thread | None = None

    def __call__(self, tick: Tick) -> None:
        self.ticks.append(tick)
        if self._thread is None:
            self._thread = threading.Thread(target=self._act)
            self._thread.start()

    def _act(self) -> None:
        try:
            if self._acts(self) is GONE:
                return
        except BaseException as error:
            self.trouble = error
        os.kill(os.getpid(), signal.SIGINT)

    def done(self) -> None:
        assert self._thread is not None
        self._thread.join()
        if self.trouble is not None:
            raise self.trouble

    def ask(self, path: str, form: str | None = None, **headers: str) -> Any:
        body = None if form is None else form.encode()
        with urlopen(Request(self.url + path, body, headers), timeout=10) as reply:
            return reply.read().decode()

    def start(self, users: int = 2) -> None:
        assert json.loads(self.ask("/swarm", f"user_count={users}&spawn_rate=100"))["success"]

    def stop(self) -> None:
        with urlopen(Request(self.url + "/stop", method="POST"), timeout=10) as reply:
            assert json.loads(reply.read())["success"]

    def statistics(self) -> dict[str, Any]:
        return json.loads(self.ask("/stats/requests"))

    def wait(self, until: Callable[[], bool]) -> None:
        end = time.monotonic() + LIMIT_S
        while not until():
            assert time.monotonic() < end
            time.sleep(0.05)

    def wait_for(self, name: str, count: int) -> None:
        """Wait until the page shows this many."""
        self.wait(lambda: self.statistics()["stats"][-1][name] >= count)


@pytest.fixture
def serve(runner, target) -> Callable[..., Person]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(acts: Callable[[Person], object], users: int = 2, **behaviour: Any) -> Person:
        person = Person(port, acts)
        try:
            runner.serve(Serve(target(**behaviour), PROFILE, port, users), person)
        finally:
            person.done()
        return person

    return run


def ended(person: Person, run: int) -> tuple[int, int]:
    """Requests that ended in a run, and how many were sent."""
    of_run = [tick for tick in person.ticks if tick.run == run]
    return sum(len(tick.query) for tick in of_run), max(tick.sent for tick in of_run)


def test_runs_are_started_counted_and_stopped(serve) -> None:
    def acts(person: Person) -> None:
        assert "Locust" in person.ask("/")
        for count in (300, 100):
            person.start()
            time.sleep(CACHED_S)
            person.wait_for("num_requests", count)
            person.stop()
            time.sleep(CACHED_S)
            seen.append(person.statistics()["stats"][-1])

    seen: list[dict[str, Any]] = []
    person = serve(acts)
    assert [tick.phase for tick in person.ticks[:1]] == ["idle"]
    for run, shown in enumerate(seen, 1):
        assert ended(person, run) == (shown["num_requests"], shown["num_requests"])
        assert shown["num_failures"] == 0
        last = [tick for tick in person.ticks if tick.run == run][-1]
        assert (last.errors, last.phase) == (0, "idle")
        assert last.sent <= 200 * last.sent_s + 2


def test_more_users_than_proposed_raise_the_rate(serve) -> None:
    def acts(person: Person) -> None:
        person.start(4)
        person.wait_for("num_requests", 600)

    person = serve(acts)
    last = person.ticks[-1]
    assert last.sent > 300 * last.sent_s


def test_latency_runs_from_the_intended_start(serve) -> None:
    """Two users who need 20 ms a request fall behind 200 a second: that is latency."""

    def acts(person: Person) -> None:
        person.start()
        person.wait_for("num_requests", 60)
        shown.append(person.statistics()["stats"][-1]["max_response_time"])

    shown: list[float] = []
    person = serve(acts, each_s=0.02)
    latency = [ms for tick in person.ticks for ms in tick.latency_ms]
    service = [ms for tick in person.ticks for ms in tick.service_ms]
    assert max(latency) > 200 > 100 > sorted(service)[len(service) // 2]
    assert max(shown) > 200  # the page shows the same
    assert person.ticks[-1].saturated


def test_failures_are_shown(serve) -> None:
    def acts(person: Person) -> None:
        person.start()
        person.wait_for("num_failures", 3)
        told.extend(entry["error"] for entry in person.statistics()["errors"])

    told: list[str] = []
    person = serve(acts, fail_always=[4])
    assert any("query 4 is broken" in text for text in told)
    assert person.ticks[-1].errors >= 3


def test_other_sites_cannot_use_it(serve) -> None:
    def acts(person: Person) -> None:
        for headers in ({"Origin": "http://elsewhere.example"}, {"Host": "elsewhere.example"}):
            with pytest.raises(HTTPError, match="403"):
                person.ask("/swarm", "user_count=2&spawn_rate=100", **headers)

    assert {tick.run for tick in serve(acts).ticks} == {0}


def test_an_index_that_breaks_ends_it(serve) -> None:
    def acts(person: Person) -> object:
        person.start()
        with pytest.raises(OSError):  # noqa: PT011 - the page is gone
            person.wait(lambda: person.statistics()["state"] == "never")
        return GONE

    with pytest.raises(BackendError, match="every request failed"):
        serve(acts, fail=True)
