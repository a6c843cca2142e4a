"""What a search engine's error replies say, in one line.

An engine answers an error with a page of JSON, stack of causes included. Of it only the deepest
cause is told, with the next step where there is one.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from indexers.errors import BackendError

LONGEST_REASON = 300
READ_ONLY = (
    "it is read-only: clear index.blocks.* of the index or cluster.blocks.* of the cluster (a "
    "full disk sets them too), and run again"
)
CREDENTIALS = (
    "the server wants other credentials: give HARNESS_<ENGINE>_USER and HARNESS_<ENGINE>_PASSWORD, "
    "HARNESS_<ENGINE>_API_KEY, or --credentials FILE"
)


class Refused(BackendError):
    """The engine answered with an error.

    Attributes:
        status: HTTP status.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def reason(error: object) -> str:
    """`type: reason` of the deepest cause of an engine's `error` value, on one line."""
    if not isinstance(error, dict):
        return squash(str(error or "no reason given"))
    return squash(_told(_deepest(error)))


def _deepest(error: dict[str, Any]) -> dict[str, Any]:
    while True:
        failures = error.get("failed_shards") or [{}]
        inner = error.get("caused_by") or failures[0].get("reason")
        if not isinstance(inner, dict) or not inner.get("reason"):
            return error
        error = inner


def _told(error: dict[str, Any]) -> str:
    told = f"{error.get('type', 'error')}: {error.get('reason', 'no reason given')}"
    if error.get("type") == "cluster_block_exception":
        return f"{told.rstrip(';')}; {READ_ONLY}"
    return told


def squash(text: str) -> str:
    """Text on one line that no terminal acts on, cut where it is long; a hint at its end stays."""
    text = " ".join(text.split())
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    if len(text) <= LONGEST_REASON or text.endswith(READ_ONLY):
        return text
    return text[: LONGEST_REASON - 1] + "…"


def refusal(what: str, status: int, body: object) -> Refused:
    """The error of a reply that is not a success.

    Args:
        what: was tried, such as `creating harness-a-0123abcd`.
        status: HTTP status.
        body: the reply, parsed or not.
    """
    line = f"{what} failed: HTTP {status} {told_by(body)}"
    return Refused(f"{line}; {CREDENTIALS}" if status == 401 else line, status)


def told_by(body: object) -> str:
    """What an error reply says, parsed or not, on one line."""
    parsed = _parsed(body) if isinstance(body, bytes) else body
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    return reason(error)


def _parsed(body: bytes) -> object:
    try:
        return orjson.loads(body)
    except ValueError:
        text = body.decode(errors="replace")
    # a proxy answers with a page, of which the title tells all
    title = re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    return title[1] if title else text
