"""One opened index of an engine: bodies made beforehand, replies turned into hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import orjson

from indexers.backends._engine_errors import reason, refusal, squash
from indexers.backends._engine_queries import SEARCH_PATH, flat_bodies, lsh_bodies
from indexers.backends._engine_text import text_bodies
from indexers.errors import BackendError, IndexMissing, SettingError
from indexers.types import (
    Hits,
    HttpRequest,
    IndexHandle,
    Queries,
    SearchParams,
    Status,
    Transport,
)

NOTHING = Hits(np.empty(0, np.int32), np.empty(0, np.float64))


class EngineSearcher:
    """Asks prepared queries of one index.

    `request` and `answer` are the two halves of `search`, for load that sends by itself.

    Args:
        index: name in the engine.
        bodies: one a query; None for a query that has no answers.
        ids: of the documents, by ordinal.
        transport: sends the requests.
        close: lets go of the transport.
    """

    def __init__(
        self,
        index: str,
        bodies: Sequence[bytes | None],
        ids: Sequence[str],
        transport: Transport,
        close: Callable[[], None],
    ) -> None:
        path = SEARCH_PATH.format(index=index)
        self._requests = [None if b is None else HttpRequest("POST", path, b) for b in bodies]
        self._ordinals = {name: ordinal for ordinal, name in enumerate(ids)}
        self._transport = transport
        self._close = close
        self._index = index

    def request(self, query: int) -> HttpRequest:
        """What to send for this query.

        Raises:
            BackendError: it has no answers by its nature, so that nothing is to be sent.
        """
        request = self._requests[query]
        if request is None:
            raise BackendError(f"query {query} has no fingerprint or no text: it cannot be asked")
        return request

    def answer(self, status: int, body: bytes) -> Hits:
        """The hits in a reply.

        Raises:
            IndexMissing: someone removed the index.
            BackendError: an error, a part of the answers, or ids that were never indexed.
        """
        if status == 404:
            raise IndexMissing(f"{self._index} is gone: someone removed it while it was searched")
        if status != 200:
            raise refusal(f"searching {self._index}", status, body)
        reply = self._parsed(body)
        sorts = [hit["sort"] for hit in reply.get("hits", {}).get("hits", ())]
        scores: dict[int, float] = {}
        for score, name in sorts:
            ordinal = self._ordinals.get(name)
            if ordinal is None:
                raise BackendError(f"{self._index} answered with unknown document {name!r:.80}")
            scores.setdefault(ordinal, score)
        return Hits(
            np.fromiter(scores, np.int32, len(scores)),
            np.fromiter(scores.values(), np.float64, len(scores)),
            len(sorts) - len(scores),
        )

    def _parsed(self, body: bytes) -> dict[str, Any]:
        try:
            reply = orjson.loads(body)
        except ValueError:
            reply = None
        if not isinstance(reply, dict) or "timed_out" not in reply:
            told = squash(body[:80].decode(errors="replace"))
            raise BackendError(f"{self._index} gave no search reply, but {told!r}")
        if reply["timed_out"]:
            raise BackendError(f"the engine ran out of time searching {self._index}")
        shards = reply.get("_shards", {})
        if shards.get("failed"):
            failure = (shards.get("failures") or [{}])[0]
            raise BackendError(f"searching {self._index} failed: {reason(failure.get('reason'))}")
        return reply

    def search(self, query: int) -> Hits:
        """Answers to the query of this row.

        Raises:
            BackendError: the engine answered with an error.
            EngineUnavailable, OSError: no answer came.
        """
        request = self._requests[query]
        return NOTHING if request is None else self.answer(*self._transport(request))

    def close(self) -> None:
        """Let go of the connections."""
        self._close()


def bodies(
    handle: IndexHandle, params: SearchParams, queries: Queries, transport: Transport
) -> list[bytes | None]:
    """The body of every query; None where it has no answers by its nature.

    Raises:
        SettingError: more is asked for than the index holds.
        BackendError: the queries' fingerprints do not fit the index.
    """
    spec, fingerprints = handle.spec, queries.fingerprints
    if spec.kind == "bm25":
        return text_bodies(handle.location, params.k, queries.texts, transport)
    if fingerprints is None:
        raise BackendError(f"{spec.kind} searches fingerprints: the queries have none")
    if fingerprints.bits != spec.bits:
        raise BackendError(
            f"the queries have codes of {fingerprints.bits} bits and the index of {spec.bits}: "
            "fingerprint both with the same settings"
        )
    if spec.kind == "flat":
        made = flat_bodies(fingerprints, params.k)
    else:
        check_tables(handle, params, len(fingerprints.keys))
        made = lsh_bodies(fingerprints, params)
    ok = (fingerprints.status == Status.OK).tolist()
    return [body if fine else None for body, fine in zip(made, ok, strict=True)]


def check_tables(handle: IndexHandle, params: SearchParams, query_tables: int) -> None:
    """Refuse tables and lengths that were not built."""
    spec = handle.spec
    most = min(spec.num_tables or 0, query_tables)
    if params.num_tables is None or not 1 <= params.num_tables <= most:
        raise SettingError(f"num_tables {params.num_tables}: the index allows 1 to {most}")
    if params.hash_length not in spec.hash_lengths:
        built = ", ".join(map(str, spec.hash_lengths))
        raise SettingError(f"hash_length {params.hash_length}: the index has {built}")
