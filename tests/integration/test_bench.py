"""`harness bench` as a person runs it, on CSFCube and on small corpora."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

KEYS = {
    *("family", "similarity", "facet", "split", "MAP", "nDCG@20", "nDCG(discount=jk2)%20"),
    *("nDCG", "tie_share", "constant", "fingerprint_s", "similarity_s", "published"),
    *(f"{name}@{cutoff}" for name in ("P", "R", "F1") for cutoff in (5, 10, 15, 20, 25)),
}
TIMES = ("encode_s", "fingerprint_s", "similarity_s")


def bench(*arguments, hash_seed="0"):
    command = [sys.executable, "-c", "from harness.cli import main; main()", "bench"]
    return subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
    )


def rows_of(*arguments, **options):
    done = bench(*arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def mean_average_precision(found, family, split, similarity=None):
    """The best similarity's, or that of the one named."""
    return max(
        row["MAP"]
        for row in found["rows"]
        if (row["family"], row["facet"], row["split"]) == (family, "all", split)
        and similarity in (None, row["similarity"])
        and not row["constant"]
    )


@pytest.fixture(scope="module")
def texts(data_dir):
    return rows_of("--corpus", data_dir("csfcube"), "--protocol", "pool")


@pytest.fixture(scope="module")
def vectors(data_dir):
    folder = data_dir("csfcube")
    chosen = ("--family", "bge,bihash,lshash,lsh", "--vectors", folder / "minilm.npy", "--grid")
    return rows_of("--corpus", folder, *chosen)


def test_rows_have_what_was_promised(texts):
    assert texts["corpus"]["queries"] == 50
    assert texts["corpus"]["pairs"] == 6242
    for row in texts["rows"]:
        assert set(row) >= KEYS
        for name in KEYS - {"family", "similarity", "facet", "split", "published", "constant"}:
            assert row[name] >= 0
    assert {row["facet"] for row in texts["rows"]} == {"all", "background", "method", "result"}
    assert {row["split"] for row in texts["rows"]} == {"all", "dev", "test", "selected"}


def test_all_is_the_mean_over_pairs_of_query_and_facet(texts):
    by = {
        (row["family"], row["similarity"], row["facet"]): row
        for row in texts["rows"]
        if row["split"] == "all"
    }
    for (family, similarity, facet), row in by.items():
        if facet == "all":
            parts = [by[family, similarity, f] for f in ("background", "method", "result")]
            mean = sum(part["MAP"] * part["queries"] for part in parts) / 50
            assert row["MAP"] == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize(
    ("family", "least"),
    [
        ("minhash", 0.27),
        ("simhash", 0.21),
        ("flyhash", 0.26),
        ("winnowing", 0.28),
        ("fuzzyhash", 0.15),
    ],
)
def test_quality_of_texts(texts, family, least):
    assert mean_average_precision(texts, family, "selected") >= least


def test_no_scorer_is_perfect_and_none_is_constant(texts):
    for row in texts["rows"]:
        assert not row["constant"]
        assert row["MAP"] < 0.6


def test_quality_of_vectors(vectors):
    dense = mean_average_precision(vectors, "bge", "all", "cosine")
    assert dense >= 0.38
    best = {}
    for cell in vectors["grid"]:
        key = cell["family"], cell["bits"]
        best[key] = max(best.get(key, 0.0), cell["MAP"] / dense)
    assert best["bihash", 128] >= 0.78
    assert best["bihash", 384] >= 0.90
    assert best["lshash", 128] >= 0.75
    assert best["lshash", 512] >= 0.92


def test_another_process_gives_the_same_numbers(data_dir, texts):
    again = rows_of("--corpus", data_dir("csfcube"), hash_seed="77")
    assert _timeless(again) == _timeless(texts)


def _timeless(found):
    rows = [{k: v for k, v in row.items() if k not in TIMES} for row in found["rows"]]
    return rows, found["equivalent"], found["corpus"], found["unusable"]


def test_all_documents_are_harder_than_the_pool(data_dir):
    folder, chosen = data_dir("csfcube"), ("--family", "winnowing", "--similarity", "jaccard")
    pool = rows_of("--corpus", folder, *chosen)
    corpus = rows_of("--corpus", folder, *chosen, "--protocol", "corpus")
    values = [mean_average_precision(found, "winnowing", "all") for found in (pool, corpus)]
    assert values[0] > values[1] > 0
    assert all(row["published"] is None for row in corpus["rows"])


