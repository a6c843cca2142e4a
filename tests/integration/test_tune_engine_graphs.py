"""Engines' own vector search through `harness tune`: graphs, and `flat` without a script."""

import json

import numpy as np
import pytest

pytestmark = pytest.mark.engine
DIMENSION, DOCUMENTS, QUERIES = 64, 500, 40
TRUE = "ANNRecall(truth=code)@10"
OURS = "harness-engine-graphs*"
QUICK = ("--rate", "50", "--samples", "50", "--sla-stat", "p50", "--sla-ms", "1000")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Texts and vectors of documents and queries, the queries near some documents."""
    folder, rng = tmp_path_factory.mktemp("engine-graphs"), np.random.default_rng(5)
    words = [a + b + c for a in "bdfg" for b in "aeiou" for c in "lmnrst"]
    documents = [rng.choice(words, 30).tolist() for _ in range(DOCUMENTS)]
    queries = [[*documents[row][:25], "other"] for row in range(QUERIES)]
    vectors = rng.normal(size=(DOCUMENTS, DIMENSION)).astype(np.float32)
    for name, texts in (("corpus", documents), ("queries", queries)):
        lines = (
            json.dumps({"_id": f"{name[0]}{row:04}", "text": " ".join(text)}) + "\n"
            for row, text in enumerate(texts)
        )
        (folder / f"{name}.jsonl").write_text("".join(lines))
    np.save(folder / "documents.npy", vectors)
    near = vectors[:QUERIES] + 0.3 * rng.normal(size=(QUERIES, DIMENSION)).astype(np.float32)
    np.save(folder / "queries.npy", near)
    return folder


def vectors(corpus):
    return ("--vectors", corpus / "documents.npy", "--query-vectors", corpus / "queries.npy")


def of(summary, **wanted):
    return [
        trial
        for trial in summary["trials"]
        if all(trial["setting"].get(name) == value for name, value in wanted.items())
    ]


def test_graphs_of_texts_and_vectors_beside_exact_search(study, engine, node, corpus):
    made = study(
        *("--corpus", corpus, *vectors(corpus), *QUICK, "--family", "simhash,bge"),
        *("--backend", f"{engine},exact", f"--{engine}-url", node.url, "--kind", "hnsw,flat"),
        *("--m", "8", "--ef-construction", "80", "--ef-search", "10,200"),
    )
    summary = made.summary()
    assert {trial["status"] for trial in summary["trials"]} == {"ok"}
    graphs = of(summary, backend=engine, kind="hnsw")
    assert {(t["setting"]["m"], t["setting"]["ef_construction"]) for t in graphs} == {(8, 80)}
    assert len(graphs) == 4
    for family in ("simhash", "bge"):
        narrow, wide = (of(summary, family=family, ef_search=width)[0] for width in (10, 200))
        # one index for both
        assert (narrow["build_s"], narrow["index_bytes"]) == (wide["build_s"], wide["index_bytes"])
        exact, script = (
            of(summary, family=family, kind="flat", backend=name)[0]["quality"][TRUE]
            for name in ("exact", engine)
        )
        assert script == exact
        assert 0.97 * exact <= wide["quality"][TRUE] <= exact
        assert narrow["quality"][TRUE] <= wide["quality"][TRUE]
        assert narrow["quality"][TRUE] > 0.5 * exact
    assert node.indices(OURS) == []


def test_every_vector_type_of_an_engine(study, engine, node, corpus):
    types = "bit,float,byte,int8,int4,bbq"
    made = study(
        *("--corpus", corpus, *vectors(corpus), *QUICK, "--family", "bihash,bge", "--bits", "64"),
        *("--backend", engine, f"--{engine}-url", node.url, "--kind", "hnsw,flat"),
        *("--vector-type", types, "--m", "8", "--ef-search", "200"),
    )
    shown, told = made.run()
    summary = made.summary()
    held = {
        (t["setting"]["family"], t["setting"]["kind"], t["setting"].get("vector_type"))
        for t in summary["trials"]
    }
    graphs = ["float", "byte", "int8", "int4", "bbq"] if engine == "elasticsearch" else ["float"]
    wanted = {("bihash", "flat", None), ("bge", "flat", None), ("bihash", "hnsw", "bit")}
    wanted |= {("bge", "hnsw", name) for name in (*graphs, "byte")}
    if engine == "elasticsearch":
        wanted |= {("bihash", "flat", "bit")} | {("bge", "flat", name) for name in graphs}
    assert held == wanted
    missing = 12 - (len(held) - 2)
    assert summary["counts"] == {"trials": len(held), "failed": 0, "impossible": missing}
    assert {trial["status"] for trial in summary["trials"]} == {"ok"}
    least = {"int4": 0.6, "bbq": 0.5}  # measured of 64 random dimensions: 0.85 and 0.76
    for trial in summary["trials"]:
        name = trial["setting"].get("vector_type")
        quality = trial["quality"][TRUE]
        assert quality >= least.get(name, 0.9), trial["setting"]
        if trial["setting"]["kind"] == "flat" and name in (None, "bit", "float"):
            assert quality == 1
    if engine == "opensearch":
        assert "9 combinations do not exist" in told
        assert "3 × bge as hnsw on opensearch, 5 × bge as flat on opensearch" in told
    assert "int4" in shown or engine == "opensearch"
    assert node.indices(OURS) == []


def test_what_the_server_lacks_is_told_before_anything_is_built(study, opensearch_url, corpus):
    made = study(
        *("--corpus", corpus, *vectors(corpus), "--family", "bge", "--kind", "hnsw,flat"),
        *("--backend", "exact,opensearch", "--opensearch-url", opensearch_url),
        *("--knn-engine", "lucene,faiss"),
    )
    _, errors = made.run(expect=2)
    lines = [line for line in errors.splitlines() if line.startswith("harness:")]
    assert len(lines) == 1
    assert "no native library" in lines[0]
    assert "choose --knn-engine lucene" in lines[0]
    assert made.rows() == {}


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (
            ("--family", "simhash", "--kind", "hnsw", "--vector-type", "float,bit"),
            "--vector-type float is without effect: no family of this study is searched by its",
        ),
        (
            ("--family", "simhash", "--kind", "lsh", "--vector-type", "bit"),
            "--vector-type is without effect: no hnsw or flat of an engine is measured",
        ),
        (
            ("--family", "simhash", "--kind", "hnsw", "--knn-engine", "lucene"),
            "--knn-engine is without effect: no hnsw on opensearch is measured",
        ),
    ],
)
def test_a_type_that_nothing_is_held_as_is_told(study, elasticsearch_url, flags, told):
    made = study(
        *("--corpus", "catalogue:200", *flags, "--backend", "elasticsearch", *QUICK),
        *("--elasticsearch-url", elasticsearch_url),
        *(("--ef-search", "20") if "hnsw" in flags else ("--num-tables", "2")),
    )
    assert told in made.run()[1]
