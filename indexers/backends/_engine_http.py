"""Where an engine is, and a plain keep-alive way to it."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from indexers.errors import EngineUnavailable, SettingError
from indexers.types import HttpRequest

FORM = "allowed is http[s]://[user:password@]host[:port][/path]"


@dataclass(frozen=True, slots=True)
class Address:
    """An engine's URL, taken apart; what is printed of it is `shown`, without credentials."""

    tls: bool
    host: str
    port: int
    path: str
    credentials: tuple[str, str] | None

    @property
    def shown(self) -> str:
        """The URL as it may be printed."""
        secret = "***@" if self.credentials else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' * self.tls}://{secret}{host}:{self.port}{self.path}"

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request."""
        headers = {"Content-Type": "application/json"}
        if self.credentials:
            token = b64encode(":".join(self.credentials).encode()).decode()
            headers["Authorization"] = f"Basic {token}"
        return headers


def address(engine: str, url: str | None) -> Address:
    """Take a URL apart.

    Raises:
        SettingError: there is none, or it is none.
    """
    if not url:
        option = f"--{engine}-url or HARNESS_{engine.upper()}_URL"
        raise SettingError(f"{engine} needs the URL of its server: give {option}; {FORM}")
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        parts, port = urlsplit(""), 0
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        masked = re.sub(r"//.*@", "//***@", url)  # greedy: a password may hold an unescaped @ or /
        raise SettingError(f"{engine} URL {masked!r} is not understood: {FORM}")
    credentials = None
    if parts.username is not None:
        credentials = (unquote(parts.username), unquote(parts.password or ""))
    path = parts.path.rstrip("/")
    return Address(parts.scheme == "https", parts.hostname, port, path, credentials)


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
    # the clients put their own objects and addresses first: what went wrong comes last
    told = told.rsplit(": ", 1)[-1].rstrip(")'\"") or type(error).__name__
    return EngineUnavailable(f"no answer from {to.shown}: {told}; is the server running?")
