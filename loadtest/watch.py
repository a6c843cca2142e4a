"""What is going on in a trial, for whoever looks at it while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from loadtest.messages import Tick


@dataclass(slots=True)
class Watch:
    """Filled in by the load, looked at from time to time.

    Attributes:
        phase: as `Tick.phase`.
        run: as `Tick.run`.
        begin_s: when the first request of the load is due, on the clock of `perf_counter`; None
            before it is known.
        sent, sent_s, errors, saturated: as in `Tick`.
        ended: latency and service time in seconds and query, of the requests that ended since
            the last look.
    """

    phase: str = "warm-up"
    run: int = 0
    begin_s: float | None = None
    sent: int = 0
    sent_s: float = 0.0
    errors: int = 0
    saturated: bool = False
    ended: list[tuple[float, float, int]] = field(default_factory=list)

    def look(self) -> Tick:
        """What happened since the last look."""
        ended, self.ended = self.ended, []
        begun = perf_counter() if self.begin_s is None else self.begin_s
        return Tick(
            phase=self.phase,
            run=self.run,
            elapsed_s=max(0.0, perf_counter() - begun),
            sent=self.sent,
            sent_s=self.sent_s,
            errors=self.errors,
            saturated=self.saturated,
            latency_ms=1e3 * np.array([latency for latency, _, _ in ended], dtype=np.float64),
            service_ms=1e3 * np.array([service for _, service, _ in ended], dtype=np.float64),
            query=np.array([query for _, _, query in ended], dtype=np.int32),
        )
