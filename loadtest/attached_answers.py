"""Asking an index that someone else built, where its answers are judged: ids become ordinals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from indexers.backends._engine_collisions import in_order as by_score_and_id
from indexers.http_request import Transport
from indexers.index_types import Hits
from loadtest.attached import hits_of, search_request

ID = "id"
"""Field of the ids in indexes of deploy files."""


class AnswerSearcher:
    """Asks ready-made requests of one index, and tells which documents of the corpus answered.

    Args:
        index: its name.
        bodies: one a query; empty for a query that cannot be asked.
        ids: of the corpus' documents, by ordinal.
        id_field: that holds a document's id; None for `_id`.
        transport: sends the requests; it belongs to the caller.
    """

    def __init__(
        self,
        index: str,
        bodies: Sequence[bytes],
        ids: Sequence[str],
        id_field: str | None,
        transport: Transport,
    ) -> None:
        self._index, self._transport, self._id_field = index, transport, id_field
        self._requests = [search_request(index, body, row) for row, body in enumerate(bodies)]
        self._ordinals = {name: ordinal for ordinal, name in enumerate(ids)}

    def search(self, query: int) -> Hits:
        """Answers by falling score as the index gives them; those that the corpus has not are
        left out and counted.

        Raises:
            BackendError: the engine answered with an error.
            OSError: no answer came.
        """
        hits = in_order(hits_of(self._index, *self._transport(self._requests[query])))
        found: dict[int, float] = {}
        unknown = 0
        for hit in hits:
            name = id_of(hit, self._id_field)
            ordinal = None if name is None else self._ordinals.get(name)
            if ordinal is None:
                unknown += 1
            else:
                found.setdefault(ordinal, float(hit.get("_score") or 0.0))
        return Hits(
            np.fromiter(found, np.int32, len(found)),
            np.fromiter(found.values(), np.float64, len(found)),
            duplicates=len(hits) - unknown - len(found),
            unknown=unknown,
        )

    def close(self) -> None:
        """Nothing to let go of."""


def in_order(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The hits; those that bring nothing but scores and ids by score, then id.

    So an index of deploy files answers that ranks by the code among the best of its tables: it
    allows no order of equal scores, which is made here as where it was measured.
    """
    if any("_id" in hit or "sort" in hit or ID not in hit.get("fields", {}) for hit in hits):
        return hits
    return by_score_and_id(hits)


def id_of(hit: Mapping[str, Any], field: str | None) -> str | None:
    """A hit's document; None where the hit does not tell.

    Args:
        hit: of a reply.
        field: that holds the id, looked for in what the hit brings; None for `_id`, or, where
            that was not asked for, the last value that hits are sorted by, or the field `id`, as
            indexes of deploy files answer.
    """
    if field is None:
        name = hit.get("_id")
        if name is None:
            name = (hit.get("sort") or [None])[-1]
        if name is None:
            name = hit.get("fields", {}).get(ID)
    else:
        values = hit.get("fields", {}).get(field)
        name = values[0] if values else _at(hit.get("_source"), field)
    if isinstance(name, list) and len(name) == 1:
        name = name[0]
    if isinstance(name, bool) or not isinstance(name, str | int):
        return None
    return str(name)


def _at(node: object, path: str) -> object:
    """The value at a dotted path; a key that holds the dots itself goes first."""
    if not isinstance(node, Mapping):
        return None
    if path in node:
        return node[path]
    head, dot, rest = path.partition(".")
    return _at(node.get(head), rest) if dot else None
