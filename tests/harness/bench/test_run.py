"""A whole comparison: what it goes on without, and what it refuses before it measures."""

import json

import numpy as np
import pytest

from harness.bench import run as running
from harness.bench.config import bench_config
from harness.bench.run import measure
from harness.progress import Progress
from indexers import registry
from indexers.errors import MissingPackage, SettingError

WORDS = ["apple tree", "sea fish", "train ticket"]


@pytest.fixture
def small(tmp_path):
    documents = [{"_id": f"d{n}", "text": f"{WORDS[n % 3]} number {n} and more"} for n in range(12)]
    queries = [{"_id": f"q{n}", "text": WORDS[n]} for n in range(3)]
    for name, records in (("corpus", documents), ("queries", queries)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    judged = "".join(f"q{q}\td{d}\t{int(d % 3 == q)}\n" for q in range(3) for d in range(12))
    (tmp_path / "qrels.tsv").write_text(judged)
    return tmp_path


def measured(folder, **flags):
    config = bench_config({"corpus": str(folder), "resamples": 10, **flags})
    return measure(config, Progress())


def families(found):
    return {row["family"] for row in found["rows"]}


def refused(folder, **flags):
    with pytest.raises(SettingError) as caught:
        measured(folder, **flags)
    return caught.value.problems


def test_a_family_without_any_fingerprint_is_left_out(small, capsys):
    """A word again and again has too little in it for a fuzzy hash."""
    lines = (json.dumps({"_id": f"d{n}", "text": f"{WORDS[n % 3]} " * 900}) for n in range(12))
    (small / "corpus.jsonl").write_text("\n".join(lines))
    found = measured(small)
    assert families(found) >= {"simhash", "minhash", "karp_rabin"}
    assert "fuzzyhash" not in families(found)
    (line,) = (line for line in found["left_out"] if "fuzzyhash" in line)
    assert "none of the 12 documents gives a fingerprint" in line
    assert f"left out: {line}" in capsys.readouterr().err.splitlines()
    (told,) = refused(small, family="fuzzyhash,simhash")
    assert told == line


def test_a_refusal_tells_what_was_skipped(small):
    """Judgments of unknown documents leave pools of one kind, or none that is relevant."""
    unknown = "".join(f"q{q}\tx{n}\t0\n" for q in range(3) for n in range(4))
    (small / "qrels.tsv").write_text("q0\td0\t1\n" + unknown)
    (told,) = refused(small)
    assert "every order" in told
    assert "12 × unmatched judgment" in told
    (small / "qrels.tsv").write_text("q0\td0\t0\n" + unknown)
    (told,) = refused(small)
    assert "no judgment reaches" in told
    assert "12 × unmatched judgment" in told


def test_a_family_whose_package_is_missing_is_left_out(small, monkeypatch, capsys):
    def missing(*_):
        raise MissingPackage("winnowing needs something: pip install it")

    monkeypatch.setattr(type(registry.family("winnowing")), "hasher", missing)
    found = measured(small)
    assert "winnowing" not in families(found)
    assert "left out: winnowing needs something: pip install it" in capsys.readouterr().err
    with pytest.raises(MissingPackage):
        measured(small, family="winnowing")


def test_a_similarity_that_cannot_compare_is_left_out(small, monkeypatch, capsys):
    def refuses(*_):
        raise SettingError("a sequence has too many different hashes")

    monkeypatch.setattr(type(registry.similarity("levenshtein")), "matrix", refuses)
    found = measured(small)
    pairs = {(row["family"], row["similarity"]) for row in found["rows"]}
    assert ("winnowing", "jaccard") in pairs
    assert not any(similarity == "levenshtein" for _, similarity in pairs)
    line = "family winnowing by levenshtein: a sequence has too many different hashes"
    assert line in found["left_out"]
    assert f"left out: {line}" in capsys.readouterr().err.splitlines()
    assert "winnowing" in families(measured(small, family="winnowing"))
    (told,) = refused(small, family="winnowing", similarity="levenshtein")
    assert told == "a sequence has too many different hashes"


@pytest.fixture
def vectors(small):
    random = np.random.default_rng(4)
    np.save(small / "v.npy", random.normal(size=(12, 12)).astype(np.float32))
    np.save(small / "q.npy", random.normal(size=(3, 12)).astype(np.float32))
    return {"vectors": str(small / "v.npy"), "query_vectors": str(small / "q.npy")}


def test_a_family_whose_sizes_do_not_divide_is_left_out(small, vectors):
    """12 is no multiple of 8."""
    found = measured(small, **vectors)
    assert "lsh" in families(found)
    assert "bihash" not in families(found)
    assert any("bihash: no width of code fits D 12" in line for line in found["left_out"])
    assert "no width" in refused(small, family="bihash", **vectors)[0]


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        ({"family": "simhash", "hash_length": ("40",)}, "hash_length 40 is out of range"),
        ({"hash_length": ("simhash=40",)}, "hash_length 40 is out of range"),
        ({"hash_length": ("9999",)}, "hash_length 9999 is out of range"),
        ({"family": "simhash", "num_tables": ("minhash=5",)}, "is not compared here"),
        ({"num_tables": ("winnowing=5",)}, "has no tables"),
    ],
)
def test_sizes_are_refused_before_anything_is_measured(small, monkeypatch, flags, line):
    monkeypatch.setattr(running, "compare", None)
    assert any(line in problem for problem in refused(small, grid=True, **flags))


def test_sizes_that_unnamed_families_cannot_serve_are_dropped(small, vectors):
    found = measured(small, grid=True, num_tables=("4,5",), hash_length=("2,40",), **vectors)
    sizes = {}
    for cell in found["grid"]:
        sizes.setdefault(cell["family"], set()).add((cell["num_tables"], cell["hash_length"]))
    assert sizes["simhash"] == {(4, 2), (5, 2)}
    assert {tables for tables, _ in sizes["lshash"]} == {4}
    assert any("grid: lshash: num_tables 5 does not divide D 12" in x for x in found["left_out"])
    assert any("grid: simhash: hash_length 40 is out of" in x for x in found["left_out"])
