"""The phases of a trial, in terms of a crew of workers. Knows no Locust, so it can be read alone.

Open loop: requests leave on a schedule whatever the answers do, and latency runs from the
intended start. A stall is thus seen by every request that was due while it lasted (G. Tene's
"coordinated omission").
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

import numpy as np

from indexers.errors import LoadError
from indexers.protocols import Searcher
from indexers.types import I32
from loadtest.afterwards import ask_afterwards
from loadtest.asker import Asker, Crew, Outcome
from loadtest.profile import LoadProfile, LoadResult
from loadtest.samples import Samples, result_of
from loadtest.schedule import (
    Replay,
    intended_s,
    sample_count,
    worker_count,
)
from loadtest.tally import Tally
from loadtest.watch import Watch

WARMUP_WORKERS = 2
SETTLED = 0.2
"""Two successive windows of the warm-up agree when their medians differ by at most this share of
the smaller."""


def run(
    crew: Crew,
    searcher: Searcher,
    profile: LoadProfile,
    runnable: I32,
    queries: int,
    k: int,
    watch: Watch | None = None,
) -> LoadResult:
    """Put the load on an opened index, phase by phase.

    Args:
        crew: who asks.
        searcher: what is asked.
        profile: the load.
        runnable: int32 (m,), rows of the queries that may be asked.
        queries: number of all queries.
        k: answers kept per query; with 0, what the load leaves unanswered is not asked
            afterwards.
        watch: told what is going on.

    Raises:
        LoadError: no query is runnable.
        BackendError: every request fails.
        EngineUnavailable: the engine went away.
    """
    if len(runnable) == 0:
        raise LoadError("no query can be asked: none has a usable fingerprint")
    replay = Replay(runnable, profile)
    asker = Asker(crew, searcher, profile, Tally(queries, k), watch)
    ahead = replay.warm_up()
    cold = asker.ask(next(ahead))
    with _no_collection():
        settled = _warm_up(asker, ahead)
        asker.tally.texts.clear()  # the first requests wait for a compiler; they are not counted
        samples = _open_loop(asker, replay.measured(sample_count(profile, len(runnable))))
        qps, burst_errors = _burst(asker, replay.burst(samples.sent))
    if k:
        ask_afterwards(asker, replay.order, samples.query[: samples.sent])
    return result_of(
        asker,
        samples,
        qps=qps,
        burst_errors=burst_errors,
        settled=settled,
        cold_ms=_cold_ms(cold, profile),
    )


def _cold_ms(cold: Outcome, profile: LoadProfile) -> float | None:
    """Its time, also where that was too long; None where it failed."""
    answered = cold.hits is not None or cold.took_s > profile.timeout_s
    return 1e3 * cold.took_s if answered else None


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector, which stops every worker, out of the measurement."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _warm_up(asker: Asker, ahead: Iterator[int]) -> bool:
    """Ask until two successive windows agree; whether they did in time."""
    window = -(-asker.profile.warmup_min // 2)
    if window <= 0:
        return True
    end = perf_counter() + asker.profile.warmup_max_s
    previous = None
    while perf_counter() < end:
        times = _window(asker, ahead, window, end)
        asker.go_on()
        if len(times) < window:
            return False
        median = sorted(times)[(window - 1) // 2]
        if previous is not None and _agree(previous, median):
            return True
        previous = median
    return False


def _window(asker: Asker, ahead: Iterator[int], window: int, end: float) -> list[float]:
    """Service times of the next so many requests, fewer where time runs out."""
    times: list[float] = []
    turns = iter(range(window))

    def work() -> None:
        for _ in turns:
            if asker.tally.fatal is not None or perf_counter() >= end:
                return
            outcome = asker.ask(next(ahead))
            times.append(np.inf if outcome.hits is None else outcome.took_s)

    asker.crew.together(work, min(WARMUP_WORKERS, asker.profile.users))
    return times


def _agree(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= SETTLED * min(a, b)  # never of an infinite one and another


def _open_loop(asker: Asker, queries: I32) -> Samples:
    """Send the schedule of these queries; stops early where the backlog runs past its limit."""
    profile, n = asker.profile, len(queries)
    samples = Samples(
        due_s=intended_s(n, profile.rate_per_s),
        query=queries,
        latency_s=np.full(n, np.inf),
        service_s=np.full(n, np.inf),
    )
    asked, due_s = samples.query.tolist(), samples.due_s.tolist()
    end = due_s[-1] + profile.backlog_limit_s
    begin = perf_counter() + 0.005  # time for the workers to get to their places
    if asker.watch is not None:
        asker.watch.begin_s = begin
    asker.begin("load")

    def work() -> None:
        while samples.sent < n and not samples.saturated and asker.tally.fatal is None:
            turn = samples.sent
            wait = due_s[turn] - (perf_counter() - begin)
            if wait < -profile.backlog_limit_s:
                samples.saturated = True
                return
            samples.sent += 1
            if wait > 0:
                asker.crew.sleep(wait)
            samples.last_start_s = max(samples.last_start_s, perf_counter() - begin)
            if asker.watch is not None:
                asker.watch.sent += 1
                asker.watch.sent_s = samples.last_start_s
            outcome = asker.ask(asked[turn])
            came_s = outcome.started_s + outcome.took_s - begin
            if came_s > end:
                samples.saturated = True
            _take(asker, samples, turn, outcome, came_s)

    asker.crew.together(work, worker_count(profile, asker.crew.remote))
    asker.go_on()
    return samples


def _take(asker: Asker, samples: Samples, turn: int, outcome: Outcome, came_s: float) -> None:
    """Record one measured request, whose answer came that long after the schedule began."""
    if outcome.hits is None:
        samples.errors += 1
    elif not samples.saturated:
        # What was on its way when the backlog ran over never came back in time.
        samples.latency_s[turn] = came_s - samples.due_s[turn]
        samples.service_s[turn] = outcome.took_s
        asker.tally.keep(int(samples.query[turn]), outcome.hits, under_load=True)
    if asker.watch is not None:
        _tell(asker.watch, samples, turn)


def _tell(watch: Watch, samples: Samples, turn: int) -> None:
    watch.errors, watch.saturated = samples.errors, samples.saturated
    latency_s, service_s = float(samples.latency_s[turn]), float(samples.service_s[turn])
    watch.ended.append((latency_s, service_s, int(samples.query[turn])))


def _burst(asker: Asker, ahead: Iterator[int]) -> tuple[float | None, int]:
    """Ask as fast as the users can: answers a second, and how many requests failed."""
    if asker.profile.burst_s <= 0:
        return None, 0
    asker.begin("burst")
    answered = failed = 0
    begin = perf_counter()

    def work() -> None:
        nonlocal answered, failed
        while perf_counter() - begin < asker.profile.burst_s and asker.tally.fatal is None:
            hits = asker.ask(next(ahead)).hits
            answered += hits is not None
            failed += hits is None

    asker.crew.together(work, asker.profile.users)
    elapsed = perf_counter() - begin
    asker.go_on()
    return answered / elapsed, failed
