"""Writing into an index while it is searched, at a stated rate, whatever the answers do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from types import TracebackType

import numpy as np

from indexers.types import I64
from loadtest.tally import MAX_TEXTS, one_line

TICK_S = 0.1
"""Between two requests, where the rate leaves more than one document to each."""
MOST_AT_ONCE = 2000
SLOW_SHARE = 0.9
"""Below this share of the rate asked for, the index was not under that rate."""

Write = Callable[[I64], None]
"""Index the documents of these ordinals again. What it raises is told, not raised again."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        documents: that the index took.
        rate_per_s: of them, up to the last answer.
        asked_per_s: the rate asked for.
        due: documents to be written until the end, at that rate.
        errors: requests that failed; their documents are not sent again.
        error_texts: a few of their messages, each different.
    """

    documents: int
    rate_per_s: float
    asked_per_s: float
    due: int
    errors: int = 0
    error_texts: tuple[str, ...] = ()

    @property
    def slow(self) -> bool:
        """Whether the rate was missed by more than a tenth."""
        return self.due > 0 and self.rate_per_s < SLOW_SHARE * self.asked_per_s


class Pace:
    """How many documents are due: an open loop, in which what is late is sent at once.

    Args:
        rate_per_s: above 0.
    """

    def __init__(self, rate_per_s: float) -> None:
        self._rate_per_s = rate_per_s
        self.sent = 0

    def due(self, elapsed_s: float) -> int:
        """How many are to be sent now, at most `MOST_AT_ONCE`; they count as sent."""
        count = min(int(elapsed_s * self._rate_per_s + 1e-9) - self.sent, MOST_AT_ONCE)
        self.sent += max(count, 0)
        return max(count, 0)

    def wait_s(self, elapsed_s: float) -> float:
        """Until the next document is due, a tick at least where that is sooner."""
        next_s = (self.sent + 1) / self._rate_per_s
        return max(next_s - elapsed_s, 0.0 if self._late(elapsed_s) else TICK_S)

    def _late(self, elapsed_s: float) -> bool:
        return elapsed_s * self._rate_per_s - self.sent >= MOST_AT_ONCE


class Writer:
    """Writes from a thread of its own within a `with` block; one request at a time.

    Args:
        write: indexes documents again.
        ordinals: int64 (m,), of the documents, m at least 1; they are written in this order,
            over and over.
        rate_per_s: documents a second.
    """

    def __init__(self, write: Write, ordinals: I64, rate_per_s: float) -> None:
        self._write, self._ordinals, self._rate_per_s = write, ordinals, rate_per_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._texts: list[str] = []
        self._taken = self._errors = 0
        self._begin_s = self._answered_s = self._end_s = 0.0

    def __enter__(self) -> Writer:
        self._begin_s = self._answered_s = monotonic()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # what is under way is waited for: an index must not be removed before
        self._end_s = monotonic()
        self._stop.set()
        self._thread.join()

    @property
    def written(self) -> Written:
        """What came of it, once the block is over."""
        elapsed_s = self._answered_s - self._begin_s
        rate_per_s = self._taken / elapsed_s if elapsed_s else 0.0
        texts = tuple(self._texts)
        due = int(self._rate_per_s * (self._end_s - self._begin_s))
        return Written(self._taken, rate_per_s, self._rate_per_s, due, self._errors, texts)

    def _run(self) -> None:
        pace = Pace(self._rate_per_s)
        while not self._stop.wait(pace.wait_s(monotonic() - self._begin_s)):
            start = pace.sent
            if count := pace.due(monotonic() - self._begin_s):
                turns = np.arange(start, start + count) % len(self._ordinals)
                self._send(self._ordinals[turns])

    def _send(self, ordinals: I64) -> None:
        try:
            self._write(ordinals)
        except Exception as error:  # whatever it is, the load goes on and the report tells
            self._errors += 1
            text = one_line(error)
            if text not in self._texts and len(self._texts) < MAX_TEXTS:
                self._texts.append(text)
        else:
            self._taken += len(ordinals)
        self._answered_s = monotonic()
