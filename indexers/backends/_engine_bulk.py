"""Documents into an index: NDJSON written directly, sent by a few threads, bounded in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_errors import Refused, reason
from indexers.backends._engine_layout import fitting, tails
from indexers.errors import BackendError
from indexers.index_types import Documents, IndexSpec
from indexers.types import I64, Progress, Status

# The engine makes _id: it then need not look for an older document of that id, which is faster,
# and our ids are not bound to its 512 bytes.
ACTION = b'{"index":{}}\n'
LONGEST_ID_BYTES = 32_766  # of one value with doc values, in Lucene
WORKERS = 2
BLOCK = 1024
TARGET_BYTES = 4 << 20
RETRY_AFTER_S = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
SHOWN_IDS = 5

Send = Callable[[bytes], dict[str, Any]]
"""Posts one bulk body; the reply has `items` with a status each, and an error where it failed."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Some documents, ready to send; the ids tell which failed."""

    ids: list[str]
    lines: list[bytes]


def indexed_rows(spec: IndexSpec, documents: Documents) -> I64:
    """Ordinals of the documents that an index holds: all texts, or all OK fingerprints.

    Raises:
        BackendError: the fingerprints are missing, or not such as the index is made of.
    """
    if spec.kind == "bm25":
        return np.arange(len(documents.ids), dtype=np.int64)
    fingerprints = fitting(spec, documents.fingerprints, "the documents")
    return np.flatnonzero(fingerprints.status == Status.OK).astype(np.int64)


def blocks(spec: IndexSpec, documents: Documents, rows: I64, dialect: Dialect) -> Iterator[Lines]:
    """The documents of these ordinals, a block of lines at a time.

    Raises:
        BackendError: an id is longer than an engine can hold, or no valid Unicode.
    """
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        ids = [documents.ids[row] for row in part.tolist()]
        if spec.kind == "bm25":
            ends = [b',"text":%b}\n' % _json(documents.texts[row]) for row in part.tolist()]
        else:
            assert documents.fingerprints is not None
            ends = tails(spec, documents.fingerprints.take(part), dialect)
        heads = (_head(name) for name in ids)
        yield Lines(ids, [head + end for head, end in zip(heads, ends, strict=True)])


def _json(text: str) -> bytes:
    try:
        return orjson.dumps(text)
    except TypeError:  # a lone surrogate
        return orjson.dumps(text.encode(errors="replace").decode())


def _head(name: str) -> bytes:
    try:
        quoted = orjson.dumps(name)
    except TypeError:
        raise BackendError(f"document id {name!a} is not valid Unicode: change it") from None
    if len(quoted) > LONGEST_ID_BYTES and len(name.encode()) > LONGEST_ID_BYTES:
        raise BackendError(
            f"document id {name[:40]!r}… has {len(name.encode())} bytes: allowed are "
            f"{LONGEST_ID_BYTES}, shorten it"
        )
    return ACTION + b'{"id":' + quoted


class Bulk:
    """Sends blocks from a few threads; on any error nothing more leaves."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._stop = threading.Event()

    def run(self, source: Iterator[Lines], progress: Progress) -> int:
        """Send everything; gives the number of documents.

        Raises:
            BackendError: documents were refused; the message names the first ids.
        """
        done, waiting = 0, set[Future[int]]()
        pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="bulk")
        try:
            for lines in batches(source):
                waiting.add(pool.submit(self._deliver, lines))
                while len(waiting) > WORKERS:  # one batch is ready when a thread becomes free
                    done += self._collect(waiting, progress)
            while waiting:
                done += self._collect(waiting, progress)
        finally:
            # the index is deleted after an error: a bulk that left later would bring it back
            self._stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
        return done

    @staticmethod
    def _collect(waiting: set[Future[int]], progress: Progress) -> int:
        finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
        waiting -= finished
        counts = [future.result() for future in finished]
        for count in counts:
            progress(count)
        return sum(counts)

    def _deliver(self, batch: Lines) -> int:
        ids, lines = batch.ids, batch.lines
        for delay_s in (*RETRY_AFTER_S, None):
            if self._stop.is_set():
                return 0
            ids, lines, why = self._once(ids, lines)
            if not ids:
                return len(batch.ids)
            if delay_s is None:
                raise failed(ids, why, len(RETRY_AFTER_S))
            self._stop.wait(delay_s)
        raise AssertionError

    def _once(self, ids: list[str], lines: list[bytes]) -> tuple[list[str], list[bytes], str]:
        """Send once; what is to be sent again because the engine was too busy, and why."""
        try:
            items = self._send(b"".join(lines)).get("items", [])
        except Refused as error:
            if error.status != 429:
                raise
            return ids, lines, str(error)
        replies = [next(iter(item.values())) for item in items]
        if len(replies) != len(ids):
            raise BackendError(f"the bulk reply has {len(replies)} items for {len(ids)} documents")
        bad = [i for i, reply in enumerate(replies) if reply["status"] >= 300]
        final = [i for i in bad if replies[i]["status"] != 429]
        if final:
            raise failed([ids[i] for i in final], reason(replies[final[0]].get("error")), 0)
        why = reason(replies[bad[0]].get("error")) if bad else ""
        return [ids[i] for i in bad], [lines[i] for i in bad], why


def failed(ids: Sequence[str], why: str, retries: int) -> BackendError:
    """The error of documents that were not indexed."""
    shown = ", ".join(repr(name[:80]) for name in ids[:SHOWN_IDS])
    more = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    count = "1 document" if len(ids) == 1 else f"{len(ids)} documents"
    tried = f" after {retries} retries" if retries else ""
    return BackendError(f"{count} could not be indexed{tried} ({shown}{more}): {why}")


def batches(source: Iterator[Lines]) -> Iterator[Lines]:
    """Cut blocks where a request would grow past its target size."""
    for block in source:
        start, size = 0, 0
        for end, line in enumerate(block.lines):
            if size and size + len(line) > TARGET_BYTES:
                yield Lines(block.ids[start:end], block.lines[start:end])
                start, size = end, 0
            size += len(line)
        yield Lines(block.ids[start:], block.lines[start:])
