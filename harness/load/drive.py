"""Putting the load and telling how it goes; what is asked is the caller's."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from harness.load.figures import per_second
from harness.progress import Progress, duration
from harness.report.numbers import significant
from indexers.errors import BackendError, EngineUnavailable, HarnessError, SettingError
from loadtest.messages import Serve, Tick
from loadtest.profile import AttachedIndex, LoadProfile, LoadResult, Target
from loadtest.recording import Recording
from loadtest.runner import LoadRunner
from loadtest.schedule import worker_count

TELL_EVERY_S = 3.0
_PHASES = {
    "warm-up": "warming up",
    "burst": "closed-loop burst",
    "rest": "asking what the load left unasked, for its quality",
}


class Telling:
    """Says every few seconds how a load goes, and records it.

    Args:
        progress: where it is said.
        ends_s: length of the load; None for one without an end.
    """

    def __init__(self, progress: Progress, ends_s: float | None) -> None:
        self.recording = Recording()
        self._progress, self._ends_s = progress, ends_s
        self._said_s = time.monotonic()
        self._phase = ""

    def __call__(self, tick: Tick) -> None:
        """Take in a tick."""
        self.recording.add(tick)
        new = tick.phase != self._phase and tick.phase in _PHASES
        self._phase = tick.phase
        if new:
            self._progress.say(_PHASES[tick.phase])
        elif tick.phase == "load" and time.monotonic() - self._said_s >= TELL_EVERY_S:
            self._said_s = time.monotonic()
            self._progress.say(self.line())

    def line(self) -> str:
        """How it goes."""
        seen = self.recording
        p50, p99 = (significant(value) for value in seen.percentiles().values())
        left = "" if self._ends_s is None else f", {duration(self._left_s(self._ends_s))} left"
        return (
            f"{duration(seen.elapsed_s)}: {per_second(seen.rate_per_s)} requests/s, p50 {p50} ms, "
            f"p99 {p99} ms, {seen.errors:,} errors{left}"
        )

    def _left_s(self, ends_s: float) -> float:
        return max(0.0, ends_s - self.recording.elapsed_s)


@dataclass(frozen=True, slots=True)
class Driven:
    """What came of a load.

    Attributes:
        seen: the result, or what was told of it until it was cut short.
        lasted_s: from the first request due to the last one sent.
        interrupted: whether it was cut short.
    """

    seen: LoadResult | Recording
    lasted_s: float
    interrupted: bool = False


def drive(
    runner: LoadRunner, target: Target | AttachedIndex, profile: LoadProfile, progress: Progress
) -> Driven:
    """Put the load, until its end or Ctrl-C.

    Raises:
        BackendError: the index broke or its engine went away; what was measured until then is
            told on stderr.
        LoadError: the load process broke.
    """
    telling = Telling(progress, profile.samples / profile.rate_per_s)
    try:
        result = runner.run(target, profile, telling)
    except KeyboardInterrupt:
        return Driven(telling.recording, telling.recording.sent_s, interrupted=True)
    except HarnessError as error:
        raise _ended(error, telling, progress) from error
    return Driven(result, len(result.latency_ms) / result.rate_per_s)


def _ended(error: HarnessError, telling: Telling, progress: Progress) -> HarnessError:
    """Tell what was measured until then; an engine that goes away now is no bad start."""
    if telling.recording.sent:
        progress.say(f"until then: {telling.line()}")
    return BackendError(str(error)) if isinstance(error, EngineUnavailable) else error


def serve(
    runner: LoadRunner,
    target: Target | AttachedIndex,
    profile: LoadProfile,
    *,
    remote: bool,
    users: int | None,
    run_s: float | None,
    port: int,
    progress: Progress,
    ended: Callable[[Driven], None],
) -> None:
    """Keep Locust's page until Ctrl-C.

    Args:
        runner: owns the load process.
        target: what is asked.
        profile: its rate is kept by as many users as the page proposes.
        remote: whether the index is an engine's.
        users: that the page proposes; None for as many as can keep the rate.
        run_s: length of a run that it proposes.
        port: of the page; 0 for a free one.
        progress: where it is said how it goes.
        ended: told of every run that a person started, once it has stopped.

    Raises:
        SettingError: the port is taken.
        BackendError, LoadError: as `drive`.
    """
    port = free_port(port)
    proposed = users or worker_count(profile, remote)
    order = Serve(target, profile, port, proposed, None if run_s is None else max(1, round(run_s)))
    page = _PageTelling(port, progress, ended)
    try:
        runner.serve(order, page)
    except HarnessError as error:
        page.stop()
        raise BackendError(str(error)) from error
    page.stop()


class _PageTelling:
    """Follows the runs that a person starts on the page."""

    def __init__(self, port: int, progress: Progress, ended: Callable[[Driven], None]) -> None:
        self._port, self._progress, self._ended = port, progress, ended
        self._telling: Telling | None = None
        self._run = -1

    def __call__(self, tick: Tick) -> None:
        if self._run < 0:
            self._run = 0
            self._progress.say(
                f"Locust's page is at http://127.0.0.1:{self._port}: start and stop the load "
                "there; Ctrl-C here closes it"
            )
        if tick.run != self._run:
            self.stop()
            self._run, self._telling = tick.run, Telling(self._progress, None)
        if self._telling is not None:
            self._telling(tick)
            if tick.phase == "idle":
                self.stop()

    def stop(self) -> None:
        """Tell of the run that is going on, if any."""
        telling, self._telling = self._telling, None
        if telling is not None:
            self._ended(Driven(telling.recording, telling.recording.sent_s))


def free_port(port: int) -> int:
    """The port, or a free one for 0.

    Raises:
        SettingError: it is taken.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise SettingError(
                f"--web-port {port}: 127.0.0.1 does not give it ({error.strerror}); choose "
                "another, or 0 for a free one"
            ) from None
        return int(probe.getsockname()[1])
