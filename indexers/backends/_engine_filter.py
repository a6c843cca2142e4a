"""Filters in an engine: fields for the attributes, and the clause in every search body.

Attributes get names of their own, such as `a0_price`: those of documents may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from indexers.backends._engine_collisions import FILTER_CLAUSES
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_queries import EVERYTHING
from indexers.errors import BackendError, SettingError
from indexers.filters import KEYWORD, Value, as_numbers, attribute_of
from indexers.index_types import Filter, IndexSpec
from indexers.types import I64

TEXT = {
    "type": "keyword",
    "norms": False,
    "doc_values": False,
    "index_options": "docs",
    # a term holds 32,766 bytes, a character up to four
    "ignore_above": 8191,
}
NUMBER = {"type": "double", "doc_values": True}
_EVERYTHING = orjson.loads(EVERYTHING)
_SLUG_LENGTH = 40


def field_name(spec: IndexSpec, attribute: tuple[str, str]) -> str:
    """The engine's field of an attribute that the index holds."""
    slug = re.sub(r"[^a-z0-9]+", "_", attribute[0].lower())[:_SLUG_LENGTH].strip("_")
    return f"a{spec.attributes.index(attribute)}_{slug}".rstrip("_")


def filter_properties(spec: IndexSpec) -> dict[str, Any]:
    """Mapping of the attributes' fields."""
    return {
        field_name(spec, attribute): TEXT if attribute[1] == KEYWORD else NUMBER
        for attribute in spec.attributes
    }


def filter_parts(
    spec: IndexSpec, attributes: Mapping[str, Sequence[Value]], rows: I64
) -> list[bytes]:
    """What attributes add to the line of each of these documents, such as `,"a0_price":5.0`.

    Raises:
        BackendError: the documents have no such attribute.
    """
    parts = [b""] * len(rows)
    for attribute in spec.attributes:
        name, held_as = attribute
        values = attributes.get(name)
        if values is None:
            raise BackendError(f"the documents have no attribute {name!r}: read it with them")
        mine: list[Value] = [values[row] for row in rows.tolist()]
        if held_as != KEYWORD:
            as_numbers(mine)  # or refuses a text
        start = b',"%b":' % field_name(spec, attribute).encode()
        parts = [
            part if value is None else part + start + _json(value)
            for part, value in zip(parts, mine, strict=True)
        ]
    return parts


def _json(value: Value) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate
        return orjson.dumps(str(value).encode(errors="replace").decode())


def with_room(dialect: Dialect) -> Dialect:
    """The dialect of a server whose limit of clauses leaves room for those of a filter."""
    return replace(dialect, clause_limit=lambda told: dialect.clause_limit(told) - FILTER_CLAUSES)


def clause(spec: IndexSpec, wanted: Filter) -> dict[str, Any]:
    """The clause that documents must match.

    Raises:
        SettingError: the index does not hold the attribute.
    """
    attribute = attribute_of(wanted)
    if attribute not in spec.attributes:
        raise SettingError(f"the index holds no attribute {attribute[0]!r} as {attribute[1]}")
    field = field_name(spec, attribute)
    if wanted.value is not None:
        return {"term": {field: wanted.value}}
    given = {"gte": wanted.low, "lte": wanted.high}
    return {"range": {field: {name: end for name, end in given.items() if end is not None}}}


def filtered(body: bytes, wanted: dict[str, Any]) -> bytes:
    """A search body whose answers match a clause as well; scores stay as they were.

    The clause goes to where documents are found: into the query, below a script that scores
    them, and into a vector search, which then passes over all others on its way.

    Args:
        body: of any kind of index.
        wanted: the clause.
    """
    told = orjson.loads(body)
    if "knn" in told:
        searches = told["knn"] if isinstance(told["knn"], list) else [told["knn"]]
        for search in searches:
            _add(search, wanted)
    if "query" in told:
        told["query"] = _matching(told["query"], wanted)
    return orjson.dumps(told)


def _matching(query: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """The query with the clause."""
    (kind,) = query
    inner = query[kind]
    if kind in ("script_score", "function_score") and "query" in inner:
        return {kind: inner | {"query": _matching(inner["query"], wanted)}}
    if kind == "knn":
        # one engine names the field within the search, the other around it
        for search in (inner,) if "field" in inner else inner.values():
            _add(search, wanted)
        return query
    if query == _EVERYTHING:
        return {"bool": {"filter": wanted}}
    if kind == "bool" and set(inner) == {"filter"}:
        return {"bool": {"filter": [*_listed(inner["filter"]), wanted]}}
    return {"bool": {"must": query, "filter": wanted}}


def _add(search: dict[str, Any], wanted: dict[str, Any]) -> None:
    held = _listed(search.get("filter", []))
    search["filter"] = {"bool": {"filter": [*held, wanted]}} if held else wanted


def _listed(clauses: Any) -> list[Any]:
    return clauses if isinstance(clauses, list) else [clauses]
