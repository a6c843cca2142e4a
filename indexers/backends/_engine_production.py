"""What an engine's index is given so that it is asked as in production.

Documents that answers can bring along, caches that are on, and updates while it is searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from indexers.backends._engine_admin import Call
from indexers.backends._engine_bulk import Lines, failed
from indexers.backends._engine_errors import reason
from indexers.backends._engine_queries import SEARCHING
from indexers.backends._engine_temporary import alias_of
from indexers.errors import BackendError, IndexMissing
from indexers.http_request import HttpRequest
from indexers.index_types import IndexSpec

DOCUMENT = "document"
CACHES = {"queries.cache.enabled": True, "requests.cache.enable": True}
# without the alias, an index that someone removed would be made anew by the next document
UPDATING = {"require_alias": "true", "filter_path": "items.*.status,items.*.error"}
UPDATE_LIMIT_S = 10.0
"""Of one request: the end of a trial waits for it."""
NOTHING_ELSE = b'"_source":false,"stored_fields":"_none_"'


def for_production(body: dict[str, Any], spec: IndexSpec) -> dict[str, Any]:
    """Settings and mapping of a temporary index, with what this spec is to have beside them.

    Args:
        body: from `_engine_fields.index_body`; it is not changed.
        spec: what is built.
    """
    index, mappings = dict(body["settings"]["index"]), dict(body["mappings"])
    if spec.cached:
        index |= CACHES
    if spec.stores_source:
        others = {n: value for n, value in mappings["_source"].items() if n != "enabled"}
        mappings["_source"] = {"includes": [DOCUMENT], **others}
        stored = {"type": "object", "enabled": False}
        mappings["properties"] = mappings["properties"] | {DOCUMENT: stored}
    return body | {"settings": body["settings"] | {"index": index}, "mappings": mappings}


def bringing_documents(bodies: Sequence[bytes | None]) -> list[bytes | None]:
    """Search bodies whose answers bring their documents along."""
    return [None if b is None else b.replace(NOTHING_ELSE, b'"_source":true', 1) for b in bodies]


def search_parameters(query: int, returned: str = "", *, fetch_source: bool) -> dict[str, str]:
    """What a query is asked with beside its body.

    Its preference is its own row: the same copy of each shard answers it every time, since copies
    may differ in order or in what they have deleted, and all copies share the load.
    """
    documents = ",hits.hits._source" if fetch_source else ""
    told = f"{SEARCHING['filter_path']}{returned}{documents}"
    return {**SEARCHING, "filter_path": told, "preference": f"query-{query}"}


def update(call: Call, name: str, batch: Lines) -> None:
    """Index documents again, once.

    Raises:
        IndexMissing: the index is gone.
        BackendError: documents were refused.
        EngineUnavailable: no answer came.
    """
    request = HttpRequest("POST", (alias_of(name), "_bulk"), UPDATING, b"".join(batch.lines))
    reply = call(request, what=f"updating {name}", timeout_s=UPDATE_LIMIT_S)
    items = [next(iter(item.values())) for item in reply.get("items", [])]
    if len(items) != len(batch.ids):
        raise BackendError(f"the bulk reply has {len(items)} items for {len(batch.ids)} documents")
    bad = [i for i, item in enumerate(items) if item["status"] >= 300]
    if any(items[i]["status"] == 404 for i in bad):
        raise IndexMissing(f"{name} is gone: someone removed it while documents were indexed")
    if bad:
        raise failed([batch.ids[i] for i in bad], reason(items[bad[0]].get("error")), 0)


def deleted_share(call: Call, name: str) -> float:
    """Deleted documents that an index still holds, as a share of those it has.

    Raises:
        BackendError: it could not be asked.
    """
    told = {"filter_path": "_all.primaries.docs"}
    reply = call(HttpRequest("GET", (name, "_stats", "docs"), told), what=f"reading {name}")
    docs = reply["_all"]["primaries"]["docs"]
    return float(docs["deleted"]) / max(1, int(docs["count"]))
