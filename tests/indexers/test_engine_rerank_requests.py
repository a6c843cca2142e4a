"""What goes over the wire for rerank `none` and `window`, `more_like_this` and `min_hash`."""

from __future__ import annotations

import numpy as np
import orjson
import pytest

from indexers import registry
from indexers.backends._engine_collisions import bodies as collision_bodies
from indexers.backends._engine_layout import properties
from indexers.backends._engine_search import EngineSearcher, bodies
from indexers.errors import BackendError
from indexers.index_types import (
    BackendConfig,
    Documents,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
)
from indexers.types import Fingerprints

LSH = IndexSpec("engine", "lsh", "simhash", 2, (6, 8), 16)
# of 8 bits, the first keys of a and b are ab and 01, the second 00 and ff
FINGERPRINTS = Fingerprints(
    status=np.zeros(2, np.uint8),
    codes=np.array([[0x12, 0x34], [0, 0xFF]], np.uint8),
    keys=np.array([[[0xABCDEF01, 0x01000000]], [[0x00FFFFFF, 0xFF000000]]], np.uint32),
    atom="bit",
)
PLAIN = b'"_source":false,"stored_fields":"_none_","track_total_hits":false'
SORT = b'"sort":[{"_score":"desc"},{"id":"asc"}]'


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine(request):
    return registry.backend(request.param)


def clause(field, token):
    return b'{"constant_score":{"filter":{"term":{"%b":"%b"}}}}' % (field, token)


def test_none_is_a_clause_a_table():
    assert collision_bodies(FINGERPRINTS, [b"", b""], SearchParams(5, 2, 8, "none")) == [
        b'{"size":5,%b,%b,"query":{"bool":{"should":[%b,%b]}}}'
        % (PLAIN, SORT, clause(b"h8", first), clause(b"h8", second))
        for first, second in ((b"0:ab", b"1:00"), (b"0:01", b"1:ff"))
    ]
    fewer = collision_bodies(FINGERPRINTS, [b"", b""], SearchParams(5, 1, 6, "none"))
    assert orjson.loads(fewer[0])["query"] == {
        "bool": {"should": [{"constant_score": {"filter": {"term": {"h6": "0:2a"}}}}]}
    }


@pytest.mark.parametrize(("asked", "sent"), [(50, 50), (3, 5), (None, 5)])
def test_window_scores_the_best_of_them_anew(asked, sent):
    params = SearchParams(5, 2, 8, "window", None, asked)
    made = collision_bodies(FINGERPRINTS, [b'{"source":"x"}', b'{"source":"y"}'], params)
    assert made[1] == (
        b'{"size":5,%b,"docvalue_fields":["id"],"query":{"bool":{"should":[%b,%b]}},"rescore":'
        b'{"window_size":%d,"query":{"query_weight":0,"rescore_query_weight":1,"rescore_query":'
        b'{"script_score":{"query":{"match_all":{}},"script":{"source":"y"}}}}}}'
        % (PLAIN, clause(b"h8", b"0:01"), clause(b"h8", b"1:ff"), sent)
    )


def test_the_script_is_that_of_rerank_exact(engine):
    handle, asked = IndexHandle(LSH, "i", 2, 1, 0.0), Queries([], FINGERPRINTS)

    def script(rerank):
        params = SearchParams(5, 2, 8, rerank, None, 50 if rerank == "window" else None)
        made = bodies(handle, params, asked, lambda _: (200, b"{}"), engine.dialect)[0]
        body = orjson.loads(made)
        within = body["rescore"]["query"]["rescore_query"] if rerank == "window" else body["query"]
        return within["script_score"]["script"]

    assert script("window") == script("code")


def test_replies_of_window_are_put_in_order():
    hits = [("c", 9), ("b", 7), ("a", 7), ("é", 7)]
    reply = {
        "timed_out": False,
        "hits": {"hits": [{"_score": float(s), "fields": {"id": [name]}} for name, s in hits]},
    }
    sent = []

    def server(request):
        sent.append(request.target)
        return 200, orjson.dumps(reply)

    ids = ["a", "b", "c", "é"]
    searcher = EngineSearcher("i", [b"x"], ids, server, lambda: None, rescored=True)
    answers = searcher.search(0)
    assert answers.ordinals.tolist() == [2, 0, 1, 3]
    assert answers.scores.tolist() == [9, 7, 7, 7]
    assert "hits.hits.sort,hits.hits._score,hits.hits.fields.id" in sent[0]
    assert [found.id for found in searcher.found(200, orjson.dumps(reply))] == ["c", "a", "b", "é"]


