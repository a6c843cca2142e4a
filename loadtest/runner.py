"""Keeps the load process and collects what it saw."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType

from indexers import errors
from indexers.address import address
from indexers.errors import EngineUnavailable, HarnessError, LoadError
from loadtest import schedule
from loadtest.messages import Calibrate, Failure, Measure, Serve, Served, Stop, Tick
from loadtest.process import ROOT as ROOT
from loadtest.process import Child, environment
from loadtest.profile import AttachedIndex, LoadProfile, LoadResult, Target

OPEN_S = 180.0
"""Time granted on top of a schedule: start of the process, compilation, opening the index."""

LOAD_PROCESS = (sys.executable, "-P", "-m", "loadtest.locustfile")
NULL_SERVER = (sys.executable, "-P", "-m", "loadtest.null_server")


class LoadRunner:
    """Owns the one load process of a study. Use as a context manager.

    Args:
        command: what to start, with the file descriptor to answer on as its last argument.
        grace_s: time granted on top of a schedule before the process counts as hanging.
    """

    def __init__(self, command: Sequence[str] = LOAD_PROCESS, grace_s: float = OPEN_S) -> None:
        self._command = tuple(command)
        self._grace_s = grace_s
        self._child: Child | None = None

    def __enter__(self) -> LoadRunner:
        # Started now, so that it imports while the caller builds its first index.
        self._child = Child(self._command)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def run(
        self,
        target: Target | AttachedIndex,
        profile: LoadProfile,
        watch: Callable[[Tick], None] | None = None,
    ) -> LoadResult:
        """Put the load on a built index.

        Args:
            target: what is asked.
            profile: the load.
            watch: told every second what happened meanwhile.

        Raises:
            LoadError: no query is runnable, or the load process died, hung or spoke nonsense;
                the next call starts a new one.
            EngineUnavailable: the engine went away.
            BackendError: the index could not be opened, or every request failed.
        """
        order = Measure(target, profile, watched=watch is not None)
        with _named(target):
            return self._result(self._order(order, self._limit_s(profile, target), watch))

    def serve(self, order: Serve, watch: Callable[[Tick], None]) -> None:
        """Let a person put load on a built index from Locust's page, until Ctrl-C.

        Args:
            order: what is asked, and how.
            watch: told every second what happened meanwhile; the first time when the page is
                there.

        Raises:
            LoadError, EngineUnavailable, BackendError: as `run`.
            KeyboardInterrupt: Ctrl-C was pressed a second time.
        """
        with _named(order.target), self._stopping():
            reply = self._order(order, self._grace_s, watch, endless=True)
        if not isinstance(reply, Served):
            self._stop()
            raise LoadError(f"the load process answered with a {type(reply).__name__}")

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """Turn the first Ctrl-C or SIGTERM into an order to stop."""
        pressed: list[int] = []

        def stop(number: int, _frame: object) -> None:
            pressed.append(number)
            if len(pressed) > 1 or self._child is None:
                raise KeyboardInterrupt
            self._child.send(Stop())

        held = (signal.SIGINT, signal.SIGTERM)
        previous = [signal.signal(number, stop) for number in held]
        try:
            yield
        finally:
            for number, handler in zip(held, previous, strict=True):
                signal.signal(number, handler)

    def calibrate(self, remote: bool, profile: LoadProfile, *, k: int, queries: int) -> LoadResult:
        """Put the load on an index that answers at once, to see what the client itself can send.

        Args:
            remote: ask over HTTP, a server on 127.0.0.1, rather than in process.
            profile: the load.
            k: answers a query.
            queries: number of queries.

        Raises:
            LoadError: as `run`.
        """
        limit_s = self._grace_s + schedule.longest_s(profile, queries)
        if not remote:
            return self._result(self._order(Calibrate(None, profile, k, queries), limit_s))
        with _null_server(k) as url:
            return self._result(self._order(Calibrate(url, profile, k, queries), limit_s))

    def _limit_s(self, profile: LoadProfile, target: Target | AttachedIndex) -> float:
        return self._grace_s + schedule.longest_s(profile, len(target.runnable))

    def _order(
        self,
        order: object,
        limit_s: float,
        watch: Callable[[Tick], None] | None = None,
        *,
        endless: bool = False,
    ) -> object:
        if self._child is None or not self._child.alive:
            self._stop()
            self._child = Child(self._command)
        try:
            reply = self._child.ask(order, limit_s, watch, endless=endless)
        except BaseException:  # Ctrl-C too: what it is doing now is of no more use
            self._stop()
            raise
        if isinstance(reply, Failure):
            raise _error(reply)
        return reply

    def _result(self, reply: object) -> LoadResult:
        if not isinstance(reply, LoadResult):
            self._stop()
            raise LoadError(f"the load process answered with a {type(reply).__name__}")
        return reply

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.stop()


@contextmanager
def _named(target: Target | AttachedIndex) -> Iterator[None]:
    """Name the server in the error of one that went away."""
    try:
        yield
    except EngineUnavailable as error:
        url = target.config.url
        if url is None:
            raise
        raise EngineUnavailable(f"{address(target.engine, url).shown}: {error}") from error


def _error(failure: Failure) -> HarnessError:
    kind = getattr(errors, failure.kind, None)
    if isinstance(kind, type) and issubclass(kind, HarnessError):
        return kind(failure.text)
    return LoadError(failure.text)


@contextmanager
def _null_server(k: int) -> Iterator[str]:
    """URL of a running null server."""
    process = subprocess.Popen(
        [*NULL_SERVER, str(k)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        process_group=0,
    )
    with process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            if not port:
                raise LoadError("the null server did not start: see that 127.0.0.1 can be bound")
            yield f"http://127.0.0.1:{int(port)}"
        finally:
            process.kill()
