"""What goes over the wire to each engine, byte for byte: one index and its queries in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import orjson
import pytest

from indexers import registry
from indexers.backends import _engine_bulk as bulk
from indexers.backends._engine_fields import index_body
from indexers.backends._engine_layout import properties
from indexers.backends._engine_search import bodies
from indexers.index_types import Documents, IndexHandle, IndexSpec, Queries, SearchParams
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
LSH = IndexSpec("engine", "lsh", "simhash", 2, (6, 8), 128)
FLAT = IndexSpec("engine", "flat", "simhash", bits=128)
BM25 = IndexSpec("engine", "bm25")
BGE = IndexSpec("engine", "flat", "bge")
COMMON = (
    b'{"size":10,"_source":false,"stored_fields":"_none_","track_total_hits":false,'
    b'"sort":[{"_score":"desc"},{"id":"asc"}],'
)


@dataclass(frozen=True)
class Wire:
    """What an engine is sent: mappings of code and vector, codes of the documents, scripts of the
    codes and of the second vector, and where the limit of a query is read."""

    code: dict
    vector: dict
    sent: list[bytes]
    scripts: list[bytes]
    vector_script: bytes
    limit_target: str


HAMMING = (
    b"def v = doc['c'].value; byte[] c = v.bytes; int o = v.offset; String q = params.code; "
    b"int n = q.length(), d = 0; for (int i = 0; i < n; ++i) "
    b"{ d += Integer.bitCount((c[o + i] ^ q.charAt(i)) & 255); } return 8 * n - d;"
)
CODES = ["\x80" + 6 * "\0" + "\x01" + 7 * "\0" + "\x02", 8 * "\xff" + "\x7f" + 7 * "\xff"]
HEX = [b"80000000000000010000000000000002", b"ffffffffffffffff7fffffffffffffff"]
WIRES = {
    "opensearch": Wire(
        code={"type": "binary", "doc_values": True},
        vector={"type": "knn_vector", "dimension": 2},
        sent=[b"gAAAAAAAAAEAAAAAAAAAAg==", b"//////////9//////////w=="],
        scripts=[
            b'{"source":"%b","params":{"code":%b}}' % (HAMMING, orjson.dumps(code))
            for code in CODES
        ],
        vector_script=(
            b'{"lang":"knn","source":"knn_score","params":{"field":"v","space_type":"innerproduct",'
            b'"query_value":[0.1,1.0]}}'
        ),
        limit_target="/_cluster/settings?include_defaults=true&filter_path=**.max_clause_count",
    ),
    "elasticsearch": Wire(
        code={"type": "dense_vector", "element_type": "bit", "dims": 128, "index": False},
        vector={"type": "dense_vector", "element_type": "float", "dims": 2, "index": False},
        sent=HEX,
        scripts=[
            b'{"source":"params.bits - hamming(params.code, \'c\')",'
            b'"params":{"bits":128,"code":"%b"}}' % code
            for code in HEX
        ],
        vector_script=(
            b'{"source":"Math.max(0, 1 + dotProduct(params.q, \'v\'))","params":{"q":[0.1,1.0]}}'
        ),
        limit_target=(
            "/_nodes/jvm,thread_pool?filter_path="
            "nodes.*.jvm.mem.heap_max_in_bytes,nodes.*.thread_pool.search.size"
        ),
    ),
}


@pytest.fixture(params=WIRES)
def engine(request):
    return request.param


@pytest.fixture
def dialect(engine):
    return registry.backend(engine).dialect


@pytest.fixture
def wire(engine):
    return WIRES[engine]


def documents(fingerprints=FINGERPRINTS, ids=("a", "b"), texts=("", "")):
    return Documents(list(ids), list(texts), fingerprints)


def lines(spec, docs, dialect):
    rows = bulk.indexed_rows(spec, docs)
    return [line for block in bulk.blocks(spec, docs, rows, dialect) for line in block.lines]


def asked(spec, dialect, fingerprints, *sizes, texts=(), transport=None):
    """The bodies of queries with these fingerprints or texts."""
    rerank = "cosine" if spec == BGE else "code"
    handle = IndexHandle(spec, "i", 2, 1, 0.0)
    params = SearchParams(10, *sizes, rerank=rerank)
    return bodies(handle, params, Queries(list(texts), fingerprints), transport, dialect)


def script_score(query, script):
    return COMMON + b'"query":{"script_score":{"query":%b,"script":%b}}}' % (query, script)


def test_index_body_of_lsh(dialect, wire):
    tokens = {"type": "keyword", "norms": False, "doc_values": False, "index_options": "docs"}
    fields = properties(LSH, documents(), dialect)
    assert index_body(fields, "me", "2026-01-02T03:04:05Z", {"_source": {"enabled": False}}) == {
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
                "c": wire.code,
                "h6": tokens,
                "h8": tokens,
            },
        },
    }


def test_mappings_of_flat_and_bm25(dialect, wire):
    assert properties(FLAT, documents(), dialect) == {"c": wire.code}
    assert properties(BGE, documents(VECTORS), dialect) == {"v": wire.vector}
    text = {"type": "text", "analyzer": "standard"}
    assert properties(BM25, documents(None), dialect) == {"text": text}


def test_bulk_lines_of_lsh(dialect, wire):
    assert lines(LSH, documents(), dialect) == [
        b'{"index":{"_id":"0"}}\n{"id":"a","c":"' + wire.sent[0] + b'",'
        b'"h6":["0:2a","1:00"],"h8":["0:ab","1:00"]}\n',
        b'{"index":{"_id":"1"}}\n{"id":"b","c":"' + wire.sent[1] + b'",'
        b'"h6":["0:00","1:3f"],"h8":["0:01","1:ff"]}\n',
    ]


def test_bulk_lines_of_flat_and_bm25(dialect, wire):
    assert lines(FLAT, documents(ids=('q"', "ü")), dialect)[1] == (
        b'{"index":{"_id":"1"}}\n{"id":"\xc3\xbc","c":"' + wire.sent[1] + b'"}\n'
    )
    assert (
        lines(BGE, documents(VECTORS), dialect)[0]
        == b'{"index":{"_id":"0"}}\n{"id":"a","v":[0.6,-0.8]}\n'
    )
    assert lines(BM25, documents(None, texts=("", 'say "x"\n')), dialect) == [
        b'{"index":{"_id":"0"}}\n{"id":"a","text":""}\n',
        b'{"index":{"_id":"1"}}\n{"id":"b","text":"say \\"x\\"\\n"}\n',
    ]


def test_lsh_body(dialect, wire):
    query = b'{"bool":{"filter":{"terms":{"h6":["0:2a","1:00"]}}}}'
    assert asked(LSH, dialect, FINGERPRINTS, 2, 6)[0] == script_score(query, wire.scripts[0])


def test_fewer_tables_are_the_first_tokens(dialect, wire):
    query = b'{"bool":{"filter":{"terms":{"h8":["0:01"]}}}}'
    assert asked(LSH, dialect, FINGERPRINTS, 1, 8)[1] == script_score(query, wire.scripts[1])


def test_flat_body(dialect, wire):
    assert asked(FLAT, dialect, FINGERPRINTS) == [
        script_score(b'{"match_all":{}}', script) for script in wire.scripts
    ]


def test_flat_body_of_vectors(dialect, wire):
    assert asked(BGE, dialect, VECTORS)[1] == script_score(b'{"match_all":{}}', wire.vector_script)


def test_bm25_body(dialect, wire):
    sent = []

    def server(request):
        sent.append(request)
        return 200, b"{}"

    assert asked(BM25, dialect, None, texts=['red "shoes"', " \n"], transport=server) == [
        COMMON + b'"query":{"match":{"text":"red \\"shoes\\""}}}',
        None,
    ]
    assert [(r.method, r.target, r.body) for r in sent] == [("GET", wire.limit_target, b"")]
