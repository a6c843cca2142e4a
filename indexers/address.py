"""Where a search engine is and how one gets in: printed without credentials."""

from __future__ import annotations

import json
import re
import ssl
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from urllib.parse import quote, unquote, urlsplit

from indexers.errors import SettingError
from indexers.index_types import BackendConfig

FORM = "allowed is http[s]://[user:password@]host[:port][/path]"
HIDDEN = "***"
SHORTEST_SECRET = 4
"""What is shorter is no secret, and taking it out would leave no text readable."""


@dataclass(frozen=True, slots=True)
class Address:
    """An engine's URL, taken apart, and what opens it; `shown` is what is printed of it.

    Attributes:
        credentials: user and password; None without.
        api_key: as it is sent, encoded; None without.
        ca_file: PEM file of the only authorities that are trusted; None for the system's.
        verify_tls: whether certificate and host name are looked at.
        engine: whose flags and environment variables open it.
    """

    tls: bool
    host: str
    port: int
    path: str
    credentials: tuple[str, str] | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    verify_tls: bool = True
    engine: str = "engine"

    @property
    def shown(self) -> str:
        """The URL without credentials."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' * self.tls}://{host}:{self.port}{self.path}"

    @property
    def local(self) -> bool:
        """Whether it is on this machine, by its name."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    @property
    def authorization(self) -> dict[str, str]:
        """The header that opens it; empty where nothing is locked."""
        if self.api_key is not None:
            return {"Authorization": f"ApiKey {self.api_key}"}
        if self.credentials is not None:
            return {"Authorization": f"Basic {_encoded(':'.join(self.credentials))}"}
        return {}

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request."""
        return {"Content-Type": "application/json", **self.authorization}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is not as safe as it could be, a line each."""
        found = []
        if self.tls and not self.verify_tls:
            found.append(
                f"the certificate of {self.shown} is not verified: anyone on the way to it can "
                "read and change what is sent; give its authority with "
                f"--{self.engine}-ca FILE in place of --no-verify-tls"
            )
        if self.authorization and not self.tls and not self.local:
            found.append(
                f"credentials go to {self.shown} unencrypted: anyone on the way can read them; "
                "use https://"
            )
        return tuple(found)

    def hide(self, text: str) -> str:
        """The text without these credentials, should a library or a server have put them there."""
        user, password = self.credentials or ("", "")
        token = _encoded(f"{user}:{password}") if self.credentials else ""
        in_json = {json.dumps(password, ensure_ascii=plain)[1:-1] for plain in (True, False)}
        secrets = {password, quote(password, safe=""), token, self.api_key or "", *in_json}
        for secret in sorted(secrets, key=len, reverse=True):
            if len(secret) >= SHORTEST_SECRET:
                text = text.replace(secret, HIDDEN)
        return text

    def tls_context(
        self, make: Callable[..., ssl.SSLContext] = ssl.create_default_context
    ) -> ssl.SSLContext:
        """What its certificate is looked at with.

        Args:
            make: `create_default_context` of the `ssl` module in use: gevent has its own.

        Raises:
            SettingError: the file of authorities cannot be used.
        """
        try:
            # without a file: the system's authorities, and SSL_CERT_FILE
            context = make(cafile=self.ca_file)
        except (OSError, ValueError) as error:
            raise SettingError(ca_problem(str(self.ca_file), error)) from None
        if not self.verify_tls:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


def ca_problem(path: str, error: Exception) -> str:
    """Why a file of authorities cannot be used, in one line."""
    # an ssl error is an OSError, too, with a reason of OpenSSL's own
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and error.strerror:
        return f"CA file {path}: {error.strerror}; name a PEM file with the authority's certificate"
    return (
        f"CA file {path} holds no certificate: give a PEM file, with "
        "-----BEGIN CERTIFICATE----- in it"
    )


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
    return Address(
        tls=parts.scheme == "https",
        host=parts.hostname,
        port=port,
        path=parts.path.rstrip("/"),
        credentials=credentials,
        engine=engine,
    )


def address_of(engine: str, config: BackendConfig) -> Address:
    """Where a backend's server is, with all that opens it.

    Raises:
        SettingError: there is no URL, or it is none.
    """
    to = address(engine, config.url)
    given = None if config.user is None else (config.user, config.password or "")
    return replace(
        to,
        credentials=given or (to.credentials if config.api_key is None else None),
        api_key=None if config.api_key is None else encoded_key(config.api_key),
        ca_file=config.ca_file,
        verify_tls=config.verify_tls,
    )


def encoded_key(key: str) -> str:
    """An API key as it is sent; `id:key` is encoded, one that is encoded already stays."""
    return _encoded(key) if ":" in key else key


def without_credentials(url: str) -> str:
    """A URL without user and password, otherwise as it was written."""
    return re.sub(r"//\S*@", "//", url)


def masked(text: str) -> str:
    """A text with the credentials of every URL in it taken out."""
    # greedy up to white space: a password may hold an unescaped @ or /
    return re.sub(r"//\S*@", f"//{HIDDEN}@", text)


def _encoded(text: str) -> str:
    return b64encode(text.encode()).decode()
