"""What goes over the wire to Elasticsearch alone, byte for byte."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from indexers.backends import _engine_bulk as bulk
from indexers.backends._engine_elasticsearch import DIALECT, clause_limit, cosine
from indexers.backends._engine_fields import index_body
from indexers.backends._engine_layout import properties
from indexers.backends._engine_search import bodies
from indexers.backends.elasticsearch import Elasticsearch
from indexers.errors import EngineUnavailable, MissingPackage
from indexers.index_types import (
    BackendConfig,
    Documents,
    HttpRequest,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
)
from indexers.types import Fingerprints

# Two documents, two tables. The first 8 bits of the keys are ab 01 and 00 ff, the first 6 bits
# are those shifted by two: 2a 00 and 00 3f.
FINGERPRINTS = Fingerprints(
    status=np.zeros(2, np.uint8),
    codes=np.array(
        [
            [0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2],
            [0xFF] * 8 + [0x7F] + [0xFF] * 7,
        ],
        np.uint8,
    ),
    keys=np.array([[[0xABCDEF01, 0x01000000]], [[0x00FFFFFF, 0xFF000000]]], np.uint32),
    atom="bit",
)
VECTORS = Fingerprints(
    status=np.zeros(2, np.uint8),
    codes=np.zeros((2, 0), np.uint8),
    keys=np.zeros((0, 0, 2), np.uint32),
    atom="bit",
    vectors=np.array([[0.6, -0.8], [0.1, 1.0]], np.float32),
)
LSH = IndexSpec("elasticsearch", "lsh", "simhash", 2, (6, 8), 128)
FLAT = IndexSpec("elasticsearch", "flat", "simhash", bits=128)
BM25 = IndexSpec("elasticsearch", "bm25")
BGE = IndexSpec("elasticsearch", "flat", "bge")
COMMON = (
    b'{"size":10,"_source":false,"stored_fields":"_none_","track_total_hits":false,'
    b'"sort":[{"_score":"desc"},{"id":"asc"}],'
)
CODE = {"type": "dense_vector", "element_type": "bit", "dims": 128, "index": False}
VECTOR = {"type": "dense_vector", "element_type": "float", "dims": 2, "index": False}
SENT = [b"80000000000000010000000000000002", b"ffffffffffffffff7fffffffffffffff"]
SCRIPTS = [
    b'{"source":"params.bits - hamming(params.code, \'c\')",'
    b'"params":{"bits":128,"code":"%b"}}' % code
    for code in SENT
]
VECTOR_SCRIPT = (
    b'{"source":"Math.max(0, 1 + dotProduct(params.q, \'v\'))","params":{"q":[0.1,1.0]}}'
)
LIMIT_PATH = (
    "/_nodes/jvm,thread_pool?filter_path="
    "nodes.*.jvm.mem.heap_max_in_bytes,nodes.*.thread_pool.search.size"
)


def documents(fingerprints=FINGERPRINTS, ids=("a", "b"), texts=("", "")):
    return Documents(list(ids), list(texts), fingerprints)


def lines(spec, docs):
    rows = bulk.indexed_rows(spec, docs)
    return [line for block in bulk.blocks(spec, docs, rows, DIALECT) for line in block.lines]


def asked(spec, fingerprints, *sizes, texts=(), transport=None):
    """The bodies of queries with these fingerprints or texts."""
    rerank = "cosine" if spec == BGE else "code"
    handle = IndexHandle(spec, "i", 2, 1, 0.0)
    params = SearchParams(10, *sizes, rerank=rerank)
    return bodies(handle, params, Queries(list(texts), fingerprints), transport, DIALECT)


def script_score(query, script):
    return COMMON + b'"query":{"script_score":{"query":%b,"script":%b}}}' % (query, script)


def test_index_body_of_lsh():
    tokens = {"type": "keyword", "norms": False, "doc_values": False, "index_options": "docs"}
    fields = properties(LSH, documents(), DIALECT)
    assert index_body(fields, "me", "2026-01-02T03:04:05Z", {"enabled": False}) == {
        "settings": {
            "index": {
                "number_of_shards": 1,
                "number_of_replicas": 0,
                "auto_expand_replicas": False,
                "refresh_interval": "-1",
                "queries.cache.enabled": False,
                "requests.cache.enable": False,
                "translog.durability": "async",
                "analyze.max_token_count": 1_000_000,
                "store.stats_refresh_interval": "0s",
            }
        },
        "mappings": {
            "_meta": {"harness": {"owner": "me", "created": "2026-01-02T03:04:05Z"}},
            "_source": {"enabled": False},
            "dynamic": "strict",
            "properties": {
                "id": {"type": "keyword", "index": False, "doc_values": True},
                "c": CODE,
                "h6": tokens,
                "h8": tokens,
            },
        },
    }


def test_mappings_of_flat_and_bm25():
    assert properties(FLAT, documents(), DIALECT) == {"c": CODE}
    assert properties(BGE, documents(VECTORS), DIALECT) == {"v": VECTOR}
    text = {"type": "text", "analyzer": "standard"}
    assert properties(BM25, documents(None), DIALECT) == {"text": text}


def test_bulk_lines_of_lsh():
    assert lines(LSH, documents()) == [
        b'{"index":{"_id":"0"}}\n{"id":"a","c":"' + SENT[0] + b'",'
        b'"h6":["0:2a","1:00"],"h8":["0:ab","1:00"]}\n',
        b'{"index":{"_id":"1"}}\n{"id":"b","c":"' + SENT[1] + b'",'
        b'"h6":["0:00","1:3f"],"h8":["0:01","1:ff"]}\n',
    ]


def test_bulk_lines_of_flat_and_bm25():
    assert lines(FLAT, documents(ids=('q"', "ü")))[1] == (
        b'{"index":{"_id":"1"}}\n{"id":"\xc3\xbc","c":"' + SENT[1] + b'"}\n'
    )
    assert (
        lines(BGE, documents(VECTORS))[0] == b'{"index":{"_id":"0"}}\n{"id":"a","v":[0.6,-0.8]}\n'
    )
    assert lines(BM25, documents(None, texts=("", 'say "x"\n'))) == [
        b'{"index":{"_id":"0"}}\n{"id":"a","text":""}\n',
        b'{"index":{"_id":"1"}}\n{"id":"b","text":"say \\"x\\"\\n"}\n',
    ]


def test_lsh_body():
    query = b'{"bool":{"filter":{"terms":{"h6":["0:2a","1:00"]}}}}'
    assert asked(LSH, FINGERPRINTS, 2, 6)[0] == script_score(query, SCRIPTS[0])


def test_fewer_tables_are_the_first_tokens():
    query = b'{"bool":{"filter":{"terms":{"h8":["0:01"]}}}}'
    assert asked(LSH, FINGERPRINTS, 1, 8)[1] == script_score(query, SCRIPTS[1])


def test_flat_body():
    assert asked(FLAT, FINGERPRINTS) == [
        script_score(b'{"match_all":{}}', script) for script in SCRIPTS
    ]


def test_flat_body_of_vectors():
    assert asked(BGE, VECTORS)[1] == script_score(b'{"match_all":{}}', VECTOR_SCRIPT)


def test_bm25_body():
    sent = []

    def server(request):
        sent.append(request)
        return 200, b"{}"

    assert asked(BM25, None, texts=['red "shoes"', " \n"], transport=server) == [
        COMMON + b'"query":{"match":{"text":"red \\"shoes\\""}}}',
        None,
    ]
    assert sent == [HttpRequest("GET", LIMIT_PATH, b"")]


def test_scores_of_vectors_are_read_as_cosines():
    assert [cosine(score) for score in (2.0, 1.25, 1.0, 0.0)] == [1, 0.25, 0, -1]


def test_the_least_of_the_nodes_limits_a_query():
    def node(mib, threads):
        size = {"search": {"size": threads}}
        return {"jvm": {"mem": {"heap_max_in_bytes": mib << 20}}, "thread_pool": size}

    assert clause_limit({"nodes": {"a": node(1024, 4)}}) == 16_384
    assert clause_limit({"nodes": {"a": node(1024, 4), "b": node(1024, 32)}}) == 2048
    assert clause_limit({"nodes": {"a": node(128, 32)}}) == 1024
    assert clause_limit({}) == 1024


def backend():
    return Elasticsearch(BackendConfig(url="http://127.0.0.1:1"))


@pytest.mark.parametrize(
    ("version", "client", "told"),
    [
        ((9, 4), (9, 5, 1), None),
        ((10, 0), (9, 5, 1), None),
        ((8, 15), (8, 19, 0), None),
        ((8, 14), (8, 19, 0), "is Elasticsearch 8.14: 8.15 or later is needed"),
        ((8, 16), (9, 5, 1), "refuses clients of version 9: pip install 'elasticsearch==8.*'"),
    ],
)
def test_servers_and_clients_that_do_not_go_together_are_named(monkeypatch, version, client, told):
    monkeypatch.setattr("elasticsearch.__version__", client)
    if told is None:
        backend()._accept(version)
        return
    with pytest.raises(EngineUnavailable) as caught:
        backend()._accept(version)
    assert told in str(caught.value)
    assert str(caught.value).startswith("http://127.0.0.1:1 is Elasticsearch")


def test_without_the_client_its_pip_line_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "elasticsearch", None)
    with pytest.raises(MissingPackage, match="pip install elasticsearch"):
        backend()._accept((9, 4))
