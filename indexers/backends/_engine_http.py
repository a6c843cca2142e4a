"""A plain keep-alive way to an engine."""

from __future__ import annotations

import re
from typing import Any

from indexers.address import Address
from indexers.errors import EngineUnavailable
from indexers.index_types import HttpRequest


class HttpTransport:
    """Sends requests over kept-alive connections; may be called from several threads.

    A `Transport`: paths are relative to the URL's own path.
    """

    def __init__(self, to: Address, timeout_s: float) -> None:
        import urllib3

        pool = urllib3.HTTPSConnectionPool if to.tls else urllib3.HTTPConnectionPool
        self._pool: Any = pool(to.host, to.port, timeout=timeout_s, maxsize=8, headers=to.headers)
        self._to = to
        self._broken = urllib3.exceptions.HTTPError

    def __call__(self, request: HttpRequest) -> tuple[int, bytes]:
        """Status and body of the reply.

        Raises:
            EngineUnavailable: no reply came.
        """
        try:
            reply = self._pool.urlopen(
                request.method,
                self._to.path + request.path,
                body=request.body,
                retries=False,
                redirect=False,
            )
        except (self._broken, OSError) as error:
            raise unavailable(self._to, error) from None
        return int(reply.status), bytes(reply.data)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


def unavailable(to: Address, error: object) -> EngineUnavailable:
    """The error of a request that got no reply."""
    told = " ".join(str(error).split())
    if timeout := re.search(r"timeout=([\d.]+)", told):
        told = f"timed out after {timeout[1]} s"
    return EngineUnavailable(
        f"no answer from {to.shown}: {_plainly(told) or type(error).__name__}; "
        "is the server running?"
    )


def _plainly(told: str) -> str:
    """What went wrong, without the objects and addresses that the clients put around it."""
    if "WRONG_VERSION_NUMBER" in told:
        return "it speaks http, not https"
    if "RemoteDisconnected" in told or "Connection aborted" in told:
        return "the connection was closed without an answer"
    if number := re.search(r"\[Errno -?\d+\] [^()'\"]+", told):
        return number[0].strip()
    return told.rsplit(": ", 1)[-1].strip("()'\" ")
