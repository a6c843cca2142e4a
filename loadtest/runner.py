"""Keeps the load process and collects what it saw."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import IO

from indexers import errors
from indexers.address import address
from indexers.errors import EngineUnavailable, HarnessError, LoadError
from loadtest import messages, schedule
from loadtest.messages import Calibrate, Failure, Measure
from loadtest.profile import LoadProfile, LoadResult, Target

OPEN_S = 180.0
"""Time granted on top of a schedule: start of the process, compilation, opening the index."""

QUIET = {
    **dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
    ),
    # Timers of gevent's default event loop are whole milliseconds; with `select` they are not.
    "GEVENT_BACKEND": "select",
}
"""Environment of the load process: a request uses one core, and timers are not rounded."""

ROOT = Path(__file__).parents[1]

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
        self._child: _Child | None = None

    def __enter__(self) -> LoadRunner:
        # Started now, so that it imports while the caller builds its first index.
        self._child = _Child(self._command)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def run(self, target: Target, profile: LoadProfile) -> LoadResult:
        """Put the load on a built index.

        Raises:
            LoadError: no query is runnable, or the load process died, hung or spoke nonsense;
                the next call starts a new one.
            EngineUnavailable: the engine went away.
            BackendError: the index could not be opened, or every request failed.
        """
        try:
            return self._order(Measure(target, profile), profile, len(target.runnable))
        except EngineUnavailable as error:
            if target.config.url is None:
                raise
            shown = address(target.handle.spec.backend, target.config.url).shown
            raise EngineUnavailable(f"{shown}: {error}") from error

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
        if not remote:
            return self._order(Calibrate(None, profile, k, queries), profile, queries)
        with _null_server(k) as url:
            return self._order(Calibrate(url, profile, k, queries), profile, queries)

    def _order(self, order: object, profile: LoadProfile, runnable: int) -> LoadResult:
        if self._child is None or not self._child.alive:
            self._stop()
            self._child = _Child(self._command)
        limit_s = self._grace_s + schedule.longest_s(profile, runnable)
        try:
            reply = self._child.ask(order, limit_s)
        except BaseException:  # Ctrl-C too: what it is doing now is of no more use
            self._stop()
            raise
        if isinstance(reply, Failure):
            raise _error(reply)
        if not isinstance(reply, LoadResult):
            self._stop()
            raise LoadError(f"the load process answered with a {type(reply).__name__}")
        return reply

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.stop()


class _Child:
    """A load process and the pipes to it."""

    def __init__(self, command: Sequence[str]) -> None:
        # Appending, since parent and child share the position in the file.
        self._stderr: IO[bytes] = tempfile.TemporaryFile("a+b")  # noqa: SIM115 - closed in stop
        self._answers, answer_to = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*command, str(answer_to)],
                stdin=subprocess.PIPE,
                stdout=self._stderr,
                stderr=self._stderr,
                env=_environment(),
                pass_fds=(answer_to,),
                process_group=0,  # the terminal sends Ctrl-C to the parent alone
            )
        finally:
            os.close(answer_to)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, order: object, limit_s: float) -> object:
        """Send an order and wait for the answer.

        Raises:
            LoadError: there is none.
        """
        end = monotonic() + limit_s
        assert self._process.stdin is not None
        try:
            messages.write(self._process.stdin, order)  # type: ignore[arg-type]
            return messages.decode(lambda size: self._read(size, end))
        except TimeoutError:
            raise LoadError(self._reason(f"did not answer within {limit_s:.0f} s")) from None
        except (EOFError, BrokenPipeError):
            raise LoadError(self._reason(self._ending())) from None
        except ValueError as error:
            raise LoadError(self._reason(f"spoke nonsense: {error}")) from None

    def _read(self, size: int, end: float) -> bytes:
        parts = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._answers, selectors.EVENT_READ)
            while len(parts) < size:
                if not selector.select(max(0.0, end - monotonic())):
                    raise TimeoutError
                part = os.read(self._answers, min(size - len(parts), 1 << 20))
                if not part:
                    raise EOFError
                parts += part
        return bytes(parts)

    def _ending(self) -> str:
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "closed its pipe"
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit status {code}"

    def _reason(self, what: str) -> str:
        size = os.fstat(self._stderr.fileno()).st_size
        tail = os.pread(self._stderr.fileno(), 4096, max(0, size - 4096))
        lines = tail.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"the load process {what}" + (f"; its last words: {last}" if last else "")

    def stop(self) -> None:
        """End the process at once and let go of the pipes."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        os.close(self._answers)
        self._stderr.close()


def _environment() -> dict[str, str]:
    """Ours, made quiet, and with this checkout on the path where nothing is installed."""
    environment = {**os.environ, **QUIET}
    if ROOT.name != "site-packages":
        path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(path)
    return environment


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
        env=_environment(),
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
