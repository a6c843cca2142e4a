"""Asking one query: the seam between the phases of a trial and whoever sends requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple, Protocol

from indexers.index_types import Hits
from indexers.protocols import Searcher
from loadtest.profile import LoadProfile
from loadtest.tally import Tally
from loadtest.watch import Watch


class Crew(Protocol):
    """Workers that can wait for several answers at a time. Between waits only one runs."""

    remote: bool

    def together(self, work: Callable[[], None], workers: int) -> None:
        """Do the work in so many workers at once; returns when all of them have."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let the other workers run."""
        ...

    def search(self, searcher: Searcher, query: int) -> Hits:
        """Ask, and let the other workers run meanwhile."""
        ...

    def report(self, service_s: float, hits: int, error: BaseException | None) -> None:
        """Tell Locust's own statistics of a request."""
        ...


class Outcome(NamedTuple):
    """What came of asking once.

    Attributes:
        hits: the answer; None where it failed or came too late.
        started_s: on the clock of `perf_counter`.
        took_s: until the answer, or until it failed.
    """

    hits: Hits | None
    started_s: float
    took_s: float


@dataclass(slots=True)
class Asker:
    """Asks, and tells the tally what came of it: what the phases of one trial share.

    Attributes:
        watch: told what is going on; None where nobody looks.
    """

    crew: Crew
    searcher: Searcher
    profile: LoadProfile
    tally: Tally
    watch: Watch | None = None

    def ask(self, query: int) -> Outcome:
        """Ask once."""
        started = perf_counter()
        error: Exception | None = None
        hits = None
        try:
            hits = self.crew.search(self.searcher, query)
        except Exception as raised:
            error = raised
        took = perf_counter() - started
        if error is None and took > self.profile.timeout_s:
            error = TimeoutError(f"no answer within {self.profile.timeout_s:g} s")
        if error is None:
            self.tally.succeeded()
            assert hits is not None
            self.tally.compare(query, hits)
        else:
            hits = None
            self.tally.failed(error)
        self.crew.report(took, 0 if hits is None else len(hits.ordinals), error)
        return Outcome(hits, started, took)

    def begin(self, phase: str) -> None:
        """Tell which phase begins."""
        if self.watch is not None:
            self.watch.phase = phase

    def go_on(self) -> None:
        """Raises what ended the trial, if anything did."""
        if self.tally.fatal is not None:
            raise self.tally.fatal
