"""How requests reach a search engine from the load process; it alone imports this module."""

from __future__ import annotations

from urllib.parse import urlsplit

from geventhttpclient import HTTPClient
from geventhttpclient.response import HTTPParseError

from indexers.address import address
from indexers.index_types import HttpRequest


class Http:
    """Keep-alive connections to one server.

    Args:
        url: may carry a path that goes before every request's, and credentials.
        connections: kept at most; a request waits while all are in use.
        timeout_s: of connecting, and of every wait for more of the answer.

    Raises:
        SettingError: the URL is none.
    """

    def __init__(self, url: str, connections: int, timeout_s: float) -> None:
        to = address("engine", url)
        self._path = to.path
        self._client = HTTPClient(
            to.host,
            port=to.port,
            headers=to.headers,
            connection_timeout=timeout_s,
            network_timeout=timeout_s,
            concurrency=connections,
            ssl=to.tls,
        )

    def __call__(self, request: HttpRequest) -> tuple[int, bytes]:
        """Send a request.

        Raises:
            OSError: no whole answer came; its connection is not used again.
        """
        try:
            reply = self._client.request(request.method, self._path + request.path, request.body)
            return reply.status_code, bytes(reply.read())
        except HTTPParseError as error:
            raise ConnectionResetError(f"the answer broke off: {error}") from error

    def close(self) -> None:
        """Close all connections."""
        self._client.close()


def without_credentials(text: str, url: str | None) -> str:
    """The text with the URL's credentials left out, should a library have put them there."""
    userinfo = urlsplit(url or "").netloc.rpartition("@")[0]
    return text.replace(userinfo + "@", "") if userinfo else text
