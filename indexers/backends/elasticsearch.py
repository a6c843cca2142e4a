"""Elasticsearch 8.15 and later: tables and hashes as tokens, ranking by a script, BM25."""

from __future__ import annotations

import logging
import ssl
from functools import cached_property
from typing import Any, ClassVar

from indexers.backends import _engine_admin as admin
from indexers.backends._engine import Engine
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_elasticsearch import DIALECT
from indexers.backends._engine_errors import refusal, squash
from indexers.backends._engine_http import unavailable
from indexers.errors import BackendError, EngineUnavailable, MissingPackage
from indexers.index_types import IndexSpec

OLDEST = (8, 15)
"""The version from which vectors may be of bits."""
RECOVERY_SOURCE = "_recovery_source"


class Elasticsearch(Engine):
    """Temporary indices on an Elasticsearch server."""

    name: ClassVar[str] = "elasticsearch"
    flavour: ClassVar[str] = "Elasticsearch"
    dialect: ClassVar[Dialect] = DIALECT

    def _accept(self, version: tuple[int, ...], spec: IndexSpec | None = None) -> None:
        del spec
        told = f"{self._to.shown} is Elasticsearch {'.'.join(map(str, version))}"
        if version < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise EngineUnavailable(f"{told}: {oldest} or later is needed, for vectors of bits")
        client = self._module.__version__
        if client[0] > version[0]:
            raise EngineUnavailable(
                f"{told}, which refuses clients of version {client[0]}: "
                f"pip install 'elasticsearch=={version[0]}.*'"
            )

    def _source(self, version: tuple[int, ...]) -> dict[str, object]:
        """Documents are not stored; a hidden copy of them that no index can do without remains."""
        del version
        return {"enabled": False}

    def _size_bytes(self, name: str) -> int:
        """The hidden copy apart, where the server lets us look at sizes of fields."""
        whole = admin.size_bytes(self._call, name)
        path = (
            f"/{name}/_disk_usage?run_expensive_tasks=true&filter_path=*.fields.{RECOVERY_SOURCE}"
        )
        try:
            reply = self._call("POST", path, what=f"measuring {name}")
        except BackendError:  # it takes reading the whole index, and a right of its own
            return whole
        fields = reply.get(name, {}).get("fields", {})
        return whole - int(fields.get(RECOVERY_SOURCE, {}).get("total_in_bytes", 0))

    @cached_property
    def _module(self) -> Any:
        try:
            import elasticsearch
        except ImportError:
            raise MissingPackage(
                "the elasticsearch backend needs its client: pip install elasticsearch"
            ) from None
        return elasticsearch

    @cached_property
    def _client(self) -> Any:
        # the client logs what fails as warnings; without a handler they go to stderr
        logging.getLogger("elastic_transport").addHandler(logging.NullHandler())
        node = {
            "scheme": "https" if self._to.tls else "http",
            "host": self._to.host,
            "port": self._to.port,
            "path_prefix": self._to.path,
        }
        # the system's certificates, and SSL_CERT_FILE, as searches use
        tls = {"ssl_context": ssl.create_default_context()} if self._to.tls else {}
        return self._module.Elasticsearch(
            [node],
            basic_auth=self._to.credentials,
            request_timeout=self._config.timeout_s,
            max_retries=0,
            **tls,
        )

    def _call(
        self, method: str, path: str, body: object = None, *, what: str, timeout_s: float = 0
    ) -> dict[str, Any]:
        client = self._client.options(request_timeout=timeout_s) if timeout_s else self._client
        # the client adds to both the version that it speaks
        headers = {"accept": "application/json"}
        if body is not None:
            lines = isinstance(body, bytes)
            headers["content-type"] = f"application/{'x-ndjson' if lines else 'json'}"
        try:
            reply = client.perform_request(method, path, headers=headers, body=body)
        except self._module.ApiError as error:
            raise refusal(what, int(error.meta.status), error.body) from None
        except self._module.SerializationError as error:  # a reply that is no JSON
            raise EngineUnavailable(f"{what} failed: {squash(error.message)}") from None
        except self._module.TransportError as error:
            cause = error.errors[0] if error.errors else error.message
            raise unavailable(self._to, cause) from None
        return reply.body if isinstance(reply.body, dict) else {}


BACKEND = Elasticsearch
