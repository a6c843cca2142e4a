"""Progress with an ETA on stderr; results never go there."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from tqdm import tqdm

PLAIN_EVERY_S = 15.0


class Progress:
    """Lines, stages and the count of trials of one run.

    On a terminal the bars redraw themselves; elsewhere a line is printed now and then.
    """

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._trials: tqdm[NoReturn] | None = None
        self._started = 0.0
        self._said = 0.0
        self._before = self._done = self._total = 0

    def say(self, line: str) -> None:
        """One line for the person who waits."""
        tqdm.write(line, file=sys.stderr)

    @contextmanager
    def trials(self, total: int, done: int) -> Iterator[None]:
        """Count trials until the end of the block; those done before count as done."""
        self._started = time.monotonic()
        self._before, self._done, self._total = done, done, total
        self._trials = bar = tqdm(
            total=total,
            initial=done,
            desc="trials",
            unit="trial",
            file=sys.stderr,
            dynamic_ncols=True,
            disable=not self._terminal,
        )
        try:
            yield
        finally:
            bar.close()
            self._trials = None

    def trial_done(self, label: str) -> None:
        """One trial more."""
        if self._trials is None:
            return
        self._trials.set_postfix_str(label, refresh=False)
        self._trials.update(1)
        now = time.monotonic()
        if self._done == self._before:  # what came before the first trial does not recur
            self._started = now
        self._done += 1
        last = self._done == self._total
        if not self._terminal and (now - self._said > PLAIN_EVERY_S or last):
            self._said = now
            self.say(f"{self._done}/{self._total} trials{self._eta(now)}")

    def _eta(self, now: float) -> str:
        measured = self._done - self._before - 1
        if self._done >= self._total or measured <= 0:
            return ""
        left_s = (now - self._started) / measured * (self._total - self._done)
        return f", about {duration(left_s)} left"

    @contextmanager
    def stage(self, title: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Count the documents of one stage; gives the function that counts them.

        Without a total, as of a stream, nobody knows when it ends. The function has a method `say`
        for what is done while no document is.
        """
        with tqdm(
            total=total,
            desc=title,
            unit="doc",
            file=sys.stderr,
            leave=False,
            dynamic_ncols=True,
            delay=0.5,
            disable=not self._terminal,
        ) as bar:
            started = time.monotonic()

            yield _Stage(self, title, bar)
        spent_s = time.monotonic() - started
        if not self._terminal and spent_s > PLAIN_EVERY_S:
            count = "" if total is None else f"{total} documents in "
            self.say(f"{title}: {count}{duration(spent_s)}")


class _Stage:
    """Counts the documents of one stage."""

    def __init__(self, progress: Progress, title: str, bar: tqdm[NoReturn]) -> None:
        self._progress, self._title, self._bar = progress, title, bar
        self._said = time.monotonic()

    def __call__(self, count: int) -> None:
        self._bar.update(count)

    def say(self, what: str) -> None:
        """Beside the bar on a terminal; elsewhere a line now and then."""
        if not self._bar.disable:
            self._bar.set_postfix_str(what)
        elif time.monotonic() - self._said > PLAIN_EVERY_S:
            self._said = time.monotonic()
            self._progress.say(f"{self._title}: {what}")


def duration(seconds: float) -> str:
    """Seconds for people: `45 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
