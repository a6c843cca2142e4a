"""One opened index of an engine: bodies made beforehand, replies turned into hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from indexers.backends import (
    _engine_collisions,
    _engine_sets,
    _engine_strings,
    _engine_texts,
    _engine_vectors,
)
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_filter import clause, filtered, with_room
from indexers.backends._engine_layout import fitting, ranked_by
from indexers.backends._engine_production import DOCUMENT, bringing_documents, search_parameters
from indexers.backends._engine_queries import flat_bodies, lsh_bodies
from indexers.backends._engine_replies import hits_of
from indexers.backends._engine_text import live_clause_limit
from indexers.errors import BackendError, SettingError
from indexers.http_request import HttpRequest, Transport
from indexers.index_types import Answer, Hits, IndexHandle, IndexSpec, Queries, SearchParams
from indexers.reranks import COLLISION_RERANKS, COUNTED
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
        fetch_source: the bodies ask for the documents too.
        rescored: replies have scores and ids, but no sort (`_engine_collisions`).
    """

    def __init__(
        self,
        index: str,
        bodies: Sequence[bytes | None],
        ids: Sequence[str],
        transport: Transport,
        close: Callable[[], None],
        read_score: Callable[[float], float] = float,
        *,
        fetch_source: bool = False,
        rescored: bool = False,
    ) -> None:
        returned = _engine_collisions.RETURNED if rescored else ""
        asked = partial(search_parameters, returned=returned, fetch_source=fetch_source)
        self._rescored = rescored
        self._requests = [
            None if body is None else HttpRequest("POST", (index, "_search"), asked(query), body)
            for query, body in enumerate(bodies)
        ]
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
        sorts = [hit["sort"] for hit in self._hits(status, body)]
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

    def found(self, status: int, body: bytes) -> list[Answer]:
        """The hits in a reply, best first, for those who know no ordinals.

        Raises:
            IndexMissing, BackendError: as `answer`; any id may come.
        """
        answers: dict[str, Answer] = {}
        for hit in self._hits(status, body):
            score, name = hit["sort"]
            held = (hit.get("_source") or {}).get(DOCUMENT)
            answers.setdefault(name, Answer(name, self._read_score(score), held))
        return list(answers.values())

    def _hits(self, status: int, body: bytes) -> list[dict[str, Any]]:
        gone = f"{self._index} is gone: someone removed it while it was searched"
        hits = hits_of(self._index, status, body, gone)
        return _engine_collisions.in_order(hits) if self._rescored else hits

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
    if params.filter is not None and handle.spec.kind != "lsh":  # which counts them itself
        dialect = with_room(dialect)
    made = _unfiltered(handle, params, queries, transport, dialect)
    if params.fetch_source:
        made = bringing_documents(made)
    if params.filter is None:
        return made
    wanted = clause(handle.spec, params.filter)
    return [None if body is None else filtered(body, wanted) for body in made]


def _unfiltered(
    handle: IndexHandle,
    params: SearchParams,
    queries: Queries,
    transport: Transport,
    dialect: Dialect,
) -> list[bytes | None]:
    spec = handle.spec
    if spec.kind in _engine_texts.KINDS:
        index, texts = handle.location, queries.texts
        return _engine_texts.bodies(spec, index, params, texts, transport, dialect)
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
    if _engine_vectors.is_native(spec):
        return _engine_vectors.bodies(spec, params, fingerprints, dialect)
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
    if params.rerank in COLLISION_RERANKS:
        _engine_collisions.check_clauses(params, live_clause_limit(transport, dialect))
        return _engine_collisions.bodies(fingerprints, scripts, params)
    return lsh_bodies(fingerprints, scripts, params)


def score_reader(
    spec: IndexSpec, params: SearchParams, dialect: Dialect
) -> Callable[[float], float]:
    """What turns an engine's score into the similarity."""
    if _engine_vectors.is_native(spec):
        return dialect.native.similarity(spec, _engine_vectors.type_of(spec))
    if params.rerank == COUNTED:
        return float
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
