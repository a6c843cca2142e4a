"""Elasticsearch 8.15 and later: tables and hashes as tokens, ranking by a script, BM25."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import Any, ClassVar

from indexers.backends import _engine_admin as admin
from indexers.backends._engine import Engine
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_elasticsearch import DIALECT
from indexers.backends._engine_elasticsearch_vectors import SINCE
from indexers.backends._engine_errors import refusal, squash
from indexers.backends._engine_http import hidden, quieten, unavailable
from indexers.backends._engine_vectors import is_native, type_of
from indexers.errors import BackendError, EngineUnavailable, MissingPackage
from indexers.flavours import FLAVOURS
from indexers.http_request import HttpRequest
from indexers.index_types import IndexSpec

OLDEST = (8, 15)
"""The version from which vectors may be of bits."""
RECOVERY_SOURCE = "_recovery_source"
DISK_USAGE = {"run_expensive_tasks": "true", "filter_path": "*.fields.*.total_in_bytes"}


class Elasticsearch(Engine):
    """Temporary indices on an Elasticsearch server."""

    name: ClassVar[str] = "elasticsearch"
    flavour: ClassVar[str] = FLAVOURS[name]
    dialect: ClassVar[Dialect] = DIALECT

    def _accept(self, version: tuple[int, ...], spec: IndexSpec | None = None) -> None:
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
        if spec and is_native(spec) and version < (needed := SINCE.get(type_of(spec), OLDEST)):
            since = ".".join(map(str, needed))
            raise BackendError(f"{told}: vector type {spec.vector_type!r} needs {since} or later")

    def _own_fields(self, version: tuple[int, ...]) -> dict[str, dict[str, object]]:
        """Documents are not stored; a hidden copy of them that no index can do without remains."""
        del version
        return {"_source": {"enabled": False}}

    def _sizes(self, name: str) -> tuple[int, dict[str, int]]:
        """The hidden copy apart, where the server lets us look at sizes of fields."""
        whole = admin.size_bytes(self._call, name)
        request = HttpRequest("POST", (name, "_disk_usage"), DISK_USAGE)
        try:
            reply = self._call(request, what=f"measuring {name}")
        except BackendError:  # it takes reading the whole index, and a right of its own
            return whole, {}
        fields = reply.get(name, {}).get("fields", {})
        of_fields = {field: int(told["total_in_bytes"]) for field, told in fields.items()}
        return whole - of_fields.pop(RECOVERY_SOURCE, 0), of_fields

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
        quieten(self._to)
        return self._module.Elasticsearch(
            [node],
            headers=self._to.authorization,
            request_timeout=self._config.timeout_s,
            max_retries=0,
            **self._tls(),
        )

    def _tls(self) -> dict[str, Any]:
        """What the client looks at certificates with.

        It adds public authorities to a context that it is given, and makes it look: such a one
        will do for the system's authorities alone.
        """
        if not self._to.tls:
            return {}
        if not self._to.verify_tls:
            return {"verify_certs": False, "ssl_show_warn": False}
        if self._to.ca_file:
            return {"ca_certs": self._to.ca_file}
        return {"ssl_context": self._to.tls_context()}

    def _call(self, request: HttpRequest, *, what: str, timeout_s: float = 0) -> dict[str, Any]:
        client = self._client.options(request_timeout=timeout_s) if timeout_s else self._client
        # the client adds to both the version that it speaks
        headers = {"accept": "application/json"}
        if request.body:
            headers["content-type"] = "application/json"
        try:
            reply = client.perform_request(
                request.method, request.target, headers=headers, body=request.body or None
            )
        except self._module.ApiError as error:
            told = hidden(self._to, error.body)
            raise refusal(what, int(error.meta.status), told) from None
        except self._module.SerializationError as error:  # a reply that is no JSON
            raise EngineUnavailable(
                f"{what} failed: {squash(self._to.hide(error.message))}"
            ) from None
        except self._module.TransportError as error:
            cause = error.errors[0] if error.errors else error.message
            raise unavailable(self._to, cause) from None
        return reply.body if isinstance(reply.body, dict) else {}


BACKEND = Elasticsearch
