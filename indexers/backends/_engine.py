"""What a backend on a search engine is, whichever of the two it is.

One temporary index serves every number of tables and hash length up to its sizes; see
`_engine_layout` for what it holds.
"""

from __future__ import annotations

import contextlib
import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from indexers.backends import _engine_temporary as temporary
from indexers.backends._engine_build import Build, Taken
from indexers.backends._engine_bulk import batches, blocks, indexed_rows
from indexers.backends._engine_fields import index_body
from indexers.backends._engine_filter import filter_properties
from indexers.backends._engine_http import HttpTransport
from indexers.backends._engine_layout import other_lengths_bytes, properties
from indexers.backends._engine_production import deleted_share, for_production, update
from indexers.backends._engine_queries import MAX_TERMS
from indexers.backends._engine_root import ask_version
from indexers.backends._engine_search import EngineSearcher, bodies, score_reader
from indexers.backends._engine_server import EngineServer
from indexers.backends._engine_texts import KINDS as TEXT_KINDS
from indexers.backends._engine_texts import with_analysis
from indexers.backends._engine_vectors import problem as vector_problem
from indexers.backends._engine_vectors import with_settings
from indexers.backends._fits import misfit, unheld_attribute
from indexers.errors import SettingError
from indexers.http_request import Transport
from indexers.index_types import Documents, IndexHandle, IndexSpec, Layout, Queries, SearchParams
from indexers.reranks import WINDOWED
from indexers.types import I64, Progress, no_progress

NAMES = 3
"""Drawn at most, where there is an index of the first one."""
MAX_ANSWERS = 10_000  # index.max_result_window


class Engine(EngineServer):
    """Temporary indices on a server."""

    kinds: ClassVar[tuple[str, ...]] = ("lsh", "hnsw", "flat", "tokens", *TEXT_KINDS)
    remote: ClassVar[bool] = True

    @abstractmethod
    def _own_fields(self, version: tuple[int, ...]) -> dict[str, dict[str, object]]:
        """Mapping of the server's own fields, such as `_source`: as little as this version can."""

    @abstractmethod
    def _sizes(self, name: str) -> tuple[int, dict[str, int]]:
        """Bytes of an index as stored, replicas apart and what is there for recovery alone; and of
        each field, where the server tells."""

    @classmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""
        if spec.kind not in TEXT_KINDS and (problem := misfit(cls.name, cls.kinds, spec, params)):
            return problem
        if problem := unheld_attribute(spec, params):
            return problem
        if params.rerank == "signature":
            return "rerank=signature exists in process only"
        if params.k > MAX_ANSWERS:
            return f"{params.k} answers are more than the {MAX_ANSWERS} that an engine gives"
        if (params.num_tables or 0) > MAX_TERMS:
            return f"{params.num_tables} tables are more than the {MAX_TERMS} terms of a query"
        return vector_problem(spec, params, cls.dialect)

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Build a temporary index, kept as its layout says; `folder` is not used.

        Nothing is asked of it yet: the load warms every index up, and longer on a server's first.

        Raises:
            BackendError: it could not be built, or the server lacks what it needs; nothing of it
                stays.
        """
        del folder
        for _ in range(NAMES - 1):
            with contextlib.suppress(Taken):
                return self._build(spec, documents, progress)
        return self._build(spec, documents, progress)

    def _build(self, spec: IndexSpec, documents: Documents, progress: Progress) -> IndexHandle:
        """Build under a name of its own.

        Raises:
            Taken: there is an index of that name.
            BackendError: as `build`.
        """
        rows = indexed_rows(spec, documents)
        _, numbers = ask_version(self._to, self.flavour, self._config.timeout_s)
        self._accept(numbers, spec)
        name = temporary.new_name(self._config.owner)
        body = self.index_body(spec, documents, numbers)
        started = time.perf_counter()
        with self._building(spec.layout, name, body, progress) as build, build.removed_on_error():
            done = build.run(lambda: blocks(spec, documents, rows, self.dialect))
            build_s = time.perf_counter() - started
            size, of_fields = self._sizes(name)
        return IndexHandle(spec, name, done, size, build_s, of_fields, build.uuid)

    @contextlib.contextmanager
    def _building(
        self, layout: Layout, name: str, body: dict[str, Any], progress: Progress
    ) -> Iterator[Build]:
        """A build with connections of its own."""
        timeout_s, patience_s = self._config.timeout_s, self._config.patience_s
        send = HttpTransport(self._to, timeout_s)
        try:
            yield Build(
                *(self._call, send, name, body, layout, timeout_s, progress, patience_s),
                alias=temporary.alias_of(name),
                owner=self._config.owner,
            )
        finally:
            send.close()

    def index_body(
        self, spec: IndexSpec, documents: Documents, version: tuple[int, ...]
    ) -> dict[str, Any]:
        """Settings and mapping of a temporary index; nothing is sent.

        Args:
            spec: what is built.
            documents: that it fits, one of them at least.
            version: of the server, its first two numbers.
        """
        fields = properties(spec, documents, self.dialect) | filter_properties(spec)
        own, created = self._own_fields(version), f"{datetime.now(UTC):{temporary.CREATED_FORM}}"
        body = with_analysis(
            index_body(fields, self._config.owner, created, own, spec.layout), spec
        )
        return with_settings(for_production(body, spec), spec, self.dialect)

    def open(
        self,
        handle: IndexHandle,
        params: SearchParams,
        queries: Queries,
        ids: Sequence[str],
        transport: Transport | None = None,
    ) -> EngineSearcher:
        """Prepare the body of every query.

        Without a transport, the searcher has kept-alive connections of its own.

        Raises:
            SettingError: more is asked for than the index holds.
            BackendError: the server's limits could not be read (texts, tokens,
                rerank `window` or `none`), or do not allow as many tables.
        """
        if problem := self.impossible(handle.spec, params):
            raise SettingError(problem)
        own = None if transport else HttpTransport(self._to, self._config.timeout_s)
        send = transport or own
        assert send
        made = bodies(handle, params, queries, send, self.dialect)
        close = own.close if own else lambda: None
        read = score_reader(handle.spec, params, self.dialect)
        told, rescored = params.fetch_source, params.rerank == WINDOWED
        return EngineSearcher(
            *(handle.location, made, ids, send, close, read),
            fetch_source=told,
            rescored=rescored,
        )

    def update(self, handle: IndexHandle, documents: Documents, ordinals: I64) -> None:
        """Index documents again, as they are; searches see them after the next refresh.

        Args:
            handle: of an index that is updatable.
            documents: as it was built from.
            ordinals: int64 (m,), of those to be indexed.

        Raises:
            BackendError: they could not be.
        """
        for batch in batches(blocks(handle.spec, documents, ordinals, self.dialect)):
            update(self._call, handle.location, batch)

    def settle(self, handle: IndexHandle) -> float:
        """Merge what updates left behind, as the build did.

        Gives the deleted documents that it still holds, as a share of those it has.

        Raises:
            BackendError: it could not be.
        """
        with self._building(handle.spec.layout, handle.location, {}, no_progress) as build:
            build.settle()
        return deleted_share(self._call, handle.location)

    def size_bytes(self, handle: IndexHandle, params: SearchParams) -> int:
        """Bytes of the whole index, replicas apart; where the engine tells those of its fields,
        without the tokens of hash lengths that are not asked for.

        Such a size is that of an index with this hash length alone but for what fields share, such
        as a list of their names. Tokens of tables beyond `num_tables` are counted: they stand in
        the same field.
        """
        return handle.size_bytes - other_lengths_bytes(handle, params)
