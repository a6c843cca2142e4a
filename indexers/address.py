"""Where a search engine is: its URL taken apart, and printed without credentials."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from indexers.errors import SettingError

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
        raise SettingError(f"{engine} URL {masked(url)!r} is not understood: {FORM}")
    credentials = None
    if parts.username is not None:
        credentials = (unquote(parts.username), unquote(parts.password or ""))
    path = parts.path.rstrip("/")
    return Address(parts.scheme == "https", parts.hostname, port, path, credentials)


def masked(text: str) -> str:
    """A text with the credentials of every URL in it taken out."""
    # greedy up to white space: a password may hold an unescaped @ or /
    return re.sub(r"//\S*@", "//***@", text)
