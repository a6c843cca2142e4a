"""What goes over the wire to OpenSearch alone, byte for byte."""

from __future__ import annotations

import contextlib

import numpy as np
import orjson
import pytest

from indexers.backends import _engine_bulk as bulk
from indexers.backends._engine_fields import index_body
from indexers.backends._engine_layout import properties
from indexers.backends._engine_opensearch import DIALECT, check_plugin, clause_limit, cosine
from indexers.backends._engine_search import bodies
from indexers.backends.opensearch import OpenSearch
from indexers.errors import BackendError, EngineUnavailable
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
LSH = IndexSpec("opensearch", "lsh", "simhash", 2, (6, 8), 128)
FLAT = IndexSpec("opensearch", "flat", "simhash", bits=128)
BM25 = IndexSpec("opensearch", "bm25")
BGE = IndexSpec("opensearch", "flat", "bge")
COMMON = (
    b'{"size":10,"_source":false,"stored_fields":"_none_","track_total_hits":false,'
    b'"sort":[{"_score":"desc"},{"id":"asc"}],'
)
CODE = {"type": "binary", "doc_values": True}
VECTOR = {"type": "knn_vector", "dimension": 2}
SENT = [b"gAAAAAAAAAEAAAAAAAAAAg==", b"//////////9//////////w=="]
HAMMING = (
    b"def v = doc['c'].value; byte[] c = v.bytes; int o = v.offset; String q = params.code; "
    b"int n = q.length(), d = 0; for (int i = 0; i < n; ++i) "
    b"{ d += Integer.bitCount((c[o + i] ^ q.charAt(i)) & 255); } return 8 * n - d;"
)
CODES = ["\x80" + 6 * "\0" + "\x01" + 7 * "\0" + "\x02", 8 * "\xff" + "\x7f" + 7 * "\xff"]
SCRIPTS = [
    b'{"source":"%b","params":{"code":%b}}' % (HAMMING, orjson.dumps(code)) for code in CODES
]
VECTOR_SCRIPT = (
    b'{"lang":"knn","source":"knn_score","params":{"field":"v","space_type":"innerproduct",'
    b'"query_value":[0.1,1.0]}}'
)
LIMIT_PATH = "/_cluster/settings?include_defaults=true&filter_path=**.max_clause_count"


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
    assert [cosine(score) for score in (2.0, 1.25, 1.0, 0.5, 0.8)] == [1, 0.25, 0, -1, -0.25]


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ([["other", "opensearch-knn"]], None),
        ([["opensearch-knn"], ["other"]], "node 'n1' of http://s has not: install opensearch-knn"),
        ([[]], "node 'n0' of http://s has not"),
    ],
)
def test_the_plugin_must_be_on_every_node(nodes, told):
    def call(method, path, **_):
        assert (method, path.partition("?")[0]) == ("GET", "/_nodes/plugins")
        plugins = [[{"name": name} for name in names] for names in nodes]
        return {"nodes": {f"x{i}": {"name": f"n{i}", "plugins": p} for i, p in enumerate(plugins)}}

    with contextlib.nullcontext() if told is None else pytest.raises(BackendError, match=told):
        check_plugin(call, "http://s")


def test_transient_limits_win():
    def layer(n):
        return {"indices": {"query": {"bool": {"max_clause_count": n}}}}

    assert clause_limit({"defaults": layer("9"), "persistent": layer("8")}) == 8
    assert clause_limit({"defaults": layer("9"), "transient": layer("7")}) == 7
    assert clause_limit({}) == 1024


def test_the_second_source_is_left_out_where_the_server_can():
    backend = OpenSearch(BackendConfig(url="http://127.0.0.1:1"))
    assert backend._source((2, 14)) == {"enabled": False}
    assert backend._source((2, 15)) == {"enabled": False, "recovery_source_enabled": False}


@pytest.mark.parametrize("version", [(1, 3), (0, 9)])
def test_a_server_that_is_too_old_is_named(version):
    old = OpenSearch(BackendConfig(url="http://me:secret@127.0.0.1:1"))
    with pytest.raises(EngineUnavailable) as caught:
        old._accept(version)
    number = ".".join(map(str, version))
    told = f"http://127.0.0.1:1 is OpenSearch {number}: 2.0 or later is needed"
    assert str(caught.value) == told


@pytest.mark.parametrize("version", [(2, 0), (2, 19), (3, 1)])
def test_servers_from_2_0_on_are_taken(version):
    OpenSearch(BackendConfig(url="http://127.0.0.1:1"))._accept(version)
