"""What an engine is sent where answers are filtered: mappings, documents, and every body."""

import numpy as np
import orjson
import pytest

from indexers import registry
from indexers.backends import _engine_bulk as bulk
from indexers.backends._engine_filter import clause, filter_properties, filtered
from indexers.errors import BackendError, SettingError
from indexers.index_types import Documents, Filter, IndexSpec
from indexers.types import Fingerprints

SPEC = IndexSpec(
    "opensearch",
    "flat",
    "simhash",
    bits=8,
    attributes=(("Meta.Brand & Co", "keyword"), ("price", "double")),
)
CODES = Fingerprints(
    np.zeros(3, np.uint8),
    np.array([[1], [2], [3]], np.uint8),
    np.zeros((0, 0, 3), np.uint32),
    "bit",
)
WANTED = {"range": {"a1_price": {"gte": 2.0}}}


def test_mapping():
    assert filter_properties(SPEC) == {
        "a0_meta_brand_co": {
            "type": "keyword",
            "norms": False,
            "doc_values": False,
            "index_options": "docs",
            "ignore_above": 8191,
        },
        "a1_price": {"type": "double", "doc_values": True},
    }


def test_documents():
    attributes = {"Meta.Brand & Co": ['a"b', None, "\ud800"], "price": [1.5, 2.0, None]}
    documents = Documents(["x", "y", "z"], [""] * 3, CODES, attributes)
    dialect = registry.backend("elasticsearch").dialect
    rows = np.array([0, 1, 2])
    (block,) = bulk.blocks(SPEC, documents, rows, dialect)
    sent = [line.partition(b"\n")[2] for line in block.lines]
    assert sent == [
        b'{"id":"x","a0_meta_brand_co":"a\\"b","a1_price":1.5,"c":"01"}\n',
        b'{"id":"y","a1_price":2.0,"c":"02"}\n',
        b'{"id":"z","a0_meta_brand_co":"?","c":"03"}\n',
    ]


def test_documents_without_the_attribute_are_refused():
    documents = Documents(["x"], [""], CODES.take(np.array([0])), {"price": [1.0]})
    with pytest.raises(BackendError, match="no attribute 'Meta"):
        list(bulk.blocks(SPEC, documents, np.array([0]), registry.backend("opensearch").dialect))


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (Filter("Meta.Brand & Co", "acme"), {"term": {"a0_meta_brand_co": "acme"}}),
        (Filter("price", 5.0), {"term": {"a1_price": 5.0}}),
        (Filter("price", None, 1.0, 2.5), {"range": {"a1_price": {"gte": 1.0, "lte": 2.5}}}),
        (Filter("price", high=2.5), {"range": {"a1_price": {"lte": 2.5}}}),
    ],
)
def test_clauses(wanted, told):
    assert clause(SPEC, wanted) == told


def test_an_attribute_of_another_type_is_refused():
    with pytest.raises(SettingError, match="no attribute 'price' as keyword"):
        clause(SPEC, Filter("price", "5"))


MATCH, TERMS = {"match": {"text": "a b"}}, {"terms": {"h8": ["0:3f"]}}
SCRIPT = {"source": "1", "params": {"code": "\x01\u00ff"}}
KNN = {"field": "c", "query_vector": "ff", "k": 3, "num_candidates": 9}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        # flat, by a script: nothing but the filter finds documents
        (
            {"query": {"script_score": {"query": {"match_all": {}}, "script": SCRIPT}}},
            {"query": {"script_score": {"query": {"bool": {"filter": WANTED}}, "script": SCRIPT}}},
        ),
        # lsh: beside the tokens, so that only what passes is scored
        (
            {"query": {"script_score": {"query": {"bool": {"filter": TERMS}}, "script": SCRIPT}}},
            {
                "query": {
                    "script_score": {
                        "query": {"bool": {"filter": [TERMS, WANTED]}},
                        "script": SCRIPT,
                    }
                }
            },
        ),
        # scores of the query itself stay: BM25, counted hashes, counted tables
        ({"query": MATCH}, {"query": {"bool": {"must": MATCH, "filter": WANTED}}}),
        (
            {"sort": [{"_score": "desc"}], "query": {"bool": {"should": [MATCH, MATCH]}}},
            {
                "sort": [{"_score": "desc"}],
                "query": {"bool": {"must": {"bool": {"should": [MATCH, MATCH]}}, "filter": WANTED}},
            },
        ),
        # a second look at the best is taken at what passes
        (
            {"query": MATCH, "rescore": {"window_size": 9}},
            {"query": {"bool": {"must": MATCH, "filter": WANTED}}, "rescore": {"window_size": 9}},
        ),
        # vector searches pass over the others on their way: Elasticsearch above or within a
        # query, and OpenSearch
        ({"knn": KNN}, {"knn": KNN | {"filter": WANTED}}),
        ({"query": {"knn": KNN}}, {"query": {"knn": KNN | {"filter": WANTED}}}),
        (
            {"query": {"knn": {"c": {"vector": [1], "k": 3}}}},
            {"query": {"knn": {"c": {"vector": [1], "k": 3, "filter": WANTED}}}},
        ),
        (
            {"knn": KNN | {"filter": TERMS}},
            {"knn": KNN | {"filter": {"bool": {"filter": [TERMS, WANTED]}}}},
        ),
    ],
)
def test_bodies(body, told):
    assert orjson.loads(filtered(orjson.dumps({"size": 3} | body), WANTED)) == {"size": 3} | told


def test_numbers_and_order_of_a_body_are_kept():
    body = b'{"size":3,"query":{"match_all":{}},"x":[9223372036854775807,-0.1,0.30000001192092896]}'
    assert filtered(body, WANTED) == body.replace(
        b'{"match_all":{}}', b'{"bool":{"filter":{"range":{"a1_price":{"gte":2.0}}}}}'
    )
