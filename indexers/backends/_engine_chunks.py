"""How large a bulk request is: as large as the engine takes quickly, within bounds of bytes."""

from __future__ import annotations

import statistics
import threading

LEAST_BYTES, START_BYTES, MOST_BYTES = 64 << 10, 2 << 20, 8 << 20
"""Engines take up to 100 MB; beyond some MB a request is no faster and holds more memory."""
MEASURED = 4
"""Requests of a size before it is changed."""
NOTICED = 0.05
"""Differences of throughput below this share leave the size as it is."""
RECOVERED = 32
"""Requests without trouble after which a size that was too much may be tried again."""


class ChunkSize:
    """A size that climbs to the best throughput and halves where the engine has too much.

    May be told from several threads.
    """

    def __init__(self) -> None:
        self.bytes = START_BYTES
        self._most, self._last, self._factor = MOST_BYTES, 0.0, 2.0
        self._rates: list[float] = []
        self._calm = 0
        self._lock = threading.Lock()

    def sent(self, size: int, seconds: float) -> None:
        """A request of so many bytes was taken in this time."""
        with self._lock:
            self._calm += 1
            if self._calm >= RECOVERED and self._most < MOST_BYTES:
                self._most = min(2 * self._most, MOST_BYTES)
                self._calm, self._last, self._factor = 0, 0.0, 2.0
            if 2 * size < self.bytes:  # the last of all, or one that was halved
                return
            self._rates.append(size / max(seconds, 1e-9))
            if len(self._rates) >= MEASURED:
                self._climb(statistics.median(self._rates))

    def refused(self, size: int) -> None:
        """A request of so many bytes was too much."""
        with self._lock:
            self._calm, self._last, self._factor = 0, 0.0, 2.0
            self._rates.clear()
            self._most = max(LEAST_BYTES, min(self._most, size // 2))
            self.bytes = min(self.bytes, self._most)

    def _climb(self, rate: float) -> None:
        self._rates.clear()
        if rate < self._last * (1 - NOTICED):
            self._factor = 1 / self._factor
        elif rate < self._last * (1 + NOTICED):
            return
        self._last = rate
        self.bytes = int(min(max(self.bytes * self._factor, LEAST_BYTES), self._most))
