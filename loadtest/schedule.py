"""Which query is asked when. Pure arithmetic: the same seed gives the same order everywhere."""

from __future__ import annotations

import numpy as np

from indexers.atoms import GAMMA, mixed
from indexers.types import F64, I32, U64
from loadtest.profile import LoadProfile

MAX_WORKERS = 128
"""Requests to an engine that may be on their way at once; one connection each."""

ASK_AFTERWARDS_S = 120.0
"""Limit of asking, without load, what stayed unanswered under load."""


def splitmix64(seed: int, n: int) -> U64:
    """The first n outputs of splitmix64 from this seed, uint64 (n,)."""
    steps = np.arange(1, n + 1, dtype=np.uint64) * GAMMA
    return mixed(steps + np.uint64(seed % 2**64))


def query_cycle(runnable: I32, seed: int) -> I32:
    """The runnable queries, each once, in an order that depends on the seed alone."""
    order = np.argsort(splitmix64(seed, len(runnable)), kind="stable")
    return np.asarray(runnable[order], dtype=np.int32)


def sample_count(profile: LoadProfile, runnable: int) -> int:
    """Measured requests: as asked for, and at least one per runnable query where that is so."""
    return max(profile.samples, runnable) if profile.every_query else profile.samples


def intended_s(n: int, rate_per_s: float) -> F64:
    """Intended starts of n requests in seconds from the start of the schedule, float64 (n,)."""
    return np.arange(n, dtype=np.float64) / rate_per_s


def worker_count(profile: LoadProfile, remote: bool) -> int:
    """Workers that keep the schedule.

    A process answers with as many threads as it has users. Requests to an engine only wait, so
    there are enough workers to keep the rate though each request takes as long as it may.
    """
    if not remote:
        return profile.users
    enough = int(np.ceil(profile.rate_per_s * profile.timeout_s))
    return max(profile.users, min(MAX_WORKERS, enough))


def longest_s(profile: LoadProfile, runnable: int) -> float:
    """Time that a trial may take once its index is open; longer means that it hangs.

    Every phase may overrun by the one request per worker that is on its way, and connecting and
    reading may each take the whole timeout.
    """
    scheduled = sample_count(profile, runnable) / profile.rate_per_s + profile.backlog_limit_s
    overrun = 5 * 2 * profile.timeout_s
    return profile.warmup_max_s + scheduled + profile.burst_s + ASK_AFTERWARDS_S + overrun
