"""Search bodies: a prefix that all queries of one searcher share, and what differs.

Scores fall first, ids rise second, so that ties stand by ordinal. Ids come back as sort values:
nothing stored is read. What a query brings to a script is parameters, so that it compiles once.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from indexers.backends._engine_fields import token_lists
from indexers.index_types import SearchParams
from indexers.types import Fingerprints

SEARCHING = {
    "allow_partial_search_results": "false",
    "filter_path": "timed_out,_shards.failed,_shards.failures.reason,hits.hits.sort",
}
"""Parameters of every search."""
EVERYTHING = b'{"match_all":{}}'
MAX_TERMS = 65_536  # index.max_terms_count


def common(k: int) -> bytes:
    """The part of a body that says what comes back, closing brace left out."""
    return orjson.dumps({**answers(k), "sort": [{"_score": "desc"}, {"id": "asc"}]})[:-1]


def answers(k: int) -> dict[str, object]:
    """How many documents come back, and that nothing of them does but what is asked for."""
    return {"size": k, "_source": False, "stored_fields": "_none_", "track_total_hits": False}


def sorted_by(script: str, params: bytes, query: bytes, k: int, *, scores: bool = False) -> bytes:
    """A body whose answers are sorted by a script, in float64.

    Args:
        script: Painless, a number of which more is better.
        params: of the script, JSON.
        query: that finds the documents, JSON.
        k: answers asked for.
        scores: the script reads `_score`, which a sort else does without.
    """
    start = orjson.dumps(answers(k) | ({"track_scores": True} if scores else {}))[:-1]
    return (
        start
        + b',"sort":[{"_script":{"type":"number","order":"desc","script":{"source":'
        + orjson.dumps(script)
        + b',"params":%b}}},{"id":"asc"}],"query":%b}' % (params, query)
    )


def terms(field: str, tokens: bytes) -> bytes:
    """A filter for the documents that have one of the tokens.

    Args:
        field: a keyword field.
        tokens: JSON list; more than a server takes in one clause become several clauses.
    """
    parts = [tokens]
    if tokens.count(b",") >= MAX_TERMS:
        found = orjson.loads(tokens)
        starts = range(0, len(found), MAX_TERMS)
        parts = [orjson.dumps(found[start : start + MAX_TERMS]) for start in starts]
    clauses = [b'{"terms":{"%b":%b}}' % (field.encode(), part) for part in parts]
    if len(clauses) > 1:
        clauses = [b'{"bool":{"should":[%b]}}' % b",".join(clauses)]
    return b'{"bool":{"filter":%b}}' % clauses[0]


def flat_bodies(scripts: Sequence[bytes], k: int) -> list[bytes]:
    """Every document, scored by each query's script."""
    start = common(k) + b',"query":{"script_score":{"query":%b,"script":' % EVERYTHING
    return [start + script + b"}}}" for script in scripts]


def lsh_bodies(
    fingerprints: Fingerprints, scripts: Sequence[bytes], params: SearchParams
) -> list[bytes]:
    """Documents that share a token, scored by each query's script."""
    assert params.num_tables is not None
    assert params.hash_length is not None
    keys = fingerprints.keys[: params.num_tables]
    tokens = token_lists(keys, fingerprints.atom, params.hash_length)
    field, start = (
        f"h{params.hash_length}",
        common(params.k) + b',"query":{"script_score":{"query":',
    )
    return [
        start + terms(field, row.tobytes()) + b',"script":' + script + b"}}}"
        for row, script in zip(tokens, scripts, strict=True)
    ]


def text_body(text: str, k: int) -> bytes:
    """BM25 over the `text` field."""
    return common(k) + b',"query":{"match":{"text":' + orjson.dumps(text) + b"}}}"
