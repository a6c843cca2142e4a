"""Which engine answers at a URL, and in which version; asked before its client is."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import orjson

from indexers.address import Address
from indexers.backends._engine_errors import refusal, squash
from indexers.backends._engine_http import HttpTransport
from indexers.errors import EngineUnavailable
from indexers.index_types import HttpRequest


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
        status, reply = plain(HttpRequest("GET", "/", b""))
    finally:
        plain.close()
    if status in (401, 403):
        raise EngineUnavailable(str(refusal(f"GET {to.shown}", status, reply)))
    version: dict[str, Any] = {}
    with contextlib.suppress(ValueError, KeyError, TypeError):
        version = dict(orjson.loads(reply)["version"])
    if "number" not in version:
        told = squash(reply[:80].decode(errors="replace"))
        raise EngineUnavailable(f"{to.shown} is no {flavour}: HTTP {status} answered {told!r}")
    number, found = str(version["number"]), _flavour(version)
    if found != flavour:
        raise EngineUnavailable(
            f"{to.shown} is no {flavour}: {found} {number} answered; name it with "
            f"--{found.lower()}-url and --backend {found.lower()}"
        )
    return number, tuple(int(part) for part in re.findall(r"\d+", number)[:2])


def _flavour(version: dict[str, Any]) -> str:
    """OpenSearch says what it is; Elasticsearch has nothing of the kind."""
    return "OpenSearch" if version.get("distribution") == "opensearch" else "Elasticsearch"
