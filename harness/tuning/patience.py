"""Waiting for a server that goes away in the middle of a study, and going on when it is back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from harness.progress import duration
from indexers.errors import BackendError, EngineUnavailable, IndexMissing
from indexers.index_types import BackendConfig
from indexers.protocols import Backend
from indexers.registry import backend
from loadtest.profile import LoadResult

LOOK_S = 10.0
"""Of one request that looks whether a server is there: one that hangs is away, too."""
POLL_S = 1.0
TRIES = 3
"""Builds of one index whose server goes away, after which its trials have failed."""
NOBODY_THERE = "Connection refused"
"""In the error of a request that found no server."""


class Patience:
    """Waits for servers that went away, each once until a trial there has finished again.

    Args:
        limit_s: how long one is waited for.
        say: tells the person who waits.
    """

    def __init__(self, limit_s: float, say: Callable[[str], None]) -> None:
        self._limit_s, self._say = limit_s, say
        self._given_up: set[str] = set()

    def persist(self, name: str, act: Callable[[], None], look: Callable[[], object]) -> None:
        """Do it, and once more where its server went away or its index was removed meanwhile.

        Args:
            name: of the backend.
            act: goes on with what is left of it.
            look: makes sure that the server is there, and holds nothing that an earlier try left.

        Raises:
            EngineUnavailable: the server did not come back, or went away time and again.
            IndexMissing: the index was removed time and again.
            BackendError: something else broke; it is not tried again.
        """
        if name in self._given_up:
            look()
        for tries_left in reversed(range(TRIES)):
            try:
                act()
                return
            except (EngineUnavailable, IndexMissing) as error:
                if not tries_left or name in self._given_up or not self._back(name, look, error):
                    if isinstance(error, EngineUnavailable):
                        self._given_up.add(name)
                    raise

    def finished(self, name: str) -> None:
        """A trial on this backend has finished: the next time its server is waited for again."""
        self._given_up.discard(name)

    def _back(self, name: str, look: Callable[[], object], error: BackendError) -> bool:
        """Whether the server is there, at once or after a while."""
        waited_s = error.waited_s if isinstance(error, EngineUnavailable) else 0.0
        limit_s = max(0.0, self._limit_s - waited_s)
        self._say(f"{name}: {error}")
        end, told = time.monotonic() + limit_s, False
        while True:
            try:
                look()
            except BackendError as reason:
                if time.monotonic() >= end:
                    lasted = duration(self._limit_s)
                    self._say(f"{name} did not come back within {lasted}: {reason}")
                    return False
                if not told:
                    self._say(f"{name} is waited for, up to {duration(limit_s)}; Ctrl-C ends it")
                    told = True
            else:
                self._say(f"{name} is there: going on with what is left")
                return True
            time.sleep(min(POLL_S, max(0.0, end - time.monotonic())))


def brief(config: BackendConfig, name: str) -> Backend:
    """The same backend, for looking at it: it gives up soon where nobody answers."""
    return backend(name)(replace(config, timeout_s=min(LOOK_S, config.timeout_s)))


def check_there(looking: Backend) -> None:
    """Look whether the server answers, be it with a refusal.

    Raises:
        EngineUnavailable: it does not, or is red.
    """
    try:
        looking.check()
    except EngineUnavailable:
        raise
    except BackendError:
        return


def check_was_there(looking: Backend, result: LoadResult) -> None:
    """Refuse what was measured while the server was away, be it back by now or not.

    Raises:
        EngineUnavailable: it was, or is.
    """
    if not looking.remote or not result.error_texts:
        return
    for text in result.error_texts:
        if NOBODY_THERE in text:
            raise EngineUnavailable(f"the server was away while it was measured ({text})")
    check_there(looking)
