"""BM25 queries, cut to the number of clauses that the server allows.

A match query makes one clause of every token, repeated ones included, and a server refuses more
than some number of them. Longer texts are cut after as many tokens, by
the server's own analyzer; what is kept is scored as the server would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_errors import refusal
from indexers.backends._engine_queries import text_body
from indexers.http_request import HttpRequest, Transport


def text_bodies(
    index: str, k: int, texts: Sequence[str], transport: Transport, dialect: Dialect
) -> list[bytes | None]:
    """One body a query; None for blank texts."""
    limit = live_clause_limit(transport, dialect)
    return [
        text_body(cut(index, text, limit, transport), k) if text.strip() else None
        for text in map(valid, texts)
    ]


def live_clause_limit(transport: Transport, dialect: Dialect) -> int:
    """The clauses that the server allows in a query now.

    Raises:
        BackendError: it does not tell.
    """
    return dialect.clause_limit(ask(transport, dialect.limit))


def cut(index: str, text: str, limit: int, transport: Transport) -> str:
    """The text up to its `limit`-th token."""
    if len(text) <= limit:  # a token has at least one character
        return text
    body = orjson.dumps({"field": "text", "text": text})
    told = {"filter_path": "tokens.end_offset"}
    reply = ask(transport, HttpRequest("POST", (index, "_analyze"), told, body))
    tokens = reply.get("tokens", [])
    if len(tokens) <= limit:
        return text
    utf16 = text.encode("utf-16-le")  # Java counts characters in UTF-16
    return utf16[: 2 * tokens[limit - 1]["end_offset"]].decode("utf-16-le")


def ask(transport: Transport, request: HttpRequest) -> dict[str, Any]:
    """One request that must succeed."""
    status, reply = transport(request)
    if status != 200:
        path = request.target.partition("?")[0]
        raise refusal(f"{request.method} {path}", status, reply)
    parsed = orjson.loads(reply)
    assert isinstance(parsed, dict)
    return parsed


def valid(text: str) -> str:
    """Lone surrogates cannot be sent: they become question marks, as in the index."""
    return text.encode(errors="replace").decode()
