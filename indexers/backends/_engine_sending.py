"""Lines into an index: sent by a few threads, and what an engine had no room for sent again.

Every line names the `_id` of its document, so that a request whose answer got lost can be sent
once more: it then replaces what it may have written.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from indexers.backends._engine_bulk import Lines, failed
from indexers.backends._engine_chunks import ChunkSize
from indexers.backends._engine_errors import Refused, reason
from indexers.errors import BackendError, EngineUnavailable
from indexers.types import Progress, say

WORKERS = 3
RETRY_AFTER_S = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, *[5.0] * 11)
"""Waits after a refusal; about a minute until a document is given up."""
ANSWER_AFTER_S = (0.2, 0.4, 0.8, 1.6, 3.2, *[5.0] * 23)
"""Waits where no answer came, two minutes in all; fewer where there is less patience."""
TELL_EVERY_S = 1.0
JITTER = 0.25
"""Waits differ by so much, lest all threads come back at once."""
TOO_LARGE = 413
BUSY = (429, 502, 503, 504)
PASSING = ("circuit_breaking_exception", "node_closed_exception", "node_disconnected_exception")
"""Errors that an engine may tell under any status, and that time mends."""
FLOODED = "flood-stage"
"""In a refusal as 429 that only a person mends: the disk is full."""

Send = Callable[[bytes], dict[str, Any]]
"""Posts one bulk body; the reply has `items` with a status each, and an error where it failed."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What of a request is to be sent again.

    Attributes:
        part: the documents.
        why: they were not taken; an error where no answer came.
        smaller: in halves.
        waits_s: before each further try.
    """

    part: Lines
    why: str | EngineUnavailable
    smaller: bool
    waits_s: tuple[float, ...]

    def parts(self) -> list[Lines]:
        """The requests to send."""
        ids, lines = self.part.ids, self.part.lines
        middle = len(ids) // 2
        if not self.smaller or not middle:
            return [self.part]
        return [Lines(ids[middle:], lines[middle:]), Lines(ids[:middle], lines[:middle])]


class Bulk:
    """Sends documents from a few threads; on any error nothing more leaves.

    Args:
        send: posts a request.
        patience_s: how long a server that gives no answer is waited for.

    Attributes:
        unanswered: whether some request got no answer: the server may have lost documents.
    """

    def __init__(self, send: Send, patience_s: float = math.inf) -> None:
        self.unanswered = False
        self._silent = False
        self._patience_s = patience_s
        self._answer_after_s = _within(patience_s)
        self._send = send
        self._size = ChunkSize()
        self._stop = threading.Event()

    def run(self, source: Iterator[Lines], progress: Progress) -> int:
        """Send everything; gives the number of documents.

        Holds some blocks and `WORKERS` + 1 requests at a time, however much the source gives.

        Raises:
            BackendError: documents were refused; the message names the first ids.
            EngineUnavailable: the server is gone, and did not come back.
        """
        done, waiting = 0, set[Future[int]]()
        pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="bulk")
        try:
            for lines in self._chunks(source):
                waiting.add(pool.submit(self._deliver, lines))
                while len(waiting) > WORKERS:  # one chunk is ready when a thread becomes free
                    done += self._collect(waiting, progress)
            while waiting:
                done += self._collect(waiting, progress)
        finally:
            # the index is deleted after an error: a bulk that left later would bring it back
            self._stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
        return done

    def _chunks(self, source: Iterator[Lines]) -> Iterator[Lines]:
        """Blocks joined and cut to the size of a request as it is then."""
        ids: list[str] = []
        lines: list[bytes] = []
        size = 0
        for block in source:
            for name, line in zip(block.ids, block.lines, strict=True):
                if size and size + len(line) > self._size.bytes:
                    yield Lines(ids, lines)
                    ids, lines, size = [], [], 0
                ids.append(name)
                lines.append(line)
                size += len(line)
                if size >= self._size.bytes:
                    yield Lines(ids, lines)
                    ids, lines, size = [], [], 0
        if ids:
            yield Lines(ids, lines)

    def _collect(self, waiting: set[Future[int]], progress: Progress) -> int:
        finished: set[Future[int]] = set()
        while not finished:
            finished, _ = wait(waiting, timeout=TELL_EVERY_S, return_when=FIRST_COMPLETED)
            if not finished and self._silent:
                say(progress, "waiting for the server")
        waiting -= finished
        counts = [future.result() for future in finished]
        for count in counts:
            progress(count)
        return sum(counts)

    def _deliver(self, chunk: Lines) -> int:
        left, tries, since = [chunk], 0, 0.0
        while left:
            if self._stop.is_set():
                return 0
            part = left.pop()
            rest = self._once(part)
            if rest is None or len(rest.part.ids) < len(part.ids):
                tries = 0
            if rest is None:
                continue
            # a server that hangs takes the time of a whole request to be found silent
            since = since if tries else time.monotonic()
            waited_s = time.monotonic() - since
            if tries >= len(rest.waits_s) or self._too_long(rest, waited_s):
                raise _given_up(rest, tries, waited_s)
            self._stop.wait(rest.waits_s[tries] * random.uniform(1 - JITTER, 1 + JITTER))
            tries += 1
            left += rest.parts()
        return len(chunk.ids)

    def _too_long(self, rest: Rest, waited_s: float) -> bool:
        return isinstance(rest.why, EngineUnavailable) and waited_s > self._patience_s

    def _once(self, part: Lines) -> Rest | None:
        """Send once; what is to be sent again, and why.

        Raises:
            BackendError: some of it never can be taken.
        """
        body = b"".join(part.lines)
        started = time.perf_counter()
        try:
            items = self._send(body).get("items", [])
            self._silent = False
        except EngineUnavailable as error:  # an engine that closes on a body too large, too
            self.unanswered = self._silent = True
            self._size.refused(len(body))
            return Rest(part, error, True, self._answer_after_s)
        except Refused as error:
            self._size.refused(len(body))
            if error.status == TOO_LARGE and len(part.ids) > 1:
                return Rest(part, str(error), True, RETRY_AFTER_S)
            if not _passing(error.status, str(error)):
                raise
            return Rest(part, str(error), True, RETRY_AFTER_S)
        rest = _refused(part, items)
        if rest is None:
            self._size.sent(len(body), time.perf_counter() - started)
        else:
            self._size.refused(len(body))
        return rest


def _within(patience_s: float) -> tuple[float, ...]:
    """The first waits for an answer that are not longer together."""
    waits = zip(ANSWER_AFTER_S, accumulate(ANSWER_AFTER_S), strict=True)
    return tuple(wait_s for wait_s, sum_s in waits if sum_s <= patience_s)


def _refused(part: Lines, items: list[dict[str, Any]]) -> Rest | None:
    """What of a request is to be sent again, by its reply."""
    replies = [next(iter(item.values())) for item in items]
    if len(replies) != len(part.ids):
        raise BackendError(f"the bulk reply has {len(replies)} items for {len(part.ids)} documents")
    bad = [i for i, reply in enumerate(replies) if reply["status"] >= 300]
    if not bad:
        return None
    told = {i: reason(replies[i].get("error")) for i in bad}
    final = [i for i in bad if not _passing(replies[i]["status"], told[i])]
    if final:
        raise failed([part.ids[i] for i in final], told[final[0]], 0)
    again = Lines([part.ids[i] for i in bad], [part.lines[i] for i in bad])
    smaller = any(PASSING[0] in text for text in told.values())
    return Rest(again, told[bad[0]], smaller, RETRY_AFTER_S)


def _passing(status: int, told: str) -> bool:
    """Whether an error may be gone at the next try."""
    if FLOODED in told:
        return False
    return status in BUSY or (status >= 429 and any(name in told for name in PASSING))


def _given_up(rest: Rest, tries: int, waited_s: float) -> BackendError:
    if isinstance(rest.why, EngineUnavailable):
        rest.why.waited_s = waited_s
        return rest.why
    return failed(rest.part.ids, rest.why, tries)
