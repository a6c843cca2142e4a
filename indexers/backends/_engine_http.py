"""A plain keep-alive way to an engine."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from indexers.address import Address
from indexers.errors import EngineUnavailable
from indexers.http_request import HttpRequest

FIRST_ERROR = 400


class HttpTransport:
    """Sends requests over kept-alive connections; may be called from several threads.

    A `Transport`: what is asked for is relative to the URL's own path.
    """

    def __init__(self, to: Address, timeout_s: float) -> None:
        import urllib3

        more: dict[str, Any] = {}
        if to.tls:
            more["ssl_context"] = to.tls_context()
            quieten(to)
        pool = urllib3.HTTPSConnectionPool if to.tls else urllib3.HTTPConnectionPool
        self._pool: Any = pool(
            to.host, to.port, timeout=timeout_s, maxsize=8, headers=to.headers, **more
        )
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
                self._to.path + request.target,
                body=request.body,
                retries=False,
                redirect=False,
            )
        except (self._broken, OSError) as error:
            raise unavailable(self._to, error) from None
        status, data = int(reply.status), bytes(reply.data)
        # an engine, or a proxy before it, may echo a header
        return status, hidden(self._to, data) if status >= FIRST_ERROR else data

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


def hidden(to: Address, reply: object) -> bytes:
    """An error reply, parsed or not, without the credentials that opened the server."""
    if not isinstance(reply, bytes):
        try:
            reply = orjson.dumps(reply, default=str)
        except TypeError:  # a lone surrogate
            reply = json.dumps(reply, default=str).encode()
    return to.hide(reply.decode(errors="replace")).encode()


def quieten(to: Address) -> None:
    """Keep urllib3 from warning of what `Address.warnings` tells once."""
    import urllib3

    if not to.verify_tls:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)


def unavailable(to: Address, error: object) -> EngineUnavailable:
    """The error of a request that got no reply."""
    told = to.hide(" ".join(str(error).split()))
    if timeout := re.search(r"timeout=([\d.]+)", told):
        told = f"timed out after {timeout[1]} s"
    if misled := _about_tls(to, told):
        return EngineUnavailable(f"no answer from {to.shown}: {misled}")
    return EngineUnavailable(
        f"no answer from {to.shown}: {_plainly(told) or type(error).__name__}; "
        "is the server running?"
    )


def _about_tls(to: Address, told: str) -> str | None:
    """What is wrong with encryption or a certificate, and what to do; None where nothing is."""
    if not to.tls:
        closed = "RemoteDisconnected" in told or "Connection aborted" in told
        return (
            "the connection was closed without an answer: the server died, or it speaks https; "
            "then write https:// in its URL"
            if closed
            else None
        )
    if "WRONG_VERSION_NUMBER" in told or "record layer failure" in told:
        return "it speaks http, not https: write http:// in its URL"
    if "CERTIFICATE_VERIFY_FAILED" not in told:
        return None
    if "has expired" in told:
        return "its certificate has expired: renew it on the server"
    if "not yet valid" in told:
        return "its certificate is not valid yet: see that the clocks of both machines are right"
    if "mismatch" in told or "doesn't match" in told:
        return (
            f"its certificate is made for another name than {to.host}: write in the URL one that "
            "it is made for"
        )
    trusted = f"the authorities in {to.ca_file}" if to.ca_file else "an authority known here"
    return (
        f"its certificate is not signed by {trusted}: give the PEM file of the right one with "
        f"--{to.engine}-ca or HARNESS_{to.engine.upper()}_CA"
    )


def _plainly(told: str) -> str:
    """What went wrong, without the objects and addresses that the clients put around it."""
    if "RemoteDisconnected" in told or "Connection aborted" in told:
        return "the connection was closed without an answer"
    if number := re.search(r"\[Errno -?\d+\] [^()'\"]+", told):
        return number[0].strip()
    return told.rsplit(": ", 1)[-1].strip("()'\" ")
