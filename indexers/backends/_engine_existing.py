"""An index that someone else built: looked at by requests that can only read."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from indexers.backends._engine_errors import Refused, reason, refusal
from indexers.errors import BackendError, IndexMissing, SettingError
from indexers.http_request import HttpRequest, Transport

_LOOK = "*.mappings,*.settings.index.uuid,*.settings.index.number_of_shards,error,status"
_COUNT = "count,_shards.failed,_shards.failures.reason,error,status"
_STATE = (
    "indices.*.uuid,indices.*.primaries.docs,indices.*.shards.*.routing.primary,"
    "indices.*.shards.*.seq_no.max_seq_no,error,status"
)
_SIZE = "_all.primaries.store.size_in_bytes"
_SEGMENTS = (
    "indices.*.shards.*.routing,indices.*.shards.*.segments.*.num_docs,"
    "indices.*.shards.*.segments.*.deleted_docs"
)


@dataclass(frozen=True, slots=True)
class ExistingIndex:
    """What an engine tells of an index.

    Attributes:
        given: the name it was asked for by; may be an alias.
        name: its own.
        uuid: of this index; another under its name has another.
        shards: primary ones.
        mapping: the value of `mappings`.
    """

    given: str
    name: str
    uuid: str
    shards: int
    mapping: dict[str, Any]


def look(send: Transport, index: str) -> ExistingIndex:
    """Look at one index.

    Raises:
        IndexMissing: there is none of this name.
        SettingError: the name stands for several.
        BackendError: the server does not let us look.
    """
    found = _read(send, index, told=_LOOK)
    if not found:
        raise IndexMissing(f"index {index} is not there: see that its name is right")
    if len(found) > 1:
        names = ", ".join(sorted(found)[:5])
        raise SettingError(f"{index} stands for {len(found)} indices: name one of {names}")
    [(name, told)] = found.items()
    settings = told["settings"]["index"]
    shards = int(settings["number_of_shards"])
    return ExistingIndex(index, name, settings["uuid"], shards, told.get("mappings", {}))


def count(send: Transport, index: str) -> int:
    """How many documents a search sees.

    Raises:
        BackendError: the server does not tell, or not of every shard.
    """
    reply = _read(send, index, "_count", told=_COUNT)
    shards = reply.get("_shards", {})
    if shards.get("failed"):
        failure = (shards.get("failures") or [{}])[0]
        raise BackendError(
            f"counting index {index} failed on {shards['failed']} of its shards: "
            f"{reason(failure.get('reason'))}"
        )
    return int(reply["count"])


def state(send: Transport, index: str) -> str | None:
    """What changes whenever a document does; None where the server does not let us see it."""
    try:
        reply = _read(send, index, "_stats", "docs", told=_STATE, level="shards")
        found = reply["indices"]
    except (Refused, KeyError):
        return None
    parts = [
        (one["uuid"], one["primaries"]["docs"]["count"], one["primaries"]["docs"]["deleted"])
        for one in found.values()
    ]
    written = [
        (shard, copy["seq_no"]["max_seq_no"])
        for one in found.values()
        for shard, copies in one["shards"].items()
        for copy in copies
        if copy["routing"]["primary"]
    ]
    told = repr((sorted(parts), sorted(written)))
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def size_bytes(send: Transport, index: str) -> int | None:
    """Bytes of the primary shards as stored; None where the server does not tell."""
    with suppress(BackendError, KeyError):
        reply = _read(send, index, "_stats", "store", told=_SIZE)
        return int(reply["_all"]["primaries"]["store"]["size_in_bytes"])
    return None


def segments(send: Transport, index: str) -> str:
    """Digest of what searches look at: a change while it is measured is drift.

    Empty where the server is away or does not let us see it.
    """
    with suppress(BackendError):
        reply = _read(send, index, "_segments", told=_SEGMENTS)
        told = orjson.dumps(reply, option=orjson.OPT_SORT_KEYS)
        return hashlib.blake2b(told, digest_size=16).hexdigest()
    return ""


def _read(send: Transport, index: str, *path: str, told: str, **parameters: str) -> dict[str, Any]:
    """What an index tells below this path, as far as `told` lets it through."""
    request = HttpRequest("GET", (index, *path), {**parameters, "filter_path": told})
    status, body = send(request)
    if status == 404:
        raise IndexMissing(f"index {index} is not there: see that its name is right")
    if status != 200:
        raise refusal(f"reading index {index}", status, body)
    try:
        reply = orjson.loads(body)
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        raise BackendError(f"reading index {index} failed: the server answered no JSON object")
    return reply
