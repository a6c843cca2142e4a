"""The load process as its parent sees it: started, told, heard, ended."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import IO

from indexers.errors import LoadError
from loadtest import messages
from loadtest.messages import Tick

QUIET = {
    **dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
    ),
    # Timers of gevent's default event loop are whole milliseconds; with `select` they are not.
    "GEVENT_BACKEND": "select",
}
"""Environment of the load process: a request uses one core, and timers are not rounded."""

ROOT = Path(__file__).parents[1]


class Child:
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
                env=environment(),
                pass_fds=(answer_to,),
                process_group=0,  # the terminal sends Ctrl-C to the parent alone
            )
        finally:
            os.close(answer_to)

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def ask(
        self,
        order: object,
        limit_s: float,
        watch: Callable[[Tick], None] | None = None,
        *,
        endless: bool = False,
    ) -> object:
        """Send an order and wait for the answer.

        Args:
            order: what to do.
            limit_s: of the wait.
            watch: told of every tick that comes before it.
            endless: every tick begins the wait anew.

        Raises:
            LoadError: there is none.
        """
        end = monotonic() + limit_s
        with self._telling(limit_s):
            self.send(order)
        while True:
            with self._telling(limit_s):
                reply = self._heard(end)
            if not isinstance(reply, Tick):
                return reply
            if watch is not None:
                watch(reply)
            if endless:
                end = monotonic() + limit_s

    @contextlib.contextmanager
    def _telling(self, limit_s: float) -> Iterator[None]:
        """Turn what goes wrong between the processes into one line."""
        try:
            yield
        except TimeoutError:
            raise LoadError(self._reason(f"did not answer within {limit_s:.0f} s")) from None
        except (EOFError, BrokenPipeError):
            raise LoadError(self._reason(self._ending())) from None
        except ValueError as error:
            raise LoadError(self._reason(f"spoke nonsense: {error}")) from None

    def _heard(self, end: float) -> object:
        return messages.decode(lambda size: self._read(size, end))

    def send(self, order: object) -> None:
        """Send an order and go on."""
        assert self._process.stdin is not None
        messages.write(self._process.stdin, order)  # type: ignore[arg-type]

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


def environment() -> dict[str, str]:
    """Ours, made quiet, and with this checkout on the path where nothing is installed."""
    environment = {**os.environ, **QUIET}
    if ROOT.name != "site-packages":
        path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(path)
    return environment
