"""Asking an index that someone else built: ready-made requests, answers counted and not judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import numpy as np
import orjson

from indexers.backends._engine_errors import reason, refusal, squash
from indexers.errors import BackendError, IndexMissing
from indexers.index_types import Hits, HttpRequest, Transport


def search_request(index: str, body: bytes, row: int | None = None) -> HttpRequest:
    """The request of one search; it can only read.

    Args:
        index: its name.
        body: what is searched.
        row: of the query, so that the same copy of each shard answers it every time; None to
            leave that to the engine.
    """
    preference = "" if row is None else f"?preference=query-{row}"
    return HttpRequest("POST", f"/{quote(index, safe='')}/_search{preference}", body)


def hit_count(index: str, status: int, body: bytes) -> int:
    """How many documents a reply to a search holds; raises as `hits_of`."""
    return len(hits_of(index, status, body))


def hits_of(index: str, status: int, body: bytes) -> list[dict[str, Any]]:
    """The hits in a reply to a search.

    Raises:
        IndexMissing: there is no such index.
        BackendError: an error, or a part of the answers.
    """
    if status == 404:
        raise IndexMissing(f"{index} is not there: see that its name is right")
    if status != 200:
        raise refusal(f"searching {index}", status, body)
    reply = _parsed(index, body)
    if reply["timed_out"]:
        raise BackendError(f"the engine ran out of time searching {index}")
    shards = reply.get("_shards", {})
    if shards.get("failed"):
        failure = (shards.get("failures") or [{}])[0]
        raise BackendError(f"searching {index} failed: {reason(failure.get('reason'))}")
    hits: list[dict[str, Any]] = reply.get("hits", {}).get("hits", [])
    return hits


def _parsed(index: str, body: bytes) -> dict[str, Any]:
    try:
        reply = orjson.loads(body)
    except ValueError:
        reply = None
    if not isinstance(reply, dict) or "timed_out" not in reply:
        told = squash(body[:80].decode(errors="replace"))
        raise BackendError(f"{index} gave no search reply, but {told!r}")
    return reply


class AttachedSearcher:
    """Asks ready-made requests of one index.

    Args:
        index: its name.
        bodies: one a query.
        transport: sends the requests; it belongs to the caller.
    """

    def __init__(self, index: str, bodies: Sequence[bytes], transport: Transport) -> None:
        self._index = index
        self._requests = [search_request(index, body) for body in bodies]
        self._transport = transport

    def search(self, query: int) -> Hits:
        """As many hits as were answered, numbered from 0: whose they are is not looked at.

        Raises:
            BackendError: the engine answered with an error.
            OSError: no answer came.
        """
        count = hit_count(self._index, *self._transport(self._requests[query]))
        return Hits(np.arange(count, dtype=np.int32), np.zeros(count))

    def close(self) -> None:
        """Nothing to let go of."""
