"""One opened index of an engine: bodies made beforehand, replies turned into hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import orjson

from indexers.backends import _engine_sets, _engine_strings
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_errors import reason, refusal, squash
from indexers.backends._engine_layout import fitting, ranked_by
from indexers.backends._engine_queries import SEARCH_PATH, flat_bodies, lsh_bodies
from indexers.backends._engine_text import live_clause_limit, text_bodies
from indexers.errors import BackendError, IndexMissing, SettingError
from indexers.index_types import (
    Hits,
    HttpRequest,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
    Transport,
)
from indexers.types import Fingerprints, Status

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
        read_score: the similarity that an engine's score tells.
    """

    def __init__(
        self,
        index: str,
        bodies: Sequence[bytes | None],
        ids: Sequence[str],
        transport: Transport,
        close: Callable[[], None],
        read_score: Callable[[float], float] = float,
    ) -> None:
        path = SEARCH_PATH.format(index=index)
        self._requests = [None if b is None else HttpRequest("POST", path, b) for b in bodies]
        self._ordinals = {name: ordinal for ordinal, name in enumerate(ids)}
        self._transport = transport
        self._close = close
        self._read_score = read_score
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
            np.fromiter(map(self._read_score, scores.values()), np.float64, len(scores)),
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
    handle: IndexHandle,
    params: SearchParams,
    queries: Queries,
    transport: Transport,
    dialect: Dialect,
) -> list[bytes | None]:
    """The body of every query; None where it has no answers by its nature.

    Raises:
        SettingError: more is asked for than the index holds.
        BackendError: the queries' fingerprints do not fit the index.
    """
    spec = handle.spec
    if spec.kind == "bm25":
        return text_bodies(handle.location, params.k, queries.texts, transport, dialect)
    fingerprints = fitting(spec, queries.fingerprints, "the queries")
    rows = np.flatnonzero(fingerprints.status == Status.OK).astype(np.int64)
    if spec.kind == "lsh":
        check_tables(handle, params, len(fingerprints.keys))
    asked = iter(_bodies(spec, params, fingerprints.take(rows), transport, dialect))
    ok = set(rows.tolist())
    return [next(asked) if row in ok else None for row in range(len(fingerprints))]


def _bodies(
    spec: IndexSpec,
    params: SearchParams,
    fingerprints: Fingerprints,
    transport: Transport,
    dialect: Dialect,
) -> list[bytes]:
    """One body a query; all of them are OK."""
    by, tokens = ranked_by(spec), spec.kind == "tokens"
    if by == "jaccard":
        assert fingerprints.hashes is not None
        clauses = live_clause_limit(transport, dialect) if tokens else 0
        return _engine_sets.bodies(fingerprints.hashes, params.k, tokens=tokens, clauses=clauses)
    if by == "levenshtein":
        return _engine_strings.bodies(fingerprints, params.k, tokens=tokens)
    if by == "cosine":
        assert fingerprints.vectors is not None
        return flat_bodies(dialect.vector.scripts(fingerprints.vectors), params.k)
    scripts = dialect.code.scripts(fingerprints.codes)
    if spec.kind == "flat":
        return flat_bodies(scripts, params.k)
    return lsh_bodies(fingerprints, scripts, params)


def score_reader(spec: IndexSpec, dialect: Dialect) -> Callable[[float], float]:
    """What turns an engine's score into the similarity."""
    by = ranked_by(spec)
    if by == "cosine":
        return dialect.vector.similarity
    return dialect.code.similarity if by == "code" else float


def check_tables(handle: IndexHandle, params: SearchParams, query_tables: int) -> None:
    """Refuse tables and lengths that were not built."""
    spec = handle.spec
    most = min(spec.num_tables or 0, query_tables)
    if params.num_tables is None or not 1 <= params.num_tables <= most:
        raise SettingError(f"num_tables {params.num_tables}: the index allows 1 to {most}")
    if params.hash_length not in spec.hash_lengths:
        built = ", ".join(map(str, spec.hash_lengths))
        raise SettingError(f"hash_length {params.hash_length}: the index has {built}")
