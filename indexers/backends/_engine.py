"""What a backend on a search engine is, whichever of the two it is.

One temporary index serves every number of tables and hash length up to its sizes; see
`_engine_layout` for what it holds.
"""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from indexers.address import address
from indexers.backends import _engine_admin as admin
from indexers.backends._engine_bulk import Bulk, blocks, indexed_rows
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_fields import index_body
from indexers.backends._engine_http import HttpTransport
from indexers.backends._engine_layout import properties
from indexers.backends._engine_queries import MAX_TERMS
from indexers.backends._engine_root import ask_version
from indexers.backends._engine_search import EngineSearcher, bodies, score_reader
from indexers.backends._fits import misfit
from indexers.errors import BackendError, EngineUnavailable, SettingError
from indexers.index_types import (
    BackendConfig,
    BackendInfo,
    Documents,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
    Transport,
)
from indexers.types import Progress, no_progress

MAX_ANSWERS = 10_000  # index.max_result_window
BULK_PATH = "_bulk?filter_path=items.*.status,items.*.error"


class Engine(ABC):
    """Temporary indices on a server.

    Attributes:
        flavour: the engine's own name.
        dialect: what it says in its own way.

    Raises:
        SettingError: no URL, a URL that is none, or an owner tag that cannot be in a name.
    """

    name: ClassVar[str]
    flavour: ClassVar[str]
    dialect: ClassVar[Dialect]
    kinds: ClassVar[tuple[str, ...]] = ("lsh", "flat", "tokens", "bm25")
    remote: ClassVar[bool] = True

    def __init__(self, config: BackendConfig) -> None:
        admin.check_owner(config.owner)
        self._config = config
        self._to = address(self.name, config.url)

    @abstractmethod
    def _call(
        self, method: str, path: str, body: object = None, *, what: str, timeout_s: float = 0
    ) -> dict[str, Any]:
        """One administrative request by the official client, as `Call` says."""

    @abstractmethod
    def _source(self, version: tuple[int, ...]) -> dict[str, object]:
        """Mapping of `_source` that keeps as little of the documents as this version can."""

    @abstractmethod
    def _accept(self, version: tuple[int, ...], spec: IndexSpec | None = None) -> None:
        """Refuse a server, or a pair of client and server, that cannot work.

        Args:
            version: of the server, its first two numbers.
            spec: what it is to hold; None before that is known.

        Raises:
            EngineUnavailable: it is one.
            MissingPackage: the client is not installed.
            BackendError: the server lacks what such an index needs.
        """

    @abstractmethod
    def _size_bytes(self, name: str) -> int:
        """Bytes of an index as stored, apart from what is there for recovery alone."""

    @classmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""
        if spec.kind != "bm25" and (problem := misfit(cls.name, cls.kinds, spec, params)):
            return problem
        if params.rerank == "signature":
            return "rerank=signature exists in process only"
        if params.k > MAX_ANSWERS:
            return f"{params.k} answers are more than the {MAX_ANSWERS} that an engine gives"
        if (params.num_tables or 0) > MAX_TERMS:
            return f"{params.num_tables} tables are more than the {MAX_TERMS} terms of a query"
        return None

    def check(self) -> BackendInfo:
        """Look at the server before anything is built.

        Raises:
            EngineUnavailable: unreachable, red, something else than this engine, or of a version
                that does not work.
            MissingPackage: the client is not installed.
        """
        version, numbers = ask_version(self._to, self.flavour, self._config.timeout_s)
        self._accept(numbers)
        health = self._call("GET", "/_cluster/health", what="reading the cluster's health")
        if health["status"] == "red":
            raise EngineUnavailable(
                f"the cluster at {self._to.shown} is red: repair it, or remove the indices "
                "that _cluster/health?level=indices shows as red"
            )
        warnings: tuple[str, ...] = ()
        if health["status"] == "yellow":
            warnings = (
                f"the cluster at {self._to.shown} is yellow: replicas are missing; "
                "temporary indices have none",
            )
        limits = self._call("GET", self.dialect.limit_path, what="reading the server's limits")
        facts = {
            "flavour": self.flavour,
            "nodes": str(health["number_of_data_nodes"]),
            "max_clause_count": str(self.dialect.clause_limit(limits)),
        }
        return BackendInfo(version, warnings, facts)

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Build a temporary index, merged to one segment; `folder` is not used.

        Raises:
            BackendError: it could not be built, or the server lacks what it needs; nothing of it
                stays.
        """
        del folder
        rows = indexed_rows(spec, documents)
        _, numbers = ask_version(self._to, self.flavour, self._config.timeout_s)
        self._accept(numbers, spec)
        source = self._source(numbers)
        name = admin.new_name(self._config.owner)
        fields = properties(spec, documents, self.dialect)
        body = index_body(fields, self._config.owner, f"{datetime.now(UTC):%FT%TZ}", source)
        lines = blocks(spec, documents, rows, self.dialect)
        started = time.perf_counter()
        try:
            # without waiting: what keeps its shard from starting is told by the next request
            self._call("PUT", f"/{name}?wait_for_active_shards=0", body, what=f"creating {name}")
            admin.wait_for_green(self._call, name, self._config.timeout_s)
            Bulk(lambda sent: self._bulk(name, sent)).run(lines, progress)
            admin.merge(self._call, name)
            admin.wait_for_green(self._call, name, self._config.timeout_s)
            build_s = time.perf_counter() - started
            size = self._size_bytes(name)
        except BaseException:  # Ctrl-C too
            with contextlib.suppress(Exception):  # the first error is the one to tell
                admin.delete(self._call, name)
            raise
        return IndexHandle(spec, name, len(rows), size, build_s)

    def _bulk(self, name: str, lines: bytes) -> dict[str, Any]:
        return self._call("POST", f"/{name}/{BULK_PATH}", lines, what=f"indexing into {name}")

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
            BackendError: the server's limits could not be read (bm25, tokens).
        """
        if problem := self.impossible(handle.spec, params):
            raise SettingError(problem)
        own = None if transport else HttpTransport(self._to, self._config.timeout_s)
        send = transport or own
        assert send
        made = bodies(handle, params, queries, send, self.dialect)
        close = own.close if own else lambda: None
        read = score_reader(handle.spec, self.dialect)
        return EngineSearcher(handle.location, made, ids, send, close, read)

    def drop(self, handle: IndexHandle) -> None:
        """Remove the index; it is no error if it is gone already.

        Raises:
            BackendError: it does not carry our owner tag.
            EngineUnavailable: the server is gone.
        """
        admin.drop(self._call, handle.location, self._config.owner)

    def sweep(self) -> list[str]:
        """Remove all indices that carry our owner tag; gives their names."""
        return admin.sweep(self._call, self._config.owner)

    def size_bytes(self, handle: IndexHandle, params: SearchParams) -> int:
        """Bytes of the whole index."""
        del params
        return handle.size_bytes

    def state(self, handle: IndexHandle) -> str:
        """Its segments; empty where the server is away, which the next request will tell."""
        with contextlib.suppress(BackendError):
            return self.segments(handle)
        return ""

    def segments(self, handle: IndexHandle) -> str:
        """What the index consists of: a change during a trial is drift."""
        return admin.segments(self._call, handle.location)
