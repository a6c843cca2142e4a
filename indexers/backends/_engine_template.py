"""A search body for people: what differs from query to query gives way to placeholders.

Two queries that agree in nothing are turned into bodies by the code that makes all of them, and
what the two bodies have not in common is what a query brings along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from indexers.atoms import ATOMS_PER_WORD
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_search import bodies
from indexers.http_request import HttpRequest
from indexers.index_types import Documents, IndexHandle, IndexSpec, Queries
from indexers.index_types import SearchParams as Search
from indexers.registry import family
from indexers.types import Fingerprints, Ragged, Status, TableSize

_TEXTS = ("one text", "quite another thing")


def template(
    spec: IndexSpec, search: Search, size: TableSize, dimension: int | None, dialect: Dialect
) -> dict[str, Any]:
    """The body of a search with a placeholder such as `{{code}}` for each part of the query.

    Args:
        spec: of the index.
        search: how it is searched.
        size: of the fingerprints' tables.
        dimension: D of the vectors; None where there are none.
        dialect: of the engine.
    """
    queries = examples(spec, size, dimension)
    made = bodies(IndexHandle(spec, "index", 0, 0, 0.0), search, queries, _nowhere, dialect)
    one, other = (orjson.loads(body or b"{}") for body in made)
    shown: dict[str, Any] = _common(one, other, "query")
    return shown


def examples(spec: IndexSpec, size: TableSize, dimension: int | None) -> Queries:
    """Two queries that agree in no bit, token or word."""
    if spec.family is None:
        return Queries(_TEXTS, None)
    forms, atom = family(spec.family).forms, family(spec.family).atom
    words = -(-size.hash_length // ATOMS_PER_WORD[atom])
    keys = np.zeros((size.num_tables, words, 2), np.uint32)
    keys[:, :, 1] = 0xFFFFFFFF
    codes = np.zeros((2, (spec.bits or 0) // 8), np.uint8)
    codes[1] = 0xFF
    lengths = np.array([0, 2, 5], np.int64)
    vectors = np.zeros((2, dimension or 1), np.float32)
    vectors[0, 0], vectors[1, -1] = 1, -1
    return Queries(
        _TEXTS,
        Fingerprints(
            np.full(2, Status.OK, np.uint8),
            codes,
            keys,
            atom,
            hashes=Ragged(lengths, np.arange(5, dtype=np.uint64)) if "sequence" in forms else None,
            strings=_strings() if "string" in forms else None,
            vectors=vectors if "vector" in forms else None,
        ),
    )


def example_documents(spec: IndexSpec, size: TableSize, dimension: int | None) -> Documents:
    """Two documents like `examples`, for what a mapping depends on."""
    queries = examples(spec, size, dimension)
    return Documents(("a", "b"), queries.texts, queries.fingerprints)


def _strings() -> Ragged:
    told = b"3:abcdefghij:klmno6:zyxwvutsrqp:ZYXWVU"
    return Ragged(np.array([0, 18, len(told)], np.int64), np.frombuffer(told, np.uint8))


def _common(one: object, other: object, name: str) -> Any:
    """What two bodies have in common; `{{name}}` by the nearest key where they have not."""
    if one == other:
        return one
    if isinstance(one, Mapping) and isinstance(other, Mapping) and set(one) == set(other):
        return {key: _common(one[key], other[key], key) for key in one}
    if (
        isinstance(one, list)
        and isinstance(other, list)
        and one
        and len(one) == len(other)
        and all(isinstance(item, dict) for item in (*one, *other))
    ):
        items = [_common(a, b, name) for a, b in zip(one, other, strict=True)]
        # a clause a table: one of them tells all
        return items[:1] if all(item == items[0] for item in items) else items
    return f"{{{{{name}}}}}"


def _nowhere(request: HttpRequest) -> tuple[int, bytes]:
    """A server that tells of no limits: the least ones count."""
    del request
    return 200, b"{}"
