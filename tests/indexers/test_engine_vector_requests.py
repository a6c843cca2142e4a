"""What goes over the wire to the engines' own vector search, byte for byte, and what is refused."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pytest

from indexers import registry
from indexers.backends import _engine_bulk as bulk
from indexers.backends._engine_layout import properties
from indexers.backends._engine_opensearch_vectors import check_library
from indexers.backends._engine_search import bodies, score_reader
from indexers.backends._engine_vectors import as_bytes, with_settings
from indexers.backends.elasticsearch import Elasticsearch
from indexers.backends.opensearch import OpenSearch
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

CODES = Fingerprints(
    status=np.zeros(2, np.uint8),
    codes=np.array([[0x80, 0, 1], [0xFF, 0x7F, 2]], np.uint8),
    keys=np.zeros((0, 0, 2), np.uint32),
    atom="bit",
)
VECTORS = Fingerprints(
    status=np.zeros(2, np.uint8),
    codes=np.zeros((2, 0), np.uint8),
    keys=np.zeros((0, 0, 2), np.uint32),
    atom="bit",
    # times 127: 76.2 and -101.6, 127 and 0
    vectors=np.array([[0.6, -0.8], [1.0, 0.0]], np.float32),
)
COMMON = (
    b'{"size":10,"_source":false,"stored_fields":"_none_","track_total_hits":false,'
    b'"sort":[{"_score":"desc"},{"id":"asc"}],"query":%b}'
)
USUAL = {"m": 16, "ef_construction": 200}
SMALL = {"m": 8, "ef_construction": 50}
HEX = ['"800001"', '"ff7f02"']
SIGNED = ["[-128,0,1]", "[-1,127,2]"]
FLOATS = ["[0.6,-0.8]", "[1.0,0.0]"]
ROUNDED = ["[76,-102]", "[127,0]"]


def shown(value):
    """Of a spec, what is not usual of it."""
    if not isinstance(value, IndexSpec):
        return None
    told = (value.backend, value.kind, value.family, value.vector_type, value.knn_engine)
    return "-".join(name for name in told if name)


def of_elasticsearch(kind="hnsw", held=None, bits=None, **more):
    family = "bge" if bits is None else "simhash"
    return IndexSpec("elasticsearch", kind, family, bits=bits, vector_type=held, **more)


def of_opensearch(held=None, bits=None, **more):
    family = "bge" if bits is None else "simhash"
    return IndexSpec("opensearch", "hnsw", family, bits=bits, vector_type=held, **more)


def dialect_of(spec):
    return registry.backend(spec.backend).dialect


def fingerprints_of(spec):
    return VECTORS if spec.bits is None else CODES


def mapped(spec, fingerprints=None):
    documents = Documents(["a", "b"], ["", ""], fingerprints or fingerprints_of(spec))
    return properties(spec, documents, dialect_of(spec))


def wide(dimension):
    return replace(VECTORS, vectors=np.zeros((2, dimension), np.float32))


def lines(spec):
    documents = Documents(["a", "b"], ["", ""], fingerprints_of(spec))
    rows = bulk.indexed_rows(spec, documents)
    made = bulk.blocks(spec, documents, rows, dialect_of(spec))
    return [line for block in made for line in block.lines]


def asked(spec, **search):
    params = SearchParams(10, rerank="code" if spec.bits else "cosine", **search)
    queries = Queries([], fingerprints_of(spec))
    return bodies(IndexHandle(spec, "i", 2, 1, 0.0), params, queries, None, dialect_of(spec))


def dense(element, dims, similarity, options):
    return {
        "type": "dense_vector",
        "element_type": element,
        "dims": dims,
        "index": True,
        "similarity": similarity,
        "index_options": options,
    }


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (
            of_elasticsearch(bits=24),
            {"c": dense("bit", 24, "l2_norm", {"type": "hnsw", **USUAL})},
        ),
        (
            of_elasticsearch("flat", "bit", 24),
            {"c": dense("bit", 24, "l2_norm", {"type": "flat"})},
        ),
        (
            of_elasticsearch(m=8, ef_construction=50),
            {"v": dense("float", 2, "dot_product", {"type": "hnsw"} | SMALL)},
        ),
        (
            of_elasticsearch("flat", "float"),
            {"v": dense("float", 2, "dot_product", {"type": "flat"})},
        ),
        (
            of_elasticsearch(held="byte"),
            {"v": dense("byte", 2, "cosine", {"type": "hnsw", **USUAL})},
        ),
        (
            of_elasticsearch("flat", "byte"),
            {"v": dense("byte", 2, "cosine", {"type": "flat"})},
        ),
        (
            of_elasticsearch(held="int8"),
            {"v": dense("float", 2, "dot_product", {"type": "int8_hnsw", **USUAL})},
        ),
        (
            of_elasticsearch("flat", "int8"),
            {"v": dense("float", 2, "dot_product", {"type": "int8_flat"})},
        ),
        (
            of_elasticsearch(held="int4"),
            {"v": dense("float", 2, "dot_product", {"type": "int4_hnsw", **USUAL})},
        ),
        (
            of_elasticsearch("flat", "int4"),
            {"v": dense("float", 2, "dot_product", {"type": "int4_flat"})},
        ),
    ],
    ids=shown,
)
def test_mappings_of_elasticsearch(spec, field):
    assert mapped(spec) == field


@pytest.mark.parametrize(("kind", "sizes"), [("hnsw", USUAL), ("flat", {})])
def test_mapping_of_bbq(kind, sizes):
    made = mapped(of_elasticsearch(kind, "bbq"), wide(64))
    assert made == {"v": dense("float", 64, "dot_product", {"type": f"bbq_{kind}", **sizes})}


def knn_vector(dimension, data_type, space, engine="lucene", sizes=USUAL):
    method = {"name": "hnsw", "engine": engine, "space_type": space, "parameters": sizes}
    return {
        "type": "knn_vector",
        "dimension": dimension,
        "data_type": data_type,
        "method": method,
    }


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (of_opensearch(bits=24), {"c": knn_vector(24, "binary", "hamming")}),
        (of_opensearch("bit", 24), {"c": knn_vector(24, "binary", "hamming")}),
        (of_opensearch(), {"v": knn_vector(2, "float", "innerproduct")}),
        (of_opensearch("byte"), {"v": knn_vector(2, "byte", "cosinesimil")}),
        (
            of_opensearch(bits=24, knn_engine="faiss", m=4, ef_construction=9),
            {"c": knn_vector(24, "binary", "hamming", "faiss", {"m": 4, "ef_construction": 9})},
        ),
    ],
    ids=shown,
)
def test_mappings_of_opensearch(spec, field):
    assert mapped(spec) == field


def test_only_graphs_of_opensearch_need_a_setting():
    body = {"settings": {"index": {"a": 1}}, "mappings": {}}
    made = with_settings(body, of_opensearch(), OpenSearch.dialect)
    assert made == {"settings": {"index": {"a": 1, "knn": True}}, "mappings": {}}
    script = IndexSpec("opensearch", "flat", "bge")
    assert with_settings(body, script, OpenSearch.dialect) == body
    assert with_settings(body, of_elasticsearch(), Elasticsearch.dialect) == body
    assert body == {"settings": {"index": {"a": 1}}, "mappings": {}}


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        (of_elasticsearch(bits=24), HEX),
        (of_elasticsearch(), FLOATS),
        (of_elasticsearch(held="byte"), ROUNDED),
        (of_elasticsearch(held="int8"), FLOATS),
        (of_opensearch(bits=24), SIGNED),
        (of_opensearch(), FLOATS),
        (of_opensearch("byte"), ROUNDED),
    ],
    ids=shown,
)
def test_bulk_lines(spec, values):
    field = "c" if spec.bits else "v"
    # what stands before is the same for every kind
    assert [line.decode().partition("\n")[2] for line in lines(spec)] == [
        f'{{"id":"{name}","{field}":{value}}}\n' for name, value in zip("ab", values, strict=True)
    ]


def test_rounding_is_to_the_nearest_and_keeps_to_seven_bits():
    vectors = np.array([[1, -1, 0, 0.5 / 127 + 1e-4, -0.00393]], np.float32)
    assert as_bytes(vectors).tolist() == [[127, -127, 0, 1, 0]]


@pytest.mark.parametrize(
    ("spec", "values", "sizes"),
    [
        (of_elasticsearch(bits=24), HEX, '"k":64,"num_candidates":64'),
        (of_elasticsearch(held="float"), FLOATS, '"k":64,"num_candidates":64'),
        (of_elasticsearch(held="byte"), ROUNDED, '"k":64,"num_candidates":64'),
        (of_elasticsearch(held="int4"), FLOATS, '"k":64,"num_candidates":64'),
        (
            of_elasticsearch(held="bbq"),
            FLOATS,
            '"k":64,"num_candidates":64,"rescore_vector":{"oversample":1.0}',
        ),
        (of_elasticsearch("flat", "bit", 24), HEX, '"k":10,"num_candidates":10'),
        (of_elasticsearch("flat", "int8"), FLOATS, '"k":10,"num_candidates":10'),
        (
            of_elasticsearch("flat", "bbq"),
            FLOATS,
            '"k":10,"num_candidates":10,"rescore_vector":{"oversample":3.0}',
        ),
    ],
    ids=shown,
)
def test_bodies_of_elasticsearch(spec, values, sizes):
    field = "c" if spec.bits else "v"
    for body, value in zip(asked(spec), values, strict=True):
        query = f'{{"knn":{{"field":"{field}","query_vector":{value},{sizes}}}}}'
        assert body == COMMON % query.encode()


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        (of_opensearch(bits=24), SIGNED),
        (of_opensearch(bits=24, knn_engine="faiss"), SIGNED),
        (of_opensearch(), FLOATS),
        (of_opensearch("byte"), ROUNDED),
    ],
    ids=shown,
)
def test_bodies_of_opensearch(spec, values):
    field = "c" if spec.bits else "v"
    for body, value in zip(asked(spec), values, strict=True):
        sizes = '"k":64,"method_parameters":{"ef_search":64}'
        query = f'{{"knn":{{"{field}":{{"vector":{value},{sizes}}}}}}}'
        assert body == COMMON % query.encode()


@pytest.mark.parametrize("spec", [of_elasticsearch(bits=24), of_opensearch(bits=24)], ids=shown)
@pytest.mark.parametrize(("asked_for", "kept"), [(3, 10), (200, 200)])
def test_a_search_keeps_no_fewer_than_it_answers(spec, asked_for, kept):
    assert b'"k":%d,' % kept in asked(spec, ef_search=asked_for)[0]


@pytest.mark.parametrize(
    ("spec", "scores"),
    [
        # of 24 bits: none, 6, 18 and 24 differ
        (of_elasticsearch(bits=24), {1.0: 24, 0.75: 18, 0.25: 6, 0.0: 0}),
        (of_opensearch(bits=24), {1.0: 24, 1 / 7: 18, 1 / 19: 6, 1 / 25: 0}),
        (of_elasticsearch(), {1.0: 1, 0.5: 0, 0.0: -1}),
        (of_opensearch("byte"), {1.0: 1, 0.5: 0, 0.0: -1}),
        (of_opensearch(), {2.0: 1, 1.5: 0.5, 1.0: 0, 0.8: -0.25, 0.5: -1}),
    ],
    ids=shown,
)
def test_scores_are_read(spec, scores):
    read = score_reader(spec, SearchParams(10), dialect_of(spec))
    for score, similarity in scores.items():
        assert read(float(np.float32(score))) == pytest.approx(similarity, abs=1e-7)


def test_scores_of_codes_are_whole_at_every_distance():
    bits, distances = 2048, np.arange(2049)
    wanted = [float(bits - d) for d in distances]
    kept = ((bits - distances) / np.float32(bits)).astype(np.float32).tolist()
    inverse = (1 / (1 + distances)).astype(np.float32).tolist()
    for spec, scores in ((of_elasticsearch(bits=bits), kept), (of_opensearch(bits=bits), inverse)):
        read = score_reader(spec, SearchParams(10), dialect_of(spec))
        assert [read(score) for score in scores] == wanted


# ---- what does not exist


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (of_elasticsearch(held="bit"), "vector_type 'bit' is not for bge: it has vectors"),
        (of_elasticsearch(held="int8", bits=64), "vector_type 'int8' is not for simhash: it has a"),
        (of_elasticsearch("flat", "float", 64), "vector_type 'float' is not for simhash"),
        (of_elasticsearch(knn_engine="lucene"), "knn_engine 'lucene' is not for hnsw of elastic"),
        (of_elasticsearch(ef_construction=3201), "ef_construction 3201 is out of range on engines"),
        (of_elasticsearch(m=1), "m 1 is out of range: 2 to 512"),
        (of_elasticsearch(held="int4", dimension=145), "145 dimensions as 'int4': their number"),
        (of_elasticsearch(held="bbq", dimension=63), "63 dimensions as 'bbq': at least 64"),
        (of_elasticsearch(dimension=4097), "4097 dimensions as 'float': at most 4096"),
        (of_opensearch("int8"), "opensearch holds no vectors as 'int8': choose from bit, float"),
        (of_opensearch("bbq"), "opensearch holds no vectors as 'bbq'"),
        (
            IndexSpec("opensearch", "flat", "bge", vector_type="float"),
            "opensearch searches its own vectors by graphs alone: flat is by a script there",
        ),
        (
            IndexSpec("opensearch", "flat", "bge", knn_engine="lucene"),
            "knn_engine 'lucene' is not for flat of opensearch",
        ),
        (
            IndexSpec("elasticsearch", "lsh", "simhash", 2, (6,), 64, vector_type="bit"),
            "vector types and engines of graphs are for hnsw and flat: lsh",
        ),
        (
            IndexSpec("faiss", "hnsw", "bge", vector_type="float"),
            "vector types and libraries of graphs are for engines: faiss has none",
        ),
        (
            IndexSpec("exact", "flat", "bge", vector_type="float"),
            "vector types and libraries of graphs are for engines: exact has none",
        ),
    ],
    ids=shown,
)
def test_what_does_not_exist_is_named(spec, told):
    tables = (spec.num_tables, spec.hash_lengths[0] if spec.hash_lengths else None)
    params = SearchParams(10, *tables, rerank="code" if spec.bits else "cosine")
    assert told in registry.backend(spec.backend).impossible(spec, params)


def test_a_dimension_that_shows_only_with_the_vectors_is_refused_before_anything_is_made():
    with pytest.raises(BackendError, match="145 dimensions as 'int4'"):
        mapped(of_elasticsearch(held="int4"), wide(145))


@pytest.mark.parametrize(
    ("spec", "version", "told"),
    [
        (of_elasticsearch(bits=24), (8, 15), None),
        (of_elasticsearch(held="int4"), (8, 15), None),
        (of_elasticsearch(held="bbq"), (8, 17), "vector type 'bbq' needs 8.18 or later"),
        (of_elasticsearch("flat", "bbq"), (8, 17), "vector type 'bbq' needs 8.18 or later"),
        (of_elasticsearch(held="bbq"), (9, 0), None),
    ],
    ids=shown,
)
def test_an_elasticsearch_too_old_for_a_type_is_named(monkeypatch, spec, version, told):
    monkeypatch.setattr("elasticsearch.__version__", (8, 19, 0))
    backend = Elasticsearch(BackendConfig(url="http://127.0.0.1:1"))
    with contextlib.nullcontext() if told is None else pytest.raises(BackendError, match=told):
        backend._accept(version, spec)


class Nodes:
    """An OpenSearch's answers about its nodes: which have the plugin, and the library loaded."""

    def __init__(self, *nodes):
        self.nodes = {f"x{i}": node for i, node in enumerate(nodes)}

    def __call__(self, request, **_):
        assert request.method == "GET"
        path = request.target
        if path.startswith("/_nodes/plugins"):
            shown = {
                key: {
                    "name": f"n-{key}",
                    "roles": node.get("roles", ["data", "ingest"]),
                    "plugins": [{"name": "opensearch-knn"}] if node.get("plugin", True) else [],
                }
                for key, node in self.nodes.items()
            }
            return {"nodes": shown}
        assert path == "/_plugins/_knn/stats/faiss_initialized"
        told = {k: {"faiss_initialized": n["loaded"]} for k, n in self.nodes.items()}
        return {"nodes": told}


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ([{"loaded": True}, {"loaded": True}], None),
        ([{"loaded": True}, {"loaded": False, "roles": ["cluster_manager"]}], None),
        ([{"loaded": True}, {"loaded": False}], "node 'n-x1' of http://s shows no native library"),
        ([{"loaded": False, "roles": ["data_hot"]}], "choose --knn-engine lucene"),
    ],
)
def test_faiss_needs_a_sign_of_the_library_on_every_node_with_data(nodes, told):
    with contextlib.nullcontext() if told is None else pytest.raises(BackendError, match=told):
        check_library(Nodes(*nodes), "http://s")


