"""Asking an index that someone else built: ready-made requests, answers counted and not judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from indexers.backends import _engine_replies
from indexers.http_request import HttpRequest, Transport
from indexers.index_types import Hits


def search_request(index: str, body: bytes, row: int | None = None) -> HttpRequest:
    """The request of one search; it can only read.

    Args:
        index: its name.
        body: what is searched.
        row: of the query, so that the same copy of each shard answers it every time; None to
            leave that to the engine.
    """
    preference = {} if row is None else {"preference": f"query-{row}"}
    return HttpRequest("POST", (index, "_search"), preference, body)


def hit_count(index: str, status: int, body: bytes) -> int:
    """How many documents a reply to a search holds; raises as `hits_of`."""
    return len(hits_of(index, status, body))


def hits_of(index: str, status: int, body: bytes) -> list[dict[str, Any]]:
    """The hits in a reply to a search.

    Raises:
        IndexMissing: there is no such index.
        BackendError: an error, or a part of the answers.
    """
    missing = f"{index} is not there: see that its name is right"
    return _engine_replies.hits_of(index, status, body, missing)


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
