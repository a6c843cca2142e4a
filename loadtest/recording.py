"""What was told of a load while it ran: enough for its figures, should it be cut short."""

from __future__ import annotations

import numpy as np

from indexers.types import F64, I32
from loadtest.messages import Tick
from loadtest.recorder import carries, nearest_rank


class Recording:
    """The raw latencies of one load, collected tick by tick.

    Attributes:
        phase: of the last tick.
        sent, errors: so far.
        elapsed_s: of the load.
        sent_s: when its last request was sent.
        saturated: whether a backlog ran past its limit.
    """

    def __init__(self) -> None:
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
            self._latency.append(tick.latency_ms)
            self._service.append(tick.service_ms)
            self._query.append(tick.query)

    @property
    def latency_ms(self) -> F64:
        """float64 (n,), in the order in which the requests ended; infinite where they failed."""
        return np.concatenate([np.empty(0), *self._latency])

    @property
    def service_ms(self) -> F64:
        """float64 (n,), likewise."""
        return np.concatenate([np.empty(0), *self._service])

    @property
    def query(self) -> I32:
        """int32 (n,), row of the query that each asked."""
        return np.concatenate([np.empty(0, np.int32), *self._query])

    @property
    def rate_per_s(self) -> float:
        """Requests a second, so far."""
        return self.sent / self.sent_s if self.sent_s > 0 else 0.0

    def percentiles(self) -> dict[str, float | None]:
        """p50 and p99 in ms so far; None where too few requests have ended to tell."""
        values = np.sort(self.latency_ms)
        told = {"p50": 50, "p99": 99}
        return {
            name: nearest_rank(values, percent) if carries(percent, len(values)) else None
            for name, percent in told.items()
        }
