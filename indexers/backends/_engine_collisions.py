"""Answers of `lsh` by how many tables found them, and by the code among the best of those.

A clause a table with a constant score of 1 makes the score the number of tables that found a
document (`terms` would give every hit 1). Rerank `none` answers by that number, then by id.
Rerank `window` scores the `window_size` documents of the highest numbers anew by the code, and
drops the others; the engines do that on each shard, so that two shards look at twice as many. They
allow no other order beside it: which documents of equal numbers are in the window, and which of
equal codes are the last answers, is the engine's own choice. Answers with equal scores are put in
the order of their ids when the reply is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from indexers.backends._engine_fields import token_lists
from indexers.backends._engine_queries import answers, common
from indexers.errors import BackendError
from indexers.index_types import SearchParams
from indexers.reranks import COUNTED
from indexers.types import Fingerprints

FILTER_CLAUSES = 1
RETURNED = ",hits.hits._score,hits.hits.fields.id"
"""What a reply of `window` is filtered by beside `SEARCHING`: it has no values of a sort."""


def check_clauses(params: SearchParams, limit: int) -> None:
    """Refuse more tables than the server takes clauses.

    Raises:
        BackendError: there are.
    """
    assert params.num_tables is not None
    needed = params.num_tables + (FILTER_CLAUSES if params.filter else 0)
    if needed > limit:
        raise BackendError(
            f"rerank {params.rerank} needs a clause a table, {needed} in all, and the server "
            f"allows {limit} in a query: choose fewer tables, rerank exact, or raise "
            "indices.query.bool.max_clause_count where the server reads it"
        )


def bodies(
    fingerprints: Fingerprints, scripts: Sequence[bytes], params: SearchParams
) -> list[bytes]:
    """One body a query, for either of `COLLISION_RERANKS`."""
    found = _counting(fingerprints, params)
    if params.rerank == COUNTED:
        start = common(params.k) + b',"query":'
        return [start + query + b"}" for query in found]
    # what is not in the window would keep its number of tables as score
    size = max(params.window_size or 0, params.k)
    start = orjson.dumps({**answers(params.k), "docvalue_fields": ["id"]})[:-1] + b',"query":'
    again = (
        b',"rescore":{"window_size":%d,"query":{"query_weight":0,"rescore_query_weight":1,'
        b'"rescore_query":{"script_score":{"query":{"match_all":{}},"script":' % size
    )
    return [
        start + query + again + script + b"}}}}}"
        for query, script in zip(found, scripts, strict=True)
    ]


def _counting(fingerprints: Fingerprints, params: SearchParams) -> list[bytes]:
    """Queries that score a document by the number of tables that found it."""
    assert params.num_tables is not None
    assert params.hash_length is not None
    keys = fingerprints.keys[: params.num_tables]
    lists = token_lists(keys, fingerprints.atom, params.hash_length)
    head = b'{"constant_score":{"filter":{"term":{"h%d":' % params.hash_length
    # tokens hold no comma: they are cut where one ends and the next begins
    between = b"}}}}," + head
    return [
        b'{"bool":{"should":[%b%b}}}}]}}' % (head, row.tobytes()[1:-1].replace(b",", between))
        for row in lists
    ]


def in_order(hits: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The hits of `window` by score, then id, with both where a sorted reply has them."""
    told = [{**hit, "sort": [hit["_score"], hit["fields"]["id"][0]]} for hit in hits]
    # code points are compared, as ordinals are given
    return sorted(told, key=lambda hit: (-hit["sort"][0], hit["sort"][1]))
