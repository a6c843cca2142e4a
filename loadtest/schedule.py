"""Which query is asked when. Pure arithmetic: the same seed gives the same order everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

import numpy as np

from indexers.atoms import GAMMA, mixed
from indexers.types import F64, I32, U64
from loadtest.profile import LoadProfile

MAX_WORKERS = 128
"""Requests to an engine that may be on their way at once; one connection each."""

DRAWN = 4096
"""Queries drawn at a time."""

ASK_AFTERWARDS_S = 120.0
"""Limit of asking, without load, one after another, what failed under load."""


def splitmix64(seed: int, n: int) -> U64:
    """The first n outputs of splitmix64 from this seed, uint64 (n,)."""
    steps = np.arange(1, n + 1, dtype=np.uint64) * GAMMA
    return mixed(steps + np.uint64(seed % 2**64))


def query_cycle(runnable: I32, seed: int) -> I32:
    """The runnable queries, each once, in an order that depends on the seed alone."""
    order = np.argsort(splitmix64(seed, len(runnable)), kind="stable")
    return np.asarray(runnable[order], dtype=np.int32)


def zipf_shares(n: int, exponent: float) -> F64:
    """Share of the requests that rank r of n gets, r^-s over the sum of all of them.

    G. K. Zipf's law with exponent s, as L. Breslau et al. found it in requests for documents
    ("Web Caching and Zipf-like Distributions", INFOCOM 1999, section III).

    Args:
        n: ranks, at least 1.
        exponent: s, at least 0; with 0 all ranks get the same.

    Returns:
        float64 (n,), first rank first, of sum 1.
    """
    weights = np.arange(1, n + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def zipf_draws(order: I32, exponent: float, seed: int) -> Iterator[int]:
    """Queries without end, drawn by Zipf's law; the same seed draws the same.

    A draw is the first rank whose cumulated share is above u, the top 53 bits of an output of
    splitmix64 over 2^53.

    Args:
        order: int32 (m,), m at least 1, the most frequent query first.
        exponent: of the law.
        seed: of the draws.
    """
    cumulated = np.cumsum(zipf_shares(len(order), exponent))
    start = 0
    while True:
        steps = np.arange(start + 1, start + DRAWN + 1, dtype=np.uint64) * GAMMA
        numbers = mixed(steps + np.uint64(seed % 2**64))
        u = (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53
        ranks = np.minimum(np.searchsorted(cumulated, u, side="right"), len(order) - 1)
        yield from order[ranks].tolist()
        start += DRAWN


class Replay:
    """Which queries the phases of a trial ask, without end; each phase goes its own way.

    Args:
        runnable: int32 (m,), rows of the queries that may be asked, m at least 1.
        profile: says whether each is asked as often as any other, or by Zipf's law over an order
            that depends on the seed.
    """

    def __init__(self, runnable: I32, profile: LoadProfile) -> None:
        self.order = query_cycle(runnable, profile.seed)
        self._exponent = profile.zipf_exponent
        self._seeds = splitmix64(profile.seed, 3)

    def warm_up(self) -> Iterator[int]:
        """Backwards where all are asked alike, so that it does not walk ahead of the schedule
        through the caches."""
        if self._exponent is None:
            return cycle(self.order[::-1].tolist())
        return self._drawn(0)

    def measured(self, n: int) -> I32:
        """The n queries of the schedule, int32 (n,)."""
        if self._exponent is None:
            return np.resize(self.order, n)
        return np.fromiter(islice(self._drawn(1), n), np.int32, n)

    def burst(self, sent: int) -> Iterator[int]:
        """What follows on the first so many of the schedule."""
        if self._exponent is None:
            return islice(cycle(self.order.tolist()), sent, None)
        return self._drawn(2)

    def _drawn(self, phase: int) -> Iterator[int]:
        assert self._exponent is not None
        return zipf_draws(self.order, self._exponent, int(self._seeds[phase]))


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


def ask_afterwards_s(profile: LoadProfile, unasked: int) -> float:
    """Limit of asking without load: time for that many queries which the load never drew, though
    each takes as long as it may, and for those that failed."""
    return ASK_AFTERWARDS_S + unasked * profile.timeout_s / profile.users


def longest_s(profile: LoadProfile, runnable: int) -> float:
    """Time that a trial may take once its index is open; longer means that it hangs.

    Every phase may overrun by the one request per worker that is on its way, and connecting and
    reading may each take the whole timeout.
    """
    scheduled = sample_count(profile, runnable) / profile.rate_per_s + profile.backlog_limit_s
    overrun = 5 * 2 * profile.timeout_s
    afterwards = ask_afterwards_s(profile, runnable)
    return profile.warmup_max_s + scheduled + profile.burst_s + afterwards + overrun
