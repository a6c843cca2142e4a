"""Locust's users as the workers of a trial; only the load process imports this module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gevent
import locust
from gevent import get_hub
from gevent.event import AsyncResult
from locust.env import Environment

from indexers.index_types import Hits
from indexers.protocols import Searcher


class SearchUser(locust.User):
    """A Locust user that does what the crew hands it.

    The schedule is shared by all users and kept in `phases`: Locust's task loop takes too long
    per request for 1,000 requests a second.
    """

    abstract = True
    jobs: Any = None

    @locust.task
    def work(self) -> None:
        """Do the next piece of work."""
        job, done = self.jobs.get()
        try:
            done.set(job())
        except Exception as error:
            done.set_exception(error)


class LocustCrew:
    """Locust's users as the crew of a trial.

    Attributes:
        remote: whether searching waits on a socket rather than on this process's cores.
    """

    def __init__(self, environment: Environment, jobs: Any, *, remote: bool) -> None:
        self.remote = remote
        self._fire: Any = environment.events.request.fire
        self._jobs = jobs
        self._pool: Any = get_hub().threadpool

    def together(self, work: Callable[[], None], workers: int) -> None:
        """Do the work in so many users at once."""
        results = [AsyncResult() for _ in range(workers)]
        for done in results:
            self._jobs.put((work, done))
        for done in results:
            done.get()

    def sleep(self, seconds: float) -> None:
        """Let the other users run."""
        gevent.sleep(seconds)

    def search(self, searcher: Searcher, query: int) -> Hits:
        """Ask over a socket, or in a thread; either lets the other users run."""
        if self.remote:
            return searcher.search(query)
        hits: Hits = self._pool.apply(searcher.search, (query,))
        return hits

    def report(self, service_s: float, hits: int, error: BaseException | None) -> None:
        """Tell Locust's own statistics of a request."""
        self.tell(service_s, hits, error)

    def tell(self, took_s: float, hits: int, error: BaseException | None) -> None:
        """Tell Locust's own statistics of a request that took so long."""
        self._fire(
            request_type="SEARCH",
            name="search",
            response_time=1e3 * took_s,
            response_length=hits,
            exception=error,
            context={},
        )
