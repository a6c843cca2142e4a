"""What came back: first answers, errors, and whether going on makes sense."""

from __future__ import annotations

import numpy as np

from indexers.errors import BackendError, EngineUnavailable, HarnessError, IndexMissing
from indexers.index_types import Hits
from loadtest.profile import NOT_ASKED, UNANSWERED, UNDER_LOAD, WITHOUT_LOAD

GIVE_UP_AFTER = 20
"""Failures in a row after which the index counts as broken."""

MAX_TEXTS = 5
MAX_TEXT = 200


def one_line(error: BaseException) -> str:
    """The error for a report: its message, with its type where the message is not ours."""
    text = " ".join(str(error).split())
    if not isinstance(error, HarnessError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


class Tally:
    """Collects answers and failures of one trial.

    Attributes:
        answers: int32 (queries, k), first answer of each query, padded with -1.
        state: uint8 (queries,), see `loadtest.profile`.
        fatal: why the trial cannot go on; None while it can.
        repeats, agreeing: as in `LoadResult`.
    """

    def __init__(self, queries: int, k: int) -> None:
        self.answers = np.full((queries, k), -1, dtype=np.int32)
        self.state = np.full(queries, NOT_ASKED, dtype=np.uint8)
        self.texts: list[str] = []
        self.duplicates = self.unknown = 0
        self.short = 0
        self.fatal: BackendError | None = None
        self.repeats = self.agreeing = 0
        self._seen: dict[int, bytes] = {}
        self._answered = False
        self._failures = 0
        self._unreachable = 0

    def succeeded(self) -> None:
        """Some request was answered."""
        self._answered = True
        self._failures = self._unreachable = 0

    def compare(self, query: int, hits: Hits) -> None:
        """Hold an answer against the first that the query got, kept or not."""
        k = self.answers.shape[1]
        if not k:  # nobody looks at what was answered
            return
        found = hits.ordinals[:k].tobytes()
        first = self._seen.get(query)
        if first is None:
            self._seen[query] = found
        else:
            self.repeats += 1
            self.agreeing += first == found

    def keep(self, query: int, hits: Hits, *, under_load: bool) -> None:
        """Keep the answer if it is the query's first."""
        if self.state[query] not in (NOT_ASKED, UNANSWERED):
            return
        k = self.answers.shape[1]
        found = hits.ordinals[:k]
        self.answers[query, : len(found)] = found
        self.state[query] = UNDER_LOAD if under_load else WITHOUT_LOAD
        self.duplicates += hits.duplicates
        self.unknown += hits.unknown
        self.short += len(found) < k

    def failed(self, error: BaseException) -> None:
        """A request failed or timed out."""
        text = one_line(error)
        if text not in self.texts and len(self.texts) < MAX_TEXTS:
            self.texts.append(text)
        if isinstance(error, TimeoutError):  # slow, not broken
            self._failures = self._unreachable = 0
            return
        if isinstance(error, IndexMissing):
            self.fatal = error
            return
        self._failures += 1
        gone = isinstance(error, OSError | EngineUnavailable)
        self._unreachable = self._unreachable + 1 if gone else 0
        if self._unreachable >= GIVE_UP_AFTER:
            self.fatal = EngineUnavailable(
                f"the search engine stopped answering ({text}): see that it runs, then run again"
            )
        elif self._failures >= GIVE_UP_AFTER and not self._answered:
            self.fatal = BackendError(f"every request failed: {text}")
