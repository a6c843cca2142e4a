"""Requests that read an index at one point in time, page by page.

Elasticsearch orders a page by `_shard_doc`, shard and document number together. OpenSearch has
only `_doc`, which is unique within a shard: there a slice must not reach over several shards,
which is so where there are at least as many slices as shards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from indexers.errors import BackendError
from indexers.http_request import HttpRequest

KEEP_ALIVE = "2m"
"""From page to page: each request asks for it anew."""
LEAST_SLICES = 2
"""An engine refuses one slice of one."""
_ID = re.compile("[A-Za-z0-9+/=_-]{16,}", re.ASCII)
"""Base64 of what shards it reads."""
_TOLD = "pit_id,timed_out,_shards,hits.hits._id,hits.hits._source,hits.hits.sort,error,status"
_PAGE = {"allow_partial_search_results": "false", "filter_path": _TOLD}


@dataclass(frozen=True, slots=True)
class PitDialect:
    """How an engine is asked for a point in time.

    Attributes:
        oldest: version from which it has one.
        path: of all points in time, and after the index that one is opened of.
        opened: name of the id in the reply.
        closed: name of the id in the request that closes it.
        in_list: whether that request takes a list of ids.
        order: by which pages are sorted.
    """

    oldest: tuple[int, int]
    path: tuple[str, ...]
    opened: str
    closed: str
    in_list: bool
    order: str


PITS = {
    "elasticsearch": PitDialect((7, 12), ("_pit",), "id", "id", False, "_shard_doc"),
    "opensearch": PitDialect(
        (2, 4),
        ("_search", "point_in_time"),
        "pit_id",
        "pit_id",
        True,
        "_doc",
    ),
}


def known(pit: object) -> str:
    """The id of a point in time, if a server can mean one: `_all` would close those of others.

    Raises:
        BackendError: it is none.
    """
    if isinstance(pit, str) and _ID.fullmatch(pit):
        return pit
    raise BackendError(f"the server names no point in time, but {pit!r:.80}")


def open_request(dialect: PitDialect, index: str) -> HttpRequest:
    """Hold what the index is now."""
    return HttpRequest("POST", (index, *dialect.path), {"keep_alive": KEEP_ALIVE})


def close_request(dialect: PitDialect, pit: str) -> HttpRequest:
    """Let go of it."""
    body = {dialect.closed: [pit] if dialect.in_list else pit}
    return HttpRequest("DELETE", dialect.path, body=orjson.dumps(body))


def page_request(
    dialect: PitDialect,
    pit: str,
    part: tuple[int, int],
    fields: Sequence[str],
    size: int,
    after: Sequence[Any] | None,
) -> HttpRequest:
    """The next documents of a slice.

    Args:
        dialect: of the engine.
        pit: the id that the last reply told.
        part: which slice, of how many.
        fields: of `_source` that are brought along.
        size: documents of the page.
        after: `sort` of the last document before it; None for the first page.
    """
    body: dict[str, Any] = {
        "size": size,
        "pit": {"id": pit, "keep_alive": KEEP_ALIVE},
        "slice": {"id": part[0], "max": part[1]},
        "sort": [dialect.order],
        "_source": list(fields),
        "track_total_hits": False,
    }
    if after is not None:
        body["search_after"] = list(after)
    return HttpRequest("POST", ("_search",), _PAGE, orjson.dumps(body))
