"""How fingerprints stand in an engine's fields (DESIGN, nested tables in an engine).

Every hash length has a keyword field `h<length>` with one token `t:hex` per table, so that fewer
tables are fewer tokens in the query, and one index serves a whole grid. The re-ranking code is in
the field `c`, a vector in `v`, each engine in its own way (`_engine_dialect`). `id` is the
document's id; `text` is for BM25. What families of sets and strings have is told in `_engine_sets`
and `_engine_strings`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from indexers.atoms import prefix_values
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_temporary import tag_of
from indexers.index_types import IndexSpec, Layout
from indexers.types import I64, U8, U32, Atom, Fingerprints

HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
TOKENS = {"type": "keyword", "norms": False, "doc_values": False, "index_options": "docs"}
ID = {"type": "keyword", "index": False, "doc_values": True}

SETTINGS = {
    "number_of_shards": 1,
    "number_of_replicas": 0,
    "auto_expand_replicas": False,
    "refresh_interval": "-1",
    # load asks the same queries again and again: answers must not come from a cache
    "queries.cache.enabled": False,
    "requests.cache.enable": False,
    # a temporary index is built anew after a crash, so nothing waits for the disk
    "translog.durability": "async",
    # the analyzer's view of one query text, see _engine_text
    "analyze.max_token_count": 1_000_000,
    # an engine else tells the size that an index had up to ten seconds ago
    "store.stats_refresh_interval": "0s",
}


def digits(atom: Atom, hash_length: int) -> int:
    """Hex digits of a token: as many as the bits need, or 16 for the mix of rows."""
    return -(-hash_length // 4) if atom == "bit" else 16


def token_lists(keys: U32, atom: Atom, hash_length: int) -> U8:
    """JSON lists of the tokens of every document: `["0:3f","1:a0",…]`.

    All lists are equally long, so they are made as one matrix, without a string per token.

    Args:
        keys: uint32 (num_tables, words, n), the tables to write.
        atom: of the family.
        hash_length: atoms of a key that a token holds.

    Returns:
        uint8 (n, width), one list a row.
    """
    num_tables, _, n = keys.shape
    width = digits(atom, hash_length)
    template, places = _template(num_tables, width)
    values = prefix_values(keys, atom, hash_length)
    rows = np.tile(template, (n, 1))
    for place in range(width):
        shift = np.uint64(4 * (width - 1 - place))
        nibble = (values >> shift) & np.uint64(15)
        rows[:, places + place] = HEX[nibble.astype(np.intp)].T
    return rows


def _template(num_tables: int, width: int) -> tuple[U8, I64]:
    """One list with zeros for digits, and where each token's digits start."""
    text, places = b"[", []
    for table in range(num_tables):
        text += b'"%d:' % table
        places.append(len(text))
        text += b"0" * width + b'",'
    closed = text.rstrip(b",") + b"]"
    return np.frombuffer(closed, dtype=np.uint8), np.array(places, dtype=np.int64)


def code_properties(spec: IndexSpec, dialect: Dialect) -> dict[str, Any]:
    """Mapping of the fields of a family with a code."""
    assert spec.bits is not None
    return {"c": dialect.code.mapping(spec.bits)} | {
        f"h{length}": TOKENS for length in spec.hash_lengths
    }


def code_tails(spec: IndexSpec, fingerprints: Fingerprints, dialect: Dialect) -> list[bytes]:
    """The rest of each document's line, after the id."""
    codes = [b',"c":' + value for value in dialect.code.values(fingerprints.codes)]
    keys = fingerprints.keys[: spec.num_tables]
    columns = []
    for length in spec.hash_lengths:
        name = np.frombuffer(b',"h%d":' % length, dtype=np.uint8)
        columns.append(np.tile(name, (len(codes), 1)))
        columns.append(token_lists(keys, fingerprints.atom, length))
    if not columns:
        return [code + b"}\n" for code in codes]
    matrix = np.concatenate(columns, axis=1)
    width, flat = matrix.shape[1], matrix.tobytes()
    return [b"%b%b}\n" % (code, flat[i * width : (i + 1) * width]) for i, code in enumerate(codes)]


def settings_of(layout: Layout) -> dict[str, Any]:
    """Settings of a temporary index that is kept so."""
    codec = {} if layout.codec is None else {"codec": layout.codec}
    return {
        **SETTINGS,
        "number_of_shards": layout.shards,
        "number_of_replicas": layout.replicas,
        "refresh_interval": layout.refresh_interval,
        "translog.durability": layout.translog,
        **codec,
    }


def index_body(
    properties: dict[str, Any],
    owner: str,
    created: str,
    own: dict[str, dict[str, object]],
    layout: Layout | None = None,
) -> dict[str, Any]:
    """Settings and mapping of a temporary index.

    Args:
        properties: mapping of its fields, `id` apart.
        owner: tag by which the index is known as ours.
        created: time as `_engine_temporary.CREATED_FORM`, for people who find the index.
        own: mapping of the engine's own fields: answers are told by `id` alone, so that it need
            not store documents.
        layout: how it is kept; None for the usual way.
    """
    return {
        "settings": {"index": settings_of(layout or Layout())},
        "mappings": {
            "_meta": {"harness": tag_of(owner, created)},
            **own,
            "dynamic": "strict",
            "properties": {"id": ID} | properties,
        },
    }