def test_clauses_are_counted_against_the_live_limit(engine):
    handle, asked = IndexHandle(LSH, "i", 2, 1, 0.0), Queries([], FINGERPRINTS)

    def one(_):
        return 200, b'{"transient":{"indices":{"query":{"bool":{"max_clause_count":"1"}}}}}'

    if engine.name == "opensearch":
        with pytest.raises(BackendError, match=r"rerank none needs .* 2 in all, .* allows 1 in"):
            bodies(handle, SearchParams(5, 2, 8, "none"), asked, one, engine.dialect)
        assert len(bodies(handle, SearchParams(5, 2, 8), asked, one, engine.dialect)) == 2
    assert len(bodies(handle, SearchParams(5, 1, 8, "none"), asked, one, engine.dialect)) == 2


@pytest.mark.parametrize(
    ("backend", "kind", "params", "told"),
    [
        ("opensearch", "lsh", SearchParams(5, 2, 8, "none"), None),
        ("elasticsearch", "lsh", SearchParams(5, 2, 8, "window", None, 10_000), None),
        ("elasticsearch", "lsh", SearchParams(5, 2, 8, "window", None, 10_001), "1 to 10000"),
        ("opensearch", "flat", SearchParams(5, rerank="none"), "flat has none"),
        ("opensearch", "hnsw", SearchParams(5, rerank="window"), "hnsw has none"),
        ("tables", "lsh", SearchParams(5, 2, 8, "none"), "on engines only"),
        ("faiss", "multihash", SearchParams(5, 2, 8, "window"), "on engines only"),
        ("exact", "flat", SearchParams(5, rerank="window"), "on engines only"),
    ],
)
def test_what_can_be_ranked_so(backend, kind, params, told):
    sizes = (2, (8,)) if kind in ("lsh", "multihash") else (None, ())
    reason = registry.backend(backend).impossible(
        IndexSpec(backend, kind, "simhash", *sizes, 128), params
    )
    assert reason is None if told is None else told in reason


# ---- kinds of texts


def text_body(engine, kind, limit, texts=('red "shoes"', " \n", "a\ud800")):
    spec = IndexSpec("engine", kind)
    handle, asked = IndexHandle(spec, "i", 2, 1, 0.0), Queries(list(texts), None)
    dialect = engine.dialect
    limits = {
        "opensearch": {"defaults": {"indices": {"query": {"bool": {"max_clause_count": limit}}}}},
        "elasticsearch": {},
    }[engine.name]
    return bodies(handle, SearchParams(5), asked, lambda _: (200, orjson.dumps(limits)), dialect)


@pytest.mark.parametrize(
    ("kind", "terms", "least"), [("more_like_this", 25, "30%"), ("min_hash", 128, "1")]
)
def test_bodies_of_texts(engine, kind, terms, least):
    start = (
        b'{"size":5,%b,%b,"query":{"more_like_this":{"fields":["text"],"min_term_freq":1,'
        b'"min_doc_freq":1,"max_query_terms":%d,"minimum_should_match":"%b","like":'
        % (PLAIN, SORT, terms, least.encode())
    )
    assert text_body(engine, kind, 1024) == [
        start + b'"red \\"shoes\\""}}}',
        None,
        start + b'"a?"}}}',
    ]
    if engine.name == "opensearch":
        assert b'"max_query_terms":7,' in text_body(engine, kind, 7)[0]


def test_the_index_of_min_hash(engine):
    made = engine(BackendConfig(url="http://127.0.0.1:1"))
    documents = Documents(["a"], ["x"], None)
    body = made.index_body(IndexSpec(engine.name, "min_hash"), documents, (9, 0))
    assert body["mappings"]["properties"]["text"] == {
        "type": "text",
        "analyzer": "hashed",
        "similarity": "boolean",
        "norms": False,
        "index_options": "docs",
    }
    assert body["settings"]["index"]["analysis"] == {
        "char_filter": {
            "runs": {"type": "pattern_replace", "pattern": "\\s+", "replacement": " "},
            "ends": {"type": "pattern_replace", "pattern": "^ | $", "replacement": ""},
        },
        "tokenizer": {"shingles": {"type": "ngram", "min_gram": 3, "max_gram": 3}},
        "filter": {
            "least": {
                "type": "min_hash",
                "hash_count": 1,
                "bucket_count": 128,
                "hash_set_size": 1,
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


def test_more_like_this_is_indexed_as_bm25(engine):
    made = engine(BackendConfig(url="http://127.0.0.1:1"))
    documents = Documents(["a"], ["x"], None)
    specs = [IndexSpec(engine.name, kind) for kind in ("more_like_this", "bm25")]
    one, other = (made.index_body(spec, documents, (9, 0))["settings"] for spec in specs)
    assert one == other
    assert properties(specs[0], documents, engine.dialect) == {
        "text": {"type": "text", "analyzer": "standard"}
    }
