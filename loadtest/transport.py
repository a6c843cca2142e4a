"""How requests reach a search engine from the load process; it alone imports this module."""

from __future__ import annotations

from contextlib import suppress

import gevent.ssl
from geventhttpclient import HTTPClient
from geventhttpclient.response import HTTPParseError

from indexers.address import Address, address_of, masked
from indexers.backends._engine_http import FIRST_ERROR, hidden
from indexers.errors import SettingError
from indexers.http_request import HttpRequest
from indexers.index_types import BackendConfig


class Http:
    """Keep-alive connections to one server.

    Args:
        to: the server, with what opens it; its path goes before every request's.
        connections: kept at most; a request waits while all are in use.
        timeout_s: of connecting, and of every wait for more of the answer.

    Raises:
        SettingError: the file of authorities that are trusted cannot be used.
    """

    def __init__(self, to: Address, connections: int, timeout_s: float) -> None:
        context = to.tls_context(gevent.ssl.create_default_context) if to.tls else None
        self._to = to
        self._client = HTTPClient(
            to.host,
            port=to.port,
            headers=to.headers,
            connection_timeout=timeout_s,
            network_timeout=timeout_s,
            concurrency=connections,
            ssl=to.tls,
            # made once: the client would make one for each of its pools from a file it chooses
            ssl_context_factory=(lambda **_: context) if context else None,
            insecure=not to.verify_tls,
        )

    def __call__(self, request: HttpRequest) -> tuple[int, bytes]:
        """Send a request.

        Raises:
            OSError: no whole answer came; its connection is not used again.
        """
        try:
            path = self._to.path + request.target
            reply = self._client.request(request.method, path, request.body)
            status, body = reply.status_code, bytes(reply.read())
        except HTTPParseError as error:
            raise ConnectionResetError(f"the answer broke off: {error}") from error
        return status, hidden(self._to, body) if status >= FIRST_ERROR else body

    def close(self) -> None:
        """Close all connections."""
        self._client.close()


def without_credentials(text: str, config: BackendConfig) -> str:
    """The text with this server's credentials left out, should a library have put them there."""
    if config.url is not None:
        with suppress(SettingError):  # a URL that is none opens nothing
            text = address_of("engine", config).hide(text)
    return masked(text)
