"""OpenSearch 2.x and later: tables and hashes as tokens, ranking by a script, BM25.

The k-NN plugin is needed for families of vectors alone. One temporary index serves every number
of tables and hash length up to its sizes; see `_engine_layout` for how it stores them.
"""

from __future__ import annotations

import contextlib
import logging
import re
import ssl
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import orjson

from indexers.address import address
from indexers.backends import _engine_admin as admin
from indexers.backends._engine_bulk import Bulk, blocks, indexed_rows
from indexers.backends._engine_errors import refusal, squash
from indexers.backends._engine_fields import index_body
from indexers.backends._engine_http import HttpTransport, unavailable
from indexers.backends._engine_layout import properties, ranked_by
from indexers.backends._engine_queries import MAX_TERMS
from indexers.backends._engine_search import EngineSearcher, bodies, score_reader
from indexers.backends._engine_text import LIMIT_PATH, clause_limit
from indexers.backends._engine_vectors import check_plugin
from indexers.backends._fits import misfit
from indexers.errors import BackendError, EngineUnavailable, MissingPackage, SettingError
from indexers.index_types import (
    BackendConfig,
    BackendInfo,
    Documents,
    HttpRequest,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
    Transport,
)
from indexers.types import Progress, no_progress

MAX_ANSWERS = 10_000  # index.max_result_window
BULK_PATH = "_bulk?filter_path=items.*.status,items.*.error"
WITHOUT_RECOVERY_SOURCE = (2, 15)
"""The version from which an index need not keep a second, hidden source."""


class OpenSearch:
    """Temporary indices on an OpenSearch server.

    Raises:
        SettingError: no URL, a URL that is none, or an owner tag that cannot be in a name.
    """

    name: ClassVar[str] = "opensearch"
    kinds: ClassVar[tuple[str, ...]] = ("lsh", "flat", "tokens", "bm25")
    remote: ClassVar[bool] = True

    def __init__(self, config: BackendConfig) -> None:
        admin.check_owner(config.owner)
        self._config = config
        self._to = address(self.name, config.url)

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
            EngineUnavailable: unreachable, red, or something else than an OpenSearch.
            MissingPackage: the client is not installed.
        """
        version = self._version()
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
        limits = self._call("GET", LIMIT_PATH, what="reading the cluster's limits")
        facts = {
            "flavour": "OpenSearch",
            "nodes": str(health["number_of_data_nodes"]),
            "max_clause_count": str(clause_limit(limits)),
        }
        return BackendInfo(version, warnings, facts)

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Build a temporary index, merged to one segment; `folder` is not used.

        Raises:
            BackendError: it could not be built, or the k-NN plugin is missing where vectors need
                it; nothing of it stays.
        """
        del folder
        rows = indexed_rows(spec, documents)
        if ranked_by(spec) == "cosine":
            check_plugin(self._call, self._to.shown)
        source = self._no_source()
        name, fields = admin.new_name(self._config.owner), properties(spec, documents)
        body = index_body(fields, self._config.owner, f"{datetime.now(UTC):%FT%TZ}", source)
        started = time.perf_counter()
        try:
            # without waiting: what keeps its shard from starting is told by the next request
            self._call("PUT", f"/{name}?wait_for_active_shards=0", body, what=f"creating {name}")
            admin.wait_for_green(self._call, name, self._config.timeout_s)
            Bulk(lambda lines: self._bulk(name, lines)).run(blocks(spec, documents, rows), progress)
            admin.merge(self._call, name)
            admin.wait_for_green(self._call, name, self._config.timeout_s)
            size = admin.size_bytes(self._call, name)
        except BaseException:  # Ctrl-C too
            with contextlib.suppress(Exception):  # the first error is the one to tell
                admin.delete(self._call, name)
            raise
        return IndexHandle(spec, name, len(rows), size, time.perf_counter() - started)

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
        made = bodies(handle, params, queries, send)
        close = own.close if own else lambda: None
        read = score_reader(handle.spec)
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
        """Bytes of the whole index: the server tells no sizes of single fields."""
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

    def _version(self) -> str:
        """Version of the server, which must be an OpenSearch."""
        plain = HttpTransport(self._to, self._config.timeout_s)
        try:
            status, reply = plain(HttpRequest("GET", "/", b""))
        finally:
            plain.close()
        if status in (401, 403):
            raise EngineUnavailable(str(refusal(f"GET {self._to.shown}", status, reply)))
        with contextlib.suppress(ValueError, KeyError, TypeError):
            version = orjson.loads(reply)["version"]
            if version.get("distribution") == "opensearch":
                return str(version["number"])
            raise EngineUnavailable(
                f"{self._to.shown} is no OpenSearch: Elasticsearch {version['number']} answered"
            )
        told = squash(reply[:80].decode(errors="replace"))
        raise EngineUnavailable(
            f"{self._to.shown} is no OpenSearch: HTTP {status} answered {told!r}"
        )

    def _no_source(self) -> dict[str, object]:
        """Mapping of `_source` that stores no documents, nor copies for replicas to recover."""
        numbers = [int(part) for part in re.findall(r"\d+", self._version())[:2]]
        if tuple(numbers) < WITHOUT_RECOVERY_SOURCE:
            return {"enabled": False}
        return {"enabled": False, "recovery_source_enabled": False}

    def _bulk(self, name: str, lines: bytes) -> dict[str, Any]:
        return self._call("POST", f"/{name}/{BULK_PATH}", lines, what=f"indexing into {name}")

    @cached_property
    def _client(self) -> Any:
        try:
            import opensearchpy
        except ImportError:
            raise MissingPackage(
                "the opensearch backend needs its client: pip install opensearch-py"
            ) from None
        # the client logs every 404 as a warning; without a handler that goes to stderr
        logging.getLogger("opensearch").addHandler(logging.NullHandler())
        return opensearchpy.OpenSearch(
            hosts=[{"host": self._to.host, "port": self._to.port}],
            url_prefix=self._to.path,
            use_ssl=self._to.tls,
            # the system's certificates, and SSL_CERT_FILE, as searches use
            ssl_context=ssl.create_default_context() if self._to.tls else None,
            http_auth=self._to.credentials,
            timeout=self._config.timeout_s,
            max_retries=0,
        )

    def _call(
        self, method: str, path: str, body: object = None, *, what: str, timeout_s: float = 0
    ) -> dict[str, Any]:
        """One administrative request, as `Call` says."""
        transport = self._client.transport
        from opensearchpy import ConnectionError as NoAnswer
        from opensearchpy import OpenSearchException, TransportError

        params = {"request_timeout": timeout_s} if timeout_s else {}
        try:
            reply = transport.perform_request(method, path, params=params, body=body)
        except NoAnswer as error:
            raise unavailable(self._to, error.info) from None
        except TransportError as error:
            raise refusal(what, int(error.status_code), error.info) from None
        except OpenSearchException as error:  # such as a reply that is no JSON
            raise EngineUnavailable(f"{what} failed: {squash(str(error))}") from None
        return reply if isinstance(reply, dict) else {}


BACKEND = OpenSearch
