"""Search load from several machines' worth of processes: Locust's master and workers.

Each line of the file HARNESS_QUERIES is the body of a search, as for `harness load --queries`.
Users ask them in turn, HARNESS_RATE times a second each, of the index HARNESS_INDEX at HARNESS_URL.
What Locust's page shows is service time: the verdict on a latency limit is that of `harness load`,
which runs on a schedule.
"""

import os
import sys
from itertools import count
from pathlib import Path
from time import perf_counter

import locust

from harness.search_bodies import read_bodies
from indexers.address import address
from indexers.errors import HarnessError
from indexers.index_name import checked_name
from loadtest.attached import AttachedSearcher
from loadtest.transport import Http

TIMEOUT_S = 30.0
ASKED = count()
"""Counts the requests of this process, so that its users do not ask the same in step."""


def asked_for(name: str) -> str:
    """An environment variable that must be there."""
    if value := os.environ.get(name):
        return value
    sys.exit(f"{name} is not set: see the docstring of {__file__}")


RATE = float(os.environ.get("HARNESS_RATE", "10"))
try:
    INDEX = checked_name(asked_for("HARNESS_INDEX"))
    TO = address("engine", asked_for("HARNESS_URL"))
    BODIES = read_bodies(Path(asked_for("HARNESS_QUERIES")), None)
except HarnessError as wrong:
    sys.exit(str(wrong))


class Search(locust.User):
    """Asks one search after another over a connection of its own."""

    wait_time = locust.constant_throughput(RATE)

    def on_start(self) -> None:
        """Connect."""
        self._http = Http(TO, 1, TIMEOUT_S)
        self._searcher = AttachedSearcher(INDEX, BODIES, self._http)

    def on_stop(self) -> None:
        """Let go of the connection."""
        self._http.close()

    @locust.task
    def ask(self) -> None:
        """Ask what is next, and tell Locust how long it took."""
        started, hits, error = perf_counter(), 0, None
        try:
            hits = len(self._searcher.search(next(ASKED) % len(BODIES)).ordinals)
        except (HarnessError, OSError) as caught:
            error = RuntimeError(TO.hide(str(caught)))
        self.environment.events.request.fire(
            request_type="SEARCH",
            name=INDEX,
            response_time=1e3 * (perf_counter() - started),
            response_length=hits,
            exception=error,
            context={},
        )
