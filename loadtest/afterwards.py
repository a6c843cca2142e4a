"""Asking, without load, what a load left unanswered: quality does not depend on noise."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from time import perf_counter

import numpy as np

from indexers.errors import BackendError
from indexers.types import I32
from loadtest.asker import Asker
from loadtest.profile import NOT_ASKED, UNANSWERED
from loadtest.schedule import ask_afterwards_s

STALLED = 5
"""Failures in a row without load that are not those of the queries, but of the server."""
WAITS_S = (1.0, 2.0, 4.0, 8.0, 15.0)
"""Waits for a server that stalls; then the trial has failed, since it cannot be scored."""


def ask_afterwards(asker: Asker, order: I32, asked: I32) -> None:
    """Ask what the load left unanswered.

    What it never asked, a replay by Zipf's law leaves most of, is asked by several workers; what
    failed under load, or fails then, one after another.

    Args:
        asker: asks.
        order: int32 (m,), all queries that may be asked.
        asked: int32 (n,), those that the load asked.

    Raises:
        BackendError: so many fail in a row, time and again, that what is left counts as not
            asked: to score it as missed would be a figure that nobody measured.
        EngineUnavailable: the server is gone.
    """
    state = asker.tally.state
    unasked = np.setdiff1d(order[state[order] == NOT_ASKED], asked)
    end = perf_counter() + ask_afterwards_s(asker.profile, len(unasked))
    _ask_unasked(asker, order[np.isin(order, unasked)].tolist(), end)
    _ask_failed(asker, order[state[order] == NOT_ASKED].tolist(), end)


def _ask_failed(asker: Asker, queries: Sequence[int], end: float) -> None:
    """Ask one after another; a few in a row that fail are asked again after a wait."""
    left, failed, waits = deque(queries), list[int](), iter(WAITS_S)
    while left:
        asker.begin("rest")
        query = left.popleft()
        asker.tally.state[query] = UNANSWERED
        if _answered(asker, query):
            failed.clear()
            continue
        asker.go_on()
        failed.append(query)
        if len(failed) < STALLED:
            continue
        wait_s = next(waits, None)
        if wait_s is None or perf_counter() + wait_s >= end:
            raise BackendError(
                f"{len(left) + len(failed)} queries could not be answered, even without load: "
                f"{asker.tally.texts[-1]}"
            )
        asker.crew.sleep(wait_s)
        left.extendleft(reversed(failed))
        failed.clear()


def _ask_unasked(asker: Asker, queries: Sequence[int], end: float) -> None:
    """Ask these in several workers, until too many fail in a row."""
    failures = 0
    turns = iter(queries)

    def work() -> None:
        nonlocal failures
        for query in turns:
            failures = 0 if _answered(asker, query) else failures + 1
            if failures >= STALLED or asker.tally.fatal or perf_counter() >= end:
                return

    if queries:
        asker.begin("rest")
        asker.crew.together(work, min(asker.profile.users, len(queries)))
        asker.go_on()


def _answered(asker: Asker, query: int) -> bool:
    """Ask without load; whether an answer came."""
    hits = asker.ask(query).hits
    if hits is not None:
        asker.tally.keep(query, hits, under_load=False)
    return hits is not None
