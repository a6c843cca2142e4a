"""The load process: `python -m loadtest.locustfile FD`, told by a `LoadRunner` what to do.

The only module that imports locust, which patches sockets and threads as it is imported. It is
told through stdin and answers on the file descriptor FD, where nothing that a library prints can
come in between. It ends when stdin closes, so that it never outlives its parent.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import traceback
from _thread import start_new_thread
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import gevent
import locust
import numpy as np
from gevent import get_hub
from gevent.event import AsyncResult
from gevent.queue import Queue
from locust.env import Environment

from indexers import registry, store
from indexers.errors import HarnessError
from indexers.index_types import Hits
from indexers.protocols import Searcher
from loadtest import messages, phases
from loadtest.messages import Calibrate, Failure, Measure
from loadtest.null import NullHttpSearcher, NullSearcher
from loadtest.profile import LoadProfile, LoadResult
from loadtest.schedule import worker_count
from loadtest.tally import one_line
from loadtest.transport import Http, without_credentials

SPAWN_RATE = 100
"""Users started a second: all at once in process; those for an engine during its warm-up."""


class SearchUser(locust.User):
    """A Locust user that does what the crew hands it.

    The schedule is shared by all users and kept in `phases`: Locust's task loop takes too long
    per request for 1,000 requests a second.
    """

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
        self._fire(
            request_type="SEARCH",
            name="search",
            response_time=1e3 * service_s,
            response_length=hits,
            exception=error,
            context={},
        )


class Load:
    """A Locust environment whose users serve one order of the parent after another."""

    def __init__(self) -> None:
        self._jobs = Queue()
        user = type("Searches", (SearchUser,), {"jobs": self._jobs})
        self._environment = Environment(user_classes=[user])
        self._runner = self._environment.create_local_runner()

    def answer(self, message: object) -> LoadResult | Failure:
        """Carry out one order."""
        try:
            if isinstance(message, Measure):
                return self._measure(message)
            assert isinstance(message, Calibrate)
            return self._calibrate(message)
        except HarnessError as error:
            return Failure(type(error).__name__, one_line(error))
        except Exception as error:
            traceback.print_exc()
            return Failure("BackendError", f"the index could not be searched: {one_line(error)}")

    def _measure(self, order: Measure) -> LoadResult | Failure:
        """Put a load on a built index."""
        target, profile = order.target, order.profile
        url = target.config.url
        backend = registry.backend(target.handle.spec.backend)(target.config)
        queries = store.load_queries(target.queries, **target.made_by)
        prints = queries.fingerprints
        count = len(queries.texts) if prints is None else len(prints)
        ids = _ids(target.ids, target.ids.stat().st_mtime_ns)
        http = _http(url, profile) if backend.remote and url is not None else None
        try:
            searcher = backend.open(target.handle, target.params, queries, ids, http)
            try:
                crew = self._crew(profile, remote=backend.remote)
                k, runnable = target.params.k, target.runnable
                result = phases.run(crew, searcher, profile, runnable, count, k)
            finally:
                searcher.close()
        except HarnessError as error:
            return Failure(type(error).__name__, without_credentials(one_line(error), url))
        finally:
            if http is not None:
                http.close()
        texts = tuple(without_credentials(text, url) for text in result.error_texts)
        return replace(result, error_texts=texts)

    def _calibrate(self, order: Calibrate) -> LoadResult:
        """Put a load on an index that answers at once."""
        http = None if order.url is None else _http(order.url, order.profile)
        crew = self._crew(order.profile, remote=http is not None)
        runnable = np.arange(order.queries, dtype=np.int32)
        run = partial(phases.run, crew)
        if http is None:
            return run(NullSearcher(order.k), order.profile, runnable, order.queries, order.k)
        try:
            searcher = NullHttpSearcher(order.k, http)
            return run(searcher, order.profile, runnable, order.queries, order.k)
        finally:
            http.close()

    def _crew(self, profile: LoadProfile, *, remote: bool) -> LocustCrew:
        """Enough users for this load; those that are more than enough stay idle."""
        users = max(profile.users, worker_count(profile, remote))
        pool = get_hub().threadpool
        pool.maxsize = max(pool.maxsize, profile.users)
        if self._runner.user_count < users:
            self._runner.start(users, SPAWN_RATE)
        self._environment.stats.reset_all()
        return LocustCrew(self._environment, self._jobs, remote=remote)


def _http(url: str, profile: LoadProfile) -> Http:
    connections = max(profile.users, worker_count(profile, remote=True))
    return Http(url, connections, profile.timeout_s)


@lru_cache(maxsize=1)
def _ids(path: Path, _changed_ns: int) -> list[str]:
    """The ids in a file; read once, however many trials ask for them."""
    return store.load_ids(path)


def _listen(orders: SimpleQueue[object]) -> None:
    """Pass on what the parent orders; end the process, whatever it is doing, with the parent."""
    try:
        while True:
            orders.put(messages.decode(lambda size: messages.read_exactly(0, size)))
    except EOFError:
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def main() -> None:
    """Serve the parent until it closes stdin."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    logging.getLogger("locust").setLevel(logging.ERROR)  # the runner reports a busy client itself
    # These two names were bound before locust patched them: a thread of the system, which runs
    # while Locust's event loop does not.
    orders: SimpleQueue[object] = SimpleQueue()
    start_new_thread(_listen, (orders,))
    load = Load()
    gc.collect()
    gc.freeze()
    with os.fdopen(int(sys.argv[1]), "wb") as out:
        while True:
            messages.write(out, load.answer(orders.get()))


if __name__ == "__main__":
    main()
