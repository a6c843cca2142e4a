"""Indexes that answer at once, to show what the load generator itself can send."""

from __future__ import annotations

import numpy as np
import orjson

from indexers.http_request import HttpRequest, Transport
from indexers.index_types import Hits


def canned_hits(k: int) -> Hits:
    """The answer of every null index: ordinals 0 to k − 1 with score 0."""
    return Hits(np.arange(k, dtype=np.int32), np.zeros(k))


def canned_reply(k: int) -> bytes:
    """The body of a search engine's answer that says the same."""
    hits = [{"sort": [0.0, str(n)]} for n in range(k)]
    return orjson.dumps({"took": 0, "timed_out": False, "hits": {"hits": hits}})


class NullSearcher:
    """Answers in process, in no time."""

    def __init__(self, k: int) -> None:
        self._hits = canned_hits(k)

    def search(self, query: int) -> Hits:  # noqa: ARG002 - every query has the same answer
        """The canned answer."""
        return self._hits

    def close(self) -> None:
        """Nothing to let go of."""


class NullHttpSearcher:
    """Asks a null server, and reads its reply, as the searcher of an engine does."""

    def __init__(self, k: int, transport: Transport) -> None:
        body = orjson.dumps({"size": k, "query": {"terms": {"tokens": ["0:00"] * 50}}})
        self._request = HttpRequest("POST", ("null", "_search"), body=body)
        self._transport = transport

    def search(self, query: int) -> Hits:  # noqa: ARG002 - every query has the same answer
        """The canned answer, as sent by the server."""
        _, reply = self._transport(self._request)
        sorts = [hit["sort"] for hit in orjson.loads(reply)["hits"]["hits"]]
        found = {int(name): score for score, name in sorts}
        return Hits(
            np.fromiter(found, np.int32, len(found)),
            np.fromiter(found.values(), np.float64, len(found)),
        )

    def close(self) -> None:
        """The transport belongs to the caller."""