@pytest.fixture
def small(tmp_path):
    words = ["apple tree", "sea fish", "train ticket"]
    documents = [{"_id": f"d{n}", "text": f"{words[n % 3]} number {n} and more"} for n in range(12)]
    queries = [{"_id": f"q{n}", "text": words[n]} for n in range(3)]
    for name, records in (("corpus", documents), ("queries", queries)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    judged = [(q, d, int(d % 3 == q)) for q in range(3) for d in range(12)]
    qrels = "".join(f"q{q}\td{d}\t{label}\n" for q, d, label in judged)
    (tmp_path / "qrels.tsv").write_text(qrels)
    return tmp_path


def test_a_table_and_a_report(small, tmp_path):
    out = tmp_path / "out"
    done = bench("--corpus", small, "--family", "winnowing,simhash", "--grid", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "winnowing" in done.stdout
    assert "MAP" in done.stdout
    assert sorted(path.name for path in out.iterdir()) == ["bench.json", "report.html", "rows.csv"]
    assert "1/2 families" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--family", "nothing"), "family 'nothing' is unknown"),
        (("--similarity", "nothing"), "similarity 'nothing' is unknown"),
        (("--protocol", "nothing"), "--protocol"),
        (("--family", "simhash", "--similarity", "levenshtein"), "is not compared by levenshtein"),
        (("--family", "simhash", "--bits", "100"), "bits 100 is out of range"),
        (("--relevant-from", "5"), "no judgment reaches 5"),
        (("--family", "bge", "--vectors", "gone.npy"), "gone.npy"),
        (("--fields", "gone"), "no document has the field gone"),
        (("nothing",), "No such command"),
        (("--family", "simhash", "pair", "a", "b"), "before pair would change nothing"),
        (("--num-tables", "5"), "--num-tables is of the grid"),
        (("--grid", "--num-tables", "foo=5"), "'foo' is not a family"),
    ],
)
def test_bad_input_is_one_line(small, arguments, line):
    done = bench("--corpus", small, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    (told,) = done.stderr.splitlines()
    assert line in told


def test_vectors_that_are_not_finite(small):
    values = np.ones((12, 8), np.float32)
    values[5, 2] = np.nan
    np.save(small / "v.npy", values)
    done = bench("--corpus", small, "--family", "bge", "--vectors", small / "v.npy")
    assert done.returncode == 2
    assert "row 5" in done.stderr


def test_zero_vectors_rank_last(small):
    random = np.random.default_rng(1)
    values = random.normal(size=(12, 8)).astype(np.float32)
    values[[0, 4]] = 0
    np.save(small / "v.npy", values)
    np.save(small / "q.npy", random.normal(size=(3, 8)).astype(np.float32))
    given = ("--vectors", small / "v.npy", "--query-vectors", small / "q.npy")
    found = rows_of("--corpus", small, "--family", "bge", *given)
    assert found["unusable"] == {"bge": {"documents": {"empty": 2}}}
    assert {row["unusable"] for row in found["rows"]} == {6}


def test_equal_vectors_are_a_constant_row(small):
    np.save(small / "v.npy", np.ones((12, 8), np.float32))
    np.save(small / "q.npy", np.ones((3, 8), np.float32))
    given = ("--vectors", small / "v.npy", "--query-vectors", small / "q.npy")
    chosen = ("--family", "bge", "--similarity", "cosine")
    (row,) = rows_of("--corpus", small, *chosen, *given)["rows"]
    assert row["constant"]
    # four of twelve are relevant, in any order
    assert row["P@5"] == pytest.approx(4 / 12)
    done = bench("--corpus", small, *chosen, *given)
    assert "constant" in done.stdout


@pytest.mark.parametrize("labels", [(1, 1), (0, 0)])
def test_pools_of_one_kind_are_no_perfect_score(small, labels):
    (small / "qrels.tsv").write_text(f"q0\td0\t{labels[0]}\nq1\td1\t{labels[1]}\n")
    done = bench("--corpus", small, "--family", "winnowing")
    assert done.returncode == 2
    assert "no judgment reaches" in done.stderr or "every order" in done.stderr
