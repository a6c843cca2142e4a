"""Kinds that search texts, not fingerprints: BM25, `more_like_this`, and the `min_hash` filter.

`more_like_this` asks for the terms of a text that tell it best from others, as many and as many of
them required as the engines do unless told otherwise; what they say of rare terms is set to one,
since a term of a title occurs in it once. It reads the first 5,000 words of a text.

`min_hash` is the engines' own MinHash: a text's character 3-grams, hashed once, the least hash of
each bucket is a token. Scores are the number of such tokens that both have. The 3-grams are those
of our own families but for this: no Unicode form is made the same (NFC), letters are lowered one by
one after the text was cut, and a text of fewer than three characters has none. All tokens of a text
stand at one position, where a `match` query takes them for synonyms, so that every hit would score
the same: `more_like_this` is what asks for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_queries import common
from indexers.backends._engine_text import live_clause_limit, text_bodies, valid
from indexers.http_request import Transport
from indexers.index_types import IndexSpec, SearchParams

BM25, MORE_LIKE_THIS, MIN_HASH = KINDS = ("bm25", "more_like_this", "min_hash")
TEXT = {"type": "text", "analyzer": "standard"}
TERMS = 25
"""Of a query of `more_like_this`, the engines' own number."""
LEAST_SHARED = "30%"
"""Of these, how many an answer must have, as the engines have it."""
BUCKETS = 128
"""Of the `min_hash` filter. Of 32, 64, 128, 256 and 512, the engines' own number, it found most of
the nearest documents of texts of some 340 characters, at a third of the time that 512 took: where
buckets are more than a text has 3-grams, every one of them is kept, and long texts win."""
HASHED = {
    "type": "text",
    "analyzer": "hashed",
    "similarity": "boolean",
    "norms": False,
    "index_options": "docs",
}
ANALYSIS: dict[str, Any] = {
    "char_filter": {
        "runs": {"type": "pattern_replace", "pattern": r"\s+", "replacement": " "},
        "ends": {"type": "pattern_replace", "pattern": "^ | $", "replacement": ""},
    },
    "tokenizer": {"shingles": {"type": "ngram", "min_gram": 3, "max_gram": 3}},
    "filter": {
        "least": {
            "type": "min_hash",
            "hash_count": 1,
            "bucket_count": BUCKETS,
            "hash_set_size": 1,
            # rotation repeats the tokens of other buckets in empty ones: no new token comes of it
            "with_rotation": False,
        }
    },
    "analyzer": {
        "hashed": {
            "type": "custom",
            "char_filter": ["runs", "ends"],
            "tokenizer": "shingles",
            "filter": ["lowercase", "least"],
        }
    },
}


def properties(kind: str) -> dict[str, Any]:
    """Mapping of the field of such an index."""
    return {"text": HASHED if kind == MIN_HASH else TEXT}


def with_analysis(body: dict[str, Any], spec: IndexSpec) -> dict[str, Any]:
    """The body that makes an index, with what its field is analysed by."""
    if spec.kind != MIN_HASH:
        return body
    settings = body["settings"]
    return body | {"settings": settings | {"index": settings["index"] | {"analysis": ANALYSIS}}}


def bodies(
    spec: IndexSpec,
    index: str,
    params: SearchParams,
    texts: Sequence[str],
    transport: Transport,
    dialect: Dialect,
) -> list[bytes | None]:
    """One body a query; None for blank texts.

    Raises:
        BackendError: the server's limit of clauses could not be read.
    """
    if spec.kind == BM25:
        return text_bodies(index, params.k, texts, transport, dialect)
    most, least = TERMS, LEAST_SHARED
    if spec.kind == MIN_HASH:
        most, least = BUCKETS, "1"
    asked = {
        "fields": ["text"],
        "min_term_freq": 1,
        "min_doc_freq": 1,
        "max_query_terms": min(most, live_clause_limit(transport, dialect)),
        "minimum_should_match": least,
    }
    start = common(params.k) + b',"query":{"more_like_this":' + orjson.dumps(asked)[:-1]
    return [
        start + b',"like":%b}}}' % orjson.dumps(text) if text.strip() else None
        for text in map(valid, texts)
    ]
