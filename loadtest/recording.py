"""What was told of a load while it ran: enough for its figures, should it be cut short."""

from __future__ import annotations

import numpy as np

from indexers.types import F64, I32
from loadtest.messages import Tick
from loadtest.recorder import carries, rank

KEPT = 1_000_000
"""Requests whose latencies are kept at most, about 20 MB."""
PERCENTILES = {"p50": 50, "p99": 99}


class Recording:
    """The raw latencies of one load, collected tick by tick.

    Beyond `kept` of them they are a sample of all, each as likely as any other, drawn as they come
    (J. S. Vitter, "Random Sampling with a Reservoir", ACM TOMS 11, 1985, algorithm R).

    Args:
        kept: requests whose latencies are kept at most.

    Attributes:
        ended: requests whose end was told, so far.
        phase: of the last tick.
        sent, errors: so far.
        elapsed_s: of the load.
        sent_s: when its last request was sent.
        saturated: whether a backlog ran past its limit.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._random = np.random.default_rng(0)
        self.ended = 0
        self.phase = "warm-up"
        self.sent = self.errors = 0
        self.elapsed_s = self.sent_s = 0.0
        self.saturated = False
        self._latency: list[F64] = []
        self._service: list[F64] = []
        self._query: list[I32] = []

    def add(self, tick: Tick) -> None:
        """Take in what happened since the last tick."""
        self.phase = tick.phase
        self.errors, self.saturated = tick.errors, tick.saturated
        self.sent, self.sent_s, self.elapsed_s = tick.sent, tick.sent_s, tick.elapsed_s
        if len(tick.query):
            self._keep(tick)

    @property
    def latency_ms(self) -> F64:
        """float64 (n,), infinite where they failed; while all are kept, in the order in which the
        requests ended."""
        return self._held()[0]

    @property
    def service_ms(self) -> F64:
        """float64 (n,), likewise."""
        return self._held()[1]

    @property
    def query(self) -> I32:
        """int32 (n,), row of the query that each asked."""
        return self._held()[2]

    @property
    def rate_per_s(self) -> float:
        """Requests a second, so far."""
        return self.sent / self.sent_s if self.sent_s > 0 else 0.0

    def percentiles(self) -> dict[str, float | None]:
        """p50 and p99 in ms so far; None where too few requests have ended to tell."""
        values = self.latency_ms
        told = {name: p for name, p in PERCENTILES.items() if carries(p, len(values))}
        ranks = [rank(len(values), percent) for percent in told.values()]
        if ranks:
            values = np.partition(values, ranks)  # sorted, it would take the load's time
        found = {n: float(values[at]) for n, at in zip(told, ranks, strict=True)}
        return {name: found.get(name) for name in PERCENTILES}

    def _held(self) -> tuple[F64, F64, I32]:
        """Latency, service time and query of what is kept."""
        if len(self._query) > 1:
            self._latency = [np.concatenate(self._latency)]
            self._service = [np.concatenate(self._service)]
            self._query = [np.concatenate(self._query)]
        if not self._query:
            return np.empty(0), np.empty(0), np.empty(0, np.int32)
        return self._latency[0], self._service[0], self._query[0]

    def _keep(self, tick: Tick) -> None:
        """Keep what there is room for; each of the rest takes the place of one at random."""
        free = max(0, self._kept - self.ended)
        if free:
            self._latency.append(tick.latency_ms[:free].copy())
            self._service.append(tick.service_ms[:free].copy())
            self._query.append(tick.query[:free].copy())
        numbers = np.arange(self.ended + free, self.ended + len(tick.query))
        self.ended += len(tick.query)
        if not len(numbers):
            return
        places = self._random.integers(0, numbers + 1)
        drawn = np.flatnonzero(places < self._kept)
        latency, service, query = self._held()
        latency[places[drawn]] = tick.latency_ms[free:][drawn]
        service[places[drawn]] = tick.service_ms[free:][drawn]
        query[places[drawn]] = tick.query[free:][drawn]
