"""The load process: `python -m loadtest.locustfile FD`, told by a `LoadRunner` what to do.

It and the modules that it alone imports (`crew`, `web`) import locust, which patches sockets and
threads as it is imported. It is told through stdin and answers on the file descriptor FD, where
nothing that a library prints can come in between. It ends when stdin closes, so that it never
outlives its parent.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import traceback
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue

import gevent
import numpy as np
from gevent import get_hub
from gevent.queue import Queue
from locust.env import Environment

from indexers.address import address
from indexers.errors import HarnessError, LoadError
from loadtest import messages, phases, web
from loadtest.crew import LocustCrew, SearchUser
from loadtest.messages import Calibrate, Failure, Measure, Serve, Served, Stop
from loadtest.null import NullHttpSearcher, NullSearcher
from loadtest.opening import http_to, opened
from loadtest.profile import LoadProfile, LoadResult
from loadtest.schedule import worker_count
from loadtest.tally import one_line
from loadtest.transport import without_credentials
from loadtest.watch import Watch

TICK_S = 1.0
"""Between two ticks to a parent that watches."""

SPAWN_RATE = 100
"""Users started a second: all at once in process; those for an engine during its warm-up."""


class Load:
    """A Locust environment whose users serve one order of the parent after another.

    Args:
        orders: where the parent's next order arrives.
        tell: says something to the parent.
    """

    def __init__(self, orders: SimpleQueue[object], tell: Callable[[object], None]) -> None:
        self._orders, self._tell = orders, tell
        self._jobs = Queue()
        user = type("Searches", (SearchUser,), {"jobs": self._jobs, "abstract": False})
        self._environment = Environment(user_classes=[user])
        self._runner = self._environment.create_local_runner()

    def answer(self, message: object) -> LoadResult | Served | Failure:
        """Carry out one order; no credentials are in what is told of one that failed."""
        try:
            if isinstance(message, Measure):
                return self._measure(message)
            if isinstance(message, Serve):
                return self._serve(message)
            assert isinstance(message, Calibrate)
            return self._calibrate(message)
        except HarnessError as error:
            return Failure(type(error).__name__, _hidden(one_line(error), message))
        except Exception as error:
            sys.stderr.write(_hidden(traceback.format_exc(), message))
            told = f"the index could not be searched: {one_line(error)}"
            return Failure("BackendError", _hidden(told, message))

    def _measure(self, order: Measure) -> LoadResult:
        """Put a load on a built index."""
        target, profile, watch = order.target, order.profile, Watch() if order.watched else None
        with opened(target, profile) as index, self._watched(watch):
            crew = self._crew(profile, remote=index.remote)
            runnable, count, k = index.runnable, index.queries, index.k
            result = phases.run(crew, index.searcher, profile, runnable, count, k, watch)
        texts = tuple(_hidden(text, order) for text in result.error_texts)
        return replace(result, error_texts=texts)

    @contextmanager
    def _watched(self, watch: Watch | None) -> Iterator[None]:
        """Send a tick every second, and what is left at the end."""
        if watch is None:
            yield
            return

        def look() -> None:
            while True:
                gevent.sleep(TICK_S)
                self._tell(watch.look())

        looking = gevent.spawn(look)
        try:
            yield
        finally:
            looking.kill()
            self._tell(watch.look())

    def _serve(self, order: Serve) -> Served:
        """Let a person put the load."""
        try:
            with opened(order.target, order.profile) as index:
                web.Page(order, index, self._tell).serve(self._stopped)
        except OSError as error:
            raise LoadError(f"Locust's page cannot be served: {one_line(error)}") from error
        return Served()

    def _stopped(self) -> bool:
        """Whether the parent wants what goes on to end."""
        with suppress(Empty):
            return isinstance(self._orders.get_nowait(), Stop)
        return False

    def _calibrate(self, order: Calibrate) -> LoadResult:
        """Put a load on an index that answers at once."""
        http = None if order.url is None else http_to(address("engine", order.url), order.profile)
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


def _hidden(text: str, order: object) -> str:
    """The text without what opens the server of an order."""
    if isinstance(order, Measure | Serve):
        return without_credentials(text, order.target.config)
    return text


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
    with os.fdopen(int(sys.argv[1]), "wb") as out:
        load = Load(orders, partial(messages.write, out))
        gc.collect()
        gc.freeze()
        while True:
            order = orders.get()
            if not isinstance(order, Stop):  # one that came too late has nothing to end
                messages.write(out, load.answer(order))


if __name__ == "__main__":
    main()
