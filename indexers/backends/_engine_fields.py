"""How fingerprints stand in an engine's fields (DESIGN, nested tables in an engine).

Every hash length has a keyword field `h<length>` with one token `t:hex` per table, so that fewer
tables are fewer tokens in the query, and one index serves a whole grid. The re-ranking code is in
signed 64-bit fields `c0`, `c1`, …, big-endian, the last padded with zero bits. `id` is the
document's id; `text` is for BM25.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from indexers.atoms import prefix_values
from indexers.types import I64, U8, U32, Atom, IndexSpec

HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
TOKENS = {"type": "keyword", "norms": False, "doc_values": False, "index_options": "docs"}
WORD = {"type": "long", "index": False, "doc_values": True}
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
}


def word_count(bits: int) -> int:
    """How many 64-bit words hold a code."""
    return -(-bits // 64)


def code_words(codes: U8) -> I64:
    """Codes as signed words: uint8 (n, bytes) to int64 (n, words)."""
    n, width = codes.shape
    words = word_count(8 * width)
    padded = np.zeros((n, 8 * words), dtype=np.uint8)
    padded[:, :width] = codes
    return padded.view(">u8").astype(np.uint64).view(np.int64).reshape(n, words)


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


def index_body(
    spec: IndexSpec, owner: str, created: str, source: dict[str, object]
) -> dict[str, Any]:
    """Settings and mapping of a temporary index.

    Args:
        spec: what is built.
        owner: tag by which the index is known as ours.
        created: time, for people who find the index.
        source: the engine's way not to store documents: answers are told by `id` alone.
    """
    properties: dict[str, Any] = {"id": ID}
    if spec.kind == "bm25":
        properties["text"] = {"type": "text", "analyzer": "standard"}
    else:
        properties |= {f"c{i}": WORD for i in range(word_count(spec.bits or 0))}
        properties |= {f"h{length}": TOKENS for length in spec.hash_lengths}
    return {
        "settings": {"index": SETTINGS},
        "mappings": {
            "_meta": {"harness": {"owner": owner, "created": created}},
            "_source": source,
            "dynamic": "strict",
            "properties": properties,
        },
    }
