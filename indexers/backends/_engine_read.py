"""All documents of an index as they were at one point in time, by several slices at once.

Memory holds a few pages, however large the index is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from queue import Empty, Full, Queue, SimpleQueue
from typing import Any

import orjson

from indexers.address import Address
from indexers.backends._engine_errors import reason, refusal
from indexers.backends._engine_http import HttpTransport
from indexers.backends._engine_pit import (
    LEAST_SLICES,
    PITS,
    close_request,
    known,
    open_request,
    page_request,
)
from indexers.errors import BackendError, EngineUnavailable
from indexers.http_request import HttpRequest, Transport

THREADS = 4
FIRST_PAGE = 100
LARGEST_PAGE = 5_000
PAGE_BYTES = 4 * 2**20
"""A page is made as large as this, as far as the documents before it tell."""
PAUSES_S = (0.5, 1.0, 2.0, 4.0)
"""Before a request is sent again that the server had no time for."""
CLOSING_S = 5.0
ENDING_S = 1.0
TURN_S = 0.2
BUSY = (429, 503)
_GONE = "the point in time is gone: the server was restarted or short of memory; read again"

Page = list[dict[str, Any]]
"""Hits with `_id` and `_source`."""


def read_pages(
    to: Address,
    engine: str,
    index: str,
    fields: Sequence[str],
    *,
    shards: int,
    timeout_s: float,
    threads: int = THREADS,
) -> Generator[Page, None, None]:
    """Every document once, in no particular order.

    The point in time is closed at the end, also where the reading breaks off; close the iterator
    (`contextlib.closing`) for that.

    Args:
        to: the server.
        engine: `opensearch` or `elasticsearch`.
        index: name or alias of one index.
        fields: of `_source`; only these are fetched.
        shards: of the index.
        timeout_s: of one request.
        threads: that read at once; each a slice at a time.

    Raises:
        EngineUnavailable: the server went away.
        BackendError: it answered with an error.
    """
    transport = HttpTransport(to, timeout_s)
    dialect = PITS[engine]
    pit = _opened(transport(open_request(dialect, index)), index, dialect.opened)
    reading = _Reading(transport, engine, index, fields, pit, max(threads, shards, LEAST_SLICES))
    try:
        yield from reading.pages(threads)
    finally:
        reading.end()
        closing = HttpTransport(to, CLOSING_S)
        with suppress(Exception):  # it ends by itself when it is not kept alive
            closing(close_request(dialect, reading.pit))
        closing.close()
        transport.close()


class _Reading:
    def __init__(
        self,
        send: Transport,
        engine: str,
        index: str,
        fields: Sequence[str],
        pit: str,
        slices: int,
    ) -> None:
        self._send, self._dialect, self._index = send, PITS[engine], index
        self._fields, self._slices = fields, slices
        self.pit = pit
        self.stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._todo: SimpleQueue[int] = SimpleQueue()
        for number in range(slices):
            self._todo.put(number)

    def end(self) -> None:
        """Let no more be asked, and give what is on its way a moment to come."""
        self.stop.set()
        deadline = time.monotonic() + ENDING_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def pages(self, threads: int) -> Iterator[Page]:
        """The pages of all slices as they come."""
        # daemons: one that waits for a server that hangs must not hold up Ctrl-C
        done: Queue[Page | BaseException | None] = Queue(maxsize=threads)
        self._threads += [
            threading.Thread(target=self._work, args=(done,), daemon=True) for _ in range(threads)
        ]
        for thread in self._threads:
            thread.start()
        left = threads
        while left:
            came = done.get()
            if isinstance(came, BaseException):
                raise came
            if came is None:
                left -= 1
            else:
                yield came

    def _work(self, done: Queue[Page | BaseException | None]) -> None:
        try:
            while not self.stop.is_set():
                for page in self._slice(self._todo.get_nowait()):
                    if not self._put(done, page):
                        return
        except Empty:
            self._put(done, None)
        except BaseException as error:  # the other end raises it
            self._put(done, error)

    def _put(self, done: Queue[Page | BaseException | None], what: Any) -> bool:
        while not self.stop.is_set():
            with suppress(Full):
                done.put(what, timeout=TURN_S)
                return True
        return False

    def _slice(self, number: int) -> Iterator[Page]:
        after: list[Any] | None = None
        size, pit = FIRST_PAGE, self.pit
        while not self.stop.is_set():
            part = (number, self._slices)
            request = page_request(self._dialect, pit, part, self._fields, size, after)
            reply, length = self._page(request)
            hits: Page = reply.get("hits", {}).get("hits", [])
            if not hits:
                return
            yield hits
            if len(hits) < size:
                return
            after = hits[-1]["sort"]
            self.pit = pit = known(reply.get("pit_id", pit))
            size = max(1, min(LARGEST_PAGE, size * PAGE_BYTES // max(1, length), 4 * size))

    def _page(self, request: HttpRequest) -> tuple[dict[str, Any], int]:
        status, body = _patiently(self._send, request, self.stop)
        if status == 404:
            raise BackendError(f"reading index {self._index} failed: {_GONE}")
        if status != 200:
            raise refusal(f"reading index {self._index}", status, body)
        reply = orjson.loads(body)
        shards = reply.get("_shards", {})
        if shards.get("failed"):
            failure = (shards.get("failures") or [{}])[0]
            told = reason(failure.get("reason"))
            raise BackendError(f"reading index {self._index} failed: {told}")
        if reply.get("timed_out"):
            raise BackendError(f"the engine ran out of time reading index {self._index}")
        return reply, len(body)


def _opened(reply: tuple[int, bytes], index: str, name: str) -> str:
    status, body = reply
    if status not in (200, 201):
        raise refusal(f"opening a point in time of index {index}", status, body)
    told = orjson.loads(body)
    if told.get("_shards", {}).get("failed"):
        raise BackendError(f"index {index} cannot be read whole: some of its shards failed")
    return known(told.get(name))


def _patiently(send: Transport, request: HttpRequest, stop: threading.Event) -> tuple[int, bytes]:
    """Send it again while the server is busy, or does not answer."""
    for pause_s in PAUSES_S:
        with suppress(EngineUnavailable):
            status, body = send(request)
            if status not in BUSY:
                return status, body
        if stop.wait(pause_s):
            break
    return send(request)
