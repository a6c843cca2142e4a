"""Which engine answers at a URL, and in which version; asked before its client is."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import orjson

from indexers.address import Address
from indexers.backends._engine_errors import squash, told_by
from indexers.backends._engine_http import HttpTransport
from indexers.errors import EngineUnavailable
from indexers.http_request import HttpRequest

HTTPS_WANTED, UNAUTHORISED, FORBIDDEN = 400, 401, 403
BLOCKED = b"cluster_block_exception"
"""In a refusal that is about an index, whoever asks."""
GATEWAY = (502, 503, 504)


class Forbidden(EngineUnavailable):
    """The credentials are known, and lack a right."""


def ask_version(to: Address, flavour: str, timeout_s: float) -> tuple[str, tuple[int, ...]]:
    """Version of the server as it tells it, and its first two numbers.

    Args:
        to: where it is.
        flavour: what it must be, `OpenSearch` or `Elasticsearch`.
        timeout_s: of the request.

    Raises:
        EngineUnavailable: no answer, not with these credentials, or another server.
    """
    plain = HttpTransport(to, timeout_s)
    try:
        status, reply = plain(HttpRequest("GET", ()))
    finally:
        plain.close()
    check_let_in(to, status, reply)
    version: dict[str, Any] = {}
    with contextlib.suppress(ValueError, KeyError, TypeError):
        version = dict(orjson.loads(reply)["version"])
    if "number" not in version:
        if status in GATEWAY:
            raise EngineUnavailable(
                f"{to.shown} answers HTTP {status}: what stands before {flavour} does not reach "
                "it; is the server running?"
            )
        told = squash(reply[:80].decode(errors="replace"))
        raise EngineUnavailable(f"{to.shown} is no {flavour}: HTTP {status} answered {told!r}")
    number, found = str(version["number"]), _flavour(version)
    if found != flavour:
        raise EngineUnavailable(
            f"{to.shown} is no {flavour}: {found} {number} answered; name it with "
            f"--{found.lower()}-url and --backend {found.lower()}"
        )
    return number, tuple(int(part) for part in re.findall(r"\d+", number)[:2])


def seen_version(to: Address, flavour: str, timeout_s: float) -> str:
    """Version of the server; empty where these credentials have no right over the cluster.

    Args:
        to, flavour, timeout_s: as of `ask_version`.

    Raises:
        EngineUnavailable: as `ask_version`, but for what is forbidden.
    """
    try:
        return ask_version(to, flavour, timeout_s)[0]
    except Forbidden:
        return ""


def check_let_in(to: Address, status: int, reply: bytes) -> None:
    """Look at the answer to a first request.

    Raises:
        EngineUnavailable: it is one to credentials that do not fit, or to http in place of https.
    """
    if status in (UNAUTHORISED, FORBIDDEN) and BLOCKED not in reply:
        raise _locked(to, status, reply)
    if not to.tls and status == HTTPS_WANTED and b"https" in reply.lower():
        raise EngineUnavailable(f"{to.shown} speaks https, not http: write https:// in its URL")


def _locked(to: Address, status: int, reply: bytes) -> EngineUnavailable:
    told = to.hide(f"HTTP {status} {told_by(reply)}")
    name = f"HARNESS_{to.engine.upper()}"
    ways = f"{name}_USER and {name}_PASSWORD, {name}_API_KEY, or --credentials FILE"
    if status == FORBIDDEN:
        todo = (
            "the user or key lacks a right: it needs to look at the cluster, and to make, fill, "
            "search and remove indices harness-*"
        )
    elif not to.authorization:
        todo = f"it wants credentials: give {ways}, together with {name}_URL or --{to.engine}-url"
    else:
        sent = "this API key" if to.api_key else "this user and password"
        todo = f"it does not take {sent}: the server wants other credentials, by {ways}"
    kind = Forbidden if status == FORBIDDEN else EngineUnavailable
    return kind(f"{to.shown} does not let us in: {todo} ({told})")


def _flavour(version: dict[str, Any]) -> str:
    """OpenSearch says what it is; Elasticsearch has nothing of the kind."""
    return "OpenSearch" if version.get("distribution") == "opensearch" else "Elasticsearch"