def test_a_node_that_does_not_speak_of_the_library_has_none():
    silent = Nodes({"loaded": None})
    with pytest.raises(BackendError, match="no native library"):
        check_library(silent, "http://s")


@pytest.mark.parametrize(
    ("spec", "version", "nodes", "told"),
    [
        (of_opensearch(bits=24), (2, 19), [{"loaded": False}], None),
        (of_opensearch(bits=24), (2, 18), [{"loaded": False}], "'bit' by lucene need 2.19"),
        (of_opensearch(), (2, 16), [{"loaded": False}], None),
        (of_opensearch(), (2, 15), [{"loaded": False}], "'float' by lucene need 2.16"),
        (of_opensearch(knn_engine="faiss"), (2, 16), [{"loaded": True}], None),
        (of_opensearch("byte", knn_engine="faiss"), (2, 18), [{"loaded": True}], "need 2.19"),
        (of_opensearch(knn_engine="faiss"), (3, 0), [{"loaded": False}], "no native library"),
        (of_opensearch(bits=24), (2, 19), [{"loaded": False, "plugin": False}], "the k-NN plugin"),
        (of_opensearch(bits=24, knn_engine="faiss"), (3, 1), [{"plugin": False}], "k-NN plugin"),
    ],
    ids=shown,
)
def test_an_opensearch_that_lacks_something_is_named(monkeypatch, spec, version, nodes, told):
    backend = OpenSearch(BackendConfig(url="http://127.0.0.1:1"))
    monkeypatch.setattr(backend, "_call", Nodes(*nodes))
    with contextlib.nullcontext() if told is None else pytest.raises(BackendError, match=told):
        backend._accept(version, spec)
