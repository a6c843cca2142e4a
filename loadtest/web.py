"""Load that a person puts on an index from Locust's own page, on our schedule and recorder.

Only the load process imports this module.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from math import ceil, inf
from time import perf_counter
from typing import Any

import gevent
import locust
from flask import request
from gevent import get_hub
from locust.env import Environment
from locust.stats import stats_history
from locust.user.task import LOCUST_STATE_STOPPING

from indexers.errors import BackendError
from loadtest.asker import Asker
from loadtest.crew import LocustCrew
from loadtest.messages import Serve, Tick
from loadtest.opening import Opened
from loadtest.schedule import Replay
from loadtest.tally import Tally, one_line
from loadtest.transport import without_credentials
from loadtest.watch import Watch

HOST = "127.0.0.1"
TICK_S = 1.0
LOOK_S = 0.1
"""How long a user sleeps at most before it sees that it is to stop."""
SPAWN_RATE = 100


class PageCrew(LocustCrew):
    """A crew whose page shows latency from the intended start, as our recorder does.

    Attributes:
        error: of the request that ended last.
    """

    error: BaseException | None = None

    def report(self, service_s: float, hits: int, error: BaseException | None) -> None:  # noqa: ARG002
        """Keep the error: when the request was due is not known here."""
        self.error = error


class PageUser(locust.User):
    """A user that keeps its share of the page's schedule."""

    abstract = True
    page: Any = None

    @locust.task
    def work(self) -> None:
        """Ask until the run is stopped."""
        self.page.work(self)


class Page:
    """Locust's page over one opened index.

    Requests are due at the profile's rate times the users that run over those of the order;
    each user keeps its own share of that schedule, and latency runs from the intended start.

    Args:
        order: what was asked for.
        index: the opened index.
        tell: sends a tick.
    """

    def __init__(self, order: Serve, index: Opened, tell: Callable[[Tick], None]) -> None:
        self._order, self._index, self._tell = order, index, tell
        self._run = 0
        self._free: list[int] = []
        self._numbers = 0
        user = type("SearchUser", (PageUser,), {"page": self, "abstract": False})
        self._environment: Any = Environment(
            user_classes=[user],
            host=f"http://{HOST}:{order.port}",
            stop_timeout=order.profile.timeout_s + 1,
            parsed_options=_proposed(order),
        )
        events: Any = self._environment.events
        events.test_start.add_listener(self._start)
        events.test_stop.add_listener(self._stop)
        self._runner = self._environment.create_local_runner()
        self._crew = PageCrew(self._environment, None, remote=index.remote)
        self._prepare(Watch("idle"))

    def serve(self, stopped: Callable[[], bool]) -> None:
        """Keep the page until `stopped` says so.

        Raises:
            BackendError: the index is broken, or its engine went away.
            OSError: the port cannot be had.
        """
        page: Any = self._environment.create_web_ui(HOST, self._order.port, delayed_start=True)
        page.app.before_request(self._from_here)
        page.start()
        history = gevent.spawn(stats_history, self._runner)
        try:
            while not self._listens(page):
                gevent.sleep(LOOK_S)
            self._wait(stopped)
        finally:
            history.kill()
            self._runner.quit()
            page.greenlet.kill()
            self._look()

    def _listens(self, page: Any) -> bool:
        if page.greenlet.dead:
            raise OSError(f"port {self._order.port} of {HOST} cannot be had")
        return getattr(page, "server", None) is not None and page.server.started

    def _wait(self, stopped: Callable[[], bool]) -> None:
        told = 0.0
        while not stopped():
            if perf_counter() - told >= TICK_S:
                told = perf_counter()
                self._look()
            self._asker.go_on()
            gevent.sleep(LOOK_S)

    def _look(self) -> None:
        self._tell(self._watch.look())

    def _from_here(self) -> tuple[str, int] | None:
        """Refuse what another site's page sends through the person's browser."""
        ours = {f"{name}:{self._order.port}" for name in (HOST, "localhost")}
        origin = request.headers.get("Origin")
        if request.host in ours and origin in (None, *(f"http://{name}" for name in ours)):
            return None
        return "this page is served to its own origin only", 403

    def _start(self, **_: Any) -> None:
        """A run begins: what was recorded before is another's."""
        self._run += 1
        self._prepare(Watch("load", run=self._run, begin_s=perf_counter()))

    def _prepare(self, watch: Watch) -> None:
        profile, index = self._order.profile, self._index
        self._watch = watch
        tally = Tally(index.queries, index.k)
        self._asker = Asker(self._crew, index.searcher, profile, tally)
        self._ahead: Iterator[int] = Replay(index.runnable, profile).burst(0)

    def _stop(self, **_: Any) -> None:
        self._look()
        self._watch.phase = "idle"
        self._look()

    def work(self, user: Any) -> None:
        """Ask in the user's share of the schedule until it is to stop."""
        number = heappop(self._free) if self._free else self._numbers
        self._numbers = max(self._numbers, number + 1)
        pool = get_hub().threadpool
        pool.maxsize = max(pool.maxsize, self._numbers)
        try:
            self._keep(user, number, self._watch, self._asker)
        finally:
            heappush(self._free, number)

    def _keep(self, user: Any, number: int, watch: Watch, asker: Asker) -> None:
        profile, users = self._order.profile, self._order.users
        every = users / profile.rate_per_s
        begin = (watch.begin_s or 0.0) + number % users / profile.rate_per_s
        turn = _next_turn(begin, every)
        while user._state != LOCUST_STATE_STOPPING and asker.tally.fatal is None:
            wait = begin + turn * every - perf_counter()
            if wait < -profile.backlog_limit_s:
                watch.saturated = True
                turn = _next_turn(begin, every)
            elif wait > 0:
                gevent.sleep(min(wait, LOOK_S))
            else:
                self._ask(watch, asker, begin + turn * every)
                turn += 1

    def _ask(self, watch: Watch, asker: Asker, due: float) -> None:
        """Ask the query whose turn it is, and record what came of it."""
        query = next(self._ahead)
        watch.sent += 1
        hits, started, took = asker.ask(query)
        watch.sent_s = max(watch.sent_s, started - (watch.begin_s or 0.0))
        latency = started + took - due
        failed = hits is None
        watch.errors += failed
        times = (inf, inf) if failed else (latency, took)
        watch.ended.append((*times, query))
        # the page would call a number of hits bytes
        self._crew.tell(latency, 0, self._shown(self._crew.error))

    def _shown(self, error: BaseException | None) -> Exception | None:
        """An error as the page may list it."""
        if error is None:
            return None
        text = without_credentials(one_line(error), self._order.target.config)
        return BackendError(text)


def _next_turn(begin: float, every: float) -> int:
    """The first turn of a schedule that is not past."""
    return max(0, ceil((perf_counter() - begin) / every))


def _proposed(order: Serve) -> Namespace:
    """What the page's form holds when it is opened."""
    run_time = None if order.run_s is None else f"{order.run_s}s"
    return Namespace(
        num_users=order.users,
        spawn_rate=SPAWN_RATE,
        run_time=run_time,
        stats_history_enabled=False,
        host=None,
        user_classes=None,
    )
