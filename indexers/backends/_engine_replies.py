"""What a reply to a search holds, or what is wrong with it."""

from __future__ import annotations

from typing import Any

import orjson

from indexers.backends._engine_errors import reason, refusal, squash
from indexers.errors import BackendError, IndexMissing


def hits_of(index: str, status: int, body: bytes, missing: str) -> list[dict[str, Any]]:
    """The hits in a reply to a search.

    Args:
        index: that was searched.
        status: of the reply.
        body: of the reply.
        missing: what is said where there is no such index.

    Raises:
        IndexMissing: there is none.
        BackendError: an error, or a part of the answers.
    """
    if status == 404:
        raise IndexMissing(missing)
    if status != 200:
        raise refusal(f"searching {index}", status, body)
    reply = _parsed(index, body)
    if reply["timed_out"]:
        raise BackendError(f"the engine ran out of time searching {index}")
    shards = reply.get("_shards", {})
    if shards.get("failed"):
        failure = (shards.get("failures") or [{}])[0]
        raise BackendError(f"searching {index} failed: {reason(failure.get('reason'))}")
    hits: list[dict[str, Any]] = reply.get("hits", {}).get("hits", [])
    return hits


def _parsed(index: str, body: bytes) -> dict[str, Any]:
    try:
        reply = orjson.loads(body)
    except ValueError:
        reply = None
    if not isinstance(reply, dict) or "timed_out" not in reply:
        told = squash(body[:80].decode(errors="replace"))
        raise BackendError(f"{index} gave no search reply, but {told!r}")
    return reply
