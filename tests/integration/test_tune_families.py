"""Every family through `harness tune`, in process and on a real engine."""

import numpy as np
import pytest

from indexers import registry

SEARCHED = [name for name in registry.family_names() if registry.family(name).kinds]
OF_TEXT = [name for name in SEARCHED if registry.family(name).source == "text"]
OF_VECTORS = [name for name in SEARCHED if registry.family(name).source == "vector"]


def arguments(data_dir, families, backends, *more, tables="8,16"):
    folder = data_dir("csfcube")
    return [
        *("--corpus", folder, "--family", ",".join(families), "--backend", ",".join(backends)),
        *("--num-tables", tables, "--hash-length", "all=8", "--hash-length", "minhash=2"),
        *more,
    ]


def best(summary, family, measure="nDCG@10", **wanted):
    return max(
        t["quality"][measure]
        for t in summary["trials"]
        if t["setting"]["family"] == family
        and all(t["setting"][name] == value for name, value in wanted.items())
    )


def test_families_of_text_in_process(study, data_dir):
    made = study(*arguments(data_dir, OF_TEXT, ("tables", "exact")))
    summary = made.summary()
    assert {t["status"] for t in summary["trials"]} == {"ok"}
    for family in OF_TEXT:
        kinds = {
            t["setting"]["kind"] for t in summary["trials"] if t["setting"]["family"] == family
        }
        assert kinds == set(registry.family(family).kinds) - {"multihash", "hnsw"}
    tokens = [t for t in summary["trials"] if t["setting"]["kind"] == "tokens"]
    assert {t["setting"]["family"] for t in tokens} == {"winnowing", "fuzzyhash"}
    assert all(t["setting"]["num_tables"] is None for t in tokens)
    assert all(t["setting"]["hash_length"] is None for t in tokens)
    names = {row["name"] for row in summary["reference"]}
    assert {"winnowing jaccard, exact", "fuzzyhash levenshtein, exact"} <= names
    # an inverted index finds whatever shares a token: nothing is lost against exact search
    measure = "ANNRecall(truth=code)@10"
    assert best(summary, "winnowing", measure, kind="tokens") > 0.99
    assert best(summary, "winnowing", measure, kind="flat") == 1


def test_families_of_vectors_in_process(study, data_dir):
    vectors = data_dir("csfcube") / "minilm.npy"
    backends = ("tables", "faiss", "exact")
    made = study(*arguments(data_dir, OF_VECTORS, backends, "--vectors", vectors))
    summary = made.summary()
    assert {t["status"] for t in summary["trials"]} == {"ok"}
    assert "exact cosine" in {row["name"] for row in summary["reference"]}
    dense = best(summary, "bge", kind="flat")
    for family in ("lsh", "bihash", "lshash"):
        assert 0.5 * dense < best(summary, family, kind="flat") < dense
    assert best(summary, "bge", "ANNRecall@10", kind="flat", backend="exact") == 1
    tables = {
        t["setting"]["num_tables"] for t in summary["trials"] if t["setting"]["kind"] == "lsh"
    }
    assert tables == {8, 16}


def test_the_engine_gives_the_answers_of_the_process(study, data_dir, opensearch_url):
    families = ["winnowing", "fuzzyhash", "flyhash", "bihash", "lshash"]
    vectors = data_dir("csfcube") / "minilm.npy"
    made = study(
        *arguments(data_dir, families, ("tables", "exact", "opensearch"), tables="16"),
        *("--vectors", vectors, "--opensearch-url", opensearch_url, "--rate", "300"),
    )
    summary = made.summary()
    assert {t["status"] for t in summary["trials"]} == {"ok"}
    quality = {}
    for trial in summary["trials"]:
        setting = {name: v for name, v in trial["setting"].items() if name != "backend"}
        if setting["family"] is not None:  # texts are searched on engines alone
            quality.setdefault(tuple(setting.items()), []).append(trial["quality"])
    assert all(len(found) == 2 and found[0] == found[1] for found in quality.values())


def test_a_study_over_vectors_resumes(study, data_dir):
    vectors = data_dir("csfcube") / "minilm.npy"
    made = study(*arguments(data_dir, ["bihash"], ("tables",), "--vectors", vectors))
    first = made.summary()
    rows = made.rows()
    assert made.summary("--sla-ms", "50")["trials"][0]["key"] == first["trials"][0]["key"]
    assert made.rows() == rows


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda v: v[:-1], "4204"),
        (lambda v: np.where(np.arange(len(v))[:, None] == 7, np.nan, v), "7"),
        (lambda v: v.reshape(-1), "shape"),
        (lambda v: v.astype(object), "object"),
        (lambda v: 0 * v, "zero"),
        (lambda v: v[:, :96], "bits 128"),
    ],
)
def test_vectors_that_cannot_be_used(study, data_dir, tmp_path, spoil, told):
    vectors = np.load(data_dir("csfcube") / "minilm.npy")
    np.save(tmp_path / "bad.npy", spoil(vectors), allow_pickle=True)
    made = study(
        *arguments(data_dir, ["bihash"], ("tables",)),
        *("--vectors", tmp_path / "bad.npy", "--bits", "128"),
    )
    _, errors = made.run(expect=2)
    lines = [line for line in errors.splitlines() if line.startswith("harness:")]
    assert len(lines) == 1
    assert told in lines[0]
    assert not list(made.folder.glob("study.sqlite")) or not made.rows()
