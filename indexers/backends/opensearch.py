"""OpenSearch 2.0 and later: tables and hashes as tokens, ranking by a script, BM25.

The k-NN plugin is needed for families of vectors and for graphs alone.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import Any, ClassVar

from indexers.backends import _engine_admin as admin
from indexers.backends._engine import Engine
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_errors import refusal, squash
from indexers.backends._engine_http import hidden, quieten, unavailable
from indexers.backends._engine_layout import ranked_by
from indexers.backends._engine_opensearch import DIALECT, check_plugin
from indexers.backends._engine_opensearch_vectors import (
    FAISS,
    check_library,
    check_version,
    engine_of,
)
from indexers.backends._engine_vectors import is_native, type_of
from indexers.errors import EngineUnavailable, MissingPackage
from indexers.flavours import FLAVOURS
from indexers.http_request import HttpRequest
from indexers.index_types import IndexSpec

OLDEST = (2, 0)
WITHOUT_RECOVERY_SOURCE = (2, 15)
"""The version from which an index need not keep a second, hidden source."""
FIELD_NAMES_UNTRIED = (3, 0)
"""Before it, the name of a field is indexed once more with each token, unless `_field_names` is
off; the option is deprecated, so that later versions are left alone."""


class OpenSearch(Engine):
    """Temporary indices on an OpenSearch server."""

    name: ClassVar[str] = "opensearch"
    flavour: ClassVar[str] = FLAVOURS[name]
    dialect: ClassVar[Dialect] = DIALECT

    def _accept(self, version: tuple[int, ...], spec: IndexSpec | None = None) -> None:
        if version < OLDEST:
            told = f"{self._to.shown} is OpenSearch {'.'.join(map(str, version))}"
            raise EngineUnavailable(f"{told}: {'.'.join(map(str, OLDEST))} or later is needed")
        if spec is None:
            return
        native = is_native(spec)
        if native or ranked_by(spec) == "cosine":
            check_plugin(self._call, self._to.shown)
        if native:
            check_version(spec, type_of(spec), version, self._to.shown)
            if engine_of(spec) == FAISS:
                check_library(self._call, self._to.shown)

    def _own_fields(self, version: tuple[int, ...]) -> dict[str, dict[str, object]]:
        fields: dict[str, dict[str, object]] = {"_source": {"enabled": False}}
        if version >= WITHOUT_RECOVERY_SOURCE:
            fields["_source"]["recovery_source_enabled"] = False
        if version < FIELD_NAMES_UNTRIED:
            fields["_field_names"] = {"enabled": False}
        return fields

    def _sizes(self, name: str) -> tuple[int, dict[str, int]]:
        return admin.size_bytes(self._call, name), {}

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
        quieten(self._to)
        return opensearchpy.OpenSearch(
            hosts=[{"host": self._to.host, "port": self._to.port}],
            url_prefix=self._to.path,
            use_ssl=self._to.tls,
            ssl_context=self._to.tls_context() if self._to.tls else None,
            headers=self._to.authorization,
            timeout=self._config.timeout_s,
            max_retries=0,
        )

    def _call(self, request: HttpRequest, *, what: str, timeout_s: float = 0) -> dict[str, Any]:
        transport = self._client.transport
        from opensearchpy import ConnectionError as NoAnswer
        from opensearchpy import OpenSearchException, TransportError

        params = {"request_timeout": timeout_s} if timeout_s else {}
        try:
            reply = transport.perform_request(
                request.method, request.target, params=params, body=request.body or None
            )
        except NoAnswer as error:
            raise unavailable(self._to, error.info) from None
        except TransportError as error:
            told = hidden(self._to, error.info)
            raise refusal(what, int(error.status_code), told) from None
        except OpenSearchException as error:  # such as a reply that is no JSON
            raise EngineUnavailable(f"{what} failed: {squash(self._to.hide(str(error)))}") from None
        return reply if isinstance(reply, dict) else {}


BACKEND = OpenSearch
