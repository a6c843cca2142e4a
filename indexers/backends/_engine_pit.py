"""Requests that read an index at one point in time, page by page.

Elasticsearch orders a page by `_shard_doc`, shard and document number together. OpenSearch has
only `_doc`, which is unique within a shard: there a slice must not reach over several shards,
which is so where there are at least as many slices as shards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson

from indexers.index_types import HttpRequest

KEEP_ALIVE = "2m"
"""From page to page: each request asks for it anew."""
LEAST_SLICES = 2
"""An engine refuses one slice of one."""
_TOLD = "pit_id,timed_out,_shards,hits.hits._id,hits.hits._source,hits.hits.sort,error,status"
PAGE_PATH = f"/_search?allow_partial_search_results=false&filter_path={_TOLD}"


@dataclass(frozen=True, slots=True)
class PitDialect:
    """How an engine is asked for a point in time.

    Attributes:
        oldest: version from which it has one.
        open_path: after the index.
        opened: name of the id in the reply.
        close_path: of all points in time.
        closed: name of the id in the request that closes it.
        in_list: whether that request takes a list of ids.
        order: by which pages are sorted.
    """

    oldest: tuple[int, int]
    open_path: str
    opened: str
    close_path: str
    closed: str
    in_list: bool
    order: str


PITS = {
    "elasticsearch": PitDialect((7, 12), "_pit", "id", "/_pit", "id", False, "_shard_doc"),
    "opensearch": PitDialect(
        (2, 4),
        "_search/point_in_time",
        "pit_id",
        "/_search/point_in_time",
        "pit_id",
        True,
        "_doc",
    ),
}


def index_path(index: str) -> str:
    """The path of an index, whatever its name."""
    return f"/{quote(index, safe='')}"


def open_request(dialect: PitDialect, index: str) -> HttpRequest:
    """Hold what the index is now."""
    path = f"{index_path(index)}/{dialect.open_path}?keep_alive={KEEP_ALIVE}"
    return HttpRequest("POST", path, b"")


def close_request(dialect: PitDialect, pit: str) -> HttpRequest:
    """Let go of it."""
    body = {dialect.closed: [pit] if dialect.in_list else pit}
    return HttpRequest("DELETE", dialect.close_path, orjson.dumps(body))


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
    return HttpRequest("POST", PAGE_PATH, orjson.dumps(body))
