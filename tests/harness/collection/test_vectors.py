import gzip
import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.collection.source import open_corpus
from harness.collection.vectors import (
    VectorSource,
    dimension_of,
    identity_of,
    read_vectors,
    vectors_of,
)
from indexers.errors import CorpusError, MissingPackage, SettingError

IDS = ["b", "a", "c"]
VECTORS = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [0, 0, 0, 0]], np.float32)


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture
def folder(tmp_path):
    """A BEIR folder: documents b, a, c; queries q2 (b itself), q1 (a itself)."""
    lines(tmp_path / "corpus.jsonl", [{"_id": name, "text": f"text {name}"} for name in IDS])
    queries = [("q2", "b"), ("q1", "a")]
    lines(
        tmp_path / "queries.jsonl",
        [{"_id": q, "text": "x", "metadata": {"paper_id": d}} for q, d in queries],
    )
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tc\t1\nq2\tc\t1\n")
    return tmp_path


def saved(folder, array, name="v.npy"):
    np.save(folder / name, array)
    return str(folder / name)


def parquet(folder, name="v.parquet", **columns):
    pq.write_table(pa.table(columns), folder / name)
    return str(folder / name)


def refused(run, kind=CorpusError):
    with pytest.raises(kind) as caught:
        run()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
def test_npy_of_any_precision(tmp_path, dtype):
    spec = saved(tmp_path, VECTORS.astype(dtype))
    table = read_vectors(spec)
    np.testing.assert_array_equal(table.vectors, VECTORS)
    assert (table.vectors.dtype, table.ids) == (np.float32, None)
    assert dimension_of(VectorSource(spec)) == 4


def test_npy_in_fortran_order_and_other_format_versions(tmp_path):
    spec = saved(tmp_path, np.asfortranarray(VECTORS))
    np.testing.assert_array_equal(read_vectors(spec).vectors, VECTORS)
    for version in ((1, 0), (2, 0), (3, 0)):
        with (tmp_path / "w.npy").open("wb") as stream:
            np.lib.format.write_array(stream, VECTORS, version=version)
        np.testing.assert_array_equal(read_vectors(str(tmp_path / "w.npy")).vectors, VECTORS)


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float32()),
        pa.list_(pa.float64(), 4),
        pa.large_list(pa.float32()),
        pa.list_(pa.int32()),
        pa.list_(pa.float16()),
    ],
)
def test_parquet_lists_of_any_kind(tmp_path, kind):
    rows = VECTORS.astype(np.float16 if kind.value_type == pa.float16() else int)
    column = pa.array([list(row) for row in rows], kind)
    spec = parquet(tmp_path, id=IDS, text=IDS, emb=column)
    for given in (spec, f"{spec}:emb"):
        table = read_vectors(given)
        np.testing.assert_array_equal(table.vectors, VECTORS)
        assert table.ids == IDS
        assert dimension_of(VectorSource(given)) == 4


def test_a_parquet_slice_of_many_row_groups(tmp_path):
    made = np.arange(4000, dtype=np.float32).reshape(1000, 4)
    pq.write_table(pa.table({"v": list(made)}), tmp_path / "v.parquet", row_group_size=17)
    np.testing.assert_array_equal(read_vectors(str(tmp_path / "v.parquet")).vectors, made)


def test_rows_follow_the_corpus_file_and_ordinals_the_ids(folder):
    corpus = open_corpus(str(folder))
    documents, queries = vectors_of(corpus, VectorSource(saved(folder, VECTORS)))
    assert corpus.ids == ["a", "b", "c"]
    np.testing.assert_array_equal(documents, VECTORS[[1, 0, 2]])
    np.testing.assert_array_equal(queries, VECTORS[[0, 1]])


def test_rows_of_a_single_file_of_documents(folder):
    corpus = open_corpus(str(folder / "corpus.jsonl"))
    documents, queries = vectors_of(corpus, VectorSource(saved(folder, VECTORS)))
    np.testing.assert_array_equal(documents, VECTORS[[1, 0, 2]])
    np.testing.assert_array_equal(queries, VECTORS[[1, 0, 2]])


def test_the_catalogue_is_in_the_order_of_its_ids(tmp_path):
    corpus = open_corpus("catalogue:100")
    made = np.arange(200, dtype=np.float32).reshape(100, 2)
    asked = np.ones((len(corpus.query_ids), 2), np.float32)
    source = VectorSource(saved(tmp_path, made), saved(tmp_path, asked, "q.npy"))
    documents, queries = vectors_of(corpus, source)
    np.testing.assert_array_equal(documents, made)
    np.testing.assert_array_equal(queries, asked)


def test_parquet_rows_are_found_by_id(folder):
    corpus = open_corpus(str(folder))
    extra = np.full((1, 4), 9, np.float32)
    spec = parquet(
        folder, _id=["c", "x", "b", "a"], v=list(np.vstack([VECTORS[2:], extra, VECTORS[:2]]))
    )
    asked = parquet(folder, "q.parquet", id=["q1", "q2"], v=list(VECTORS[:2] * 2))
    documents, queries = vectors_of(corpus, VectorSource(spec, asked))
    np.testing.assert_array_equal(documents, VECTORS[[1, 0, 2]])
    np.testing.assert_array_equal(queries, VECTORS[[1, 0]] * 2)


def test_whole_numbers_as_ids(folder):
    lines(folder / "corpus.jsonl", [{"_id": name, "text": "t"} for name in (7, 3, 5)])
    spec = parquet(folder, _id=[3, 5, 7], v=list(VECTORS))
    corpus = open_corpus(str(folder / "corpus.jsonl"))
    np.testing.assert_array_equal(vectors_of(corpus, VectorSource(spec))[0], VECTORS)


def test_queries_of_another_split_have_rows_too(folder):
    (folder / "qrels.tsv").unlink()
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tc\t1\n")
    corpus = open_corpus(str(folder))
    assert corpus.query_ids == ["q1"]
    documents = saved(folder, VECTORS)
    both, alone = saved(folder, VECTORS[1:], "both.npy"), saved(folder, VECTORS[1:2], "one.npy")
    for spec, expected in ((both, VECTORS[2:]), (alone, VECTORS[1:2])):
        np.testing.assert_array_equal(
            vectors_of(corpus, VectorSource(documents, spec))[1], expected
        )


def test_queries_without_vectors_are_refused(folder):
    lines(folder / "queries.jsonl", [{"_id": "q1", "text": "x"}, {"_id": "a", "text": "y"}])
    corpus = open_corpus(str(folder))
    spec = saved(folder, VECTORS)
    told = refused(lambda: vectors_of(corpus, VectorSource(spec)), SettingError)
    assert "1 of the 2 queries are no documents" in told
    assert "--query-vectors" in told
    told = refused(lambda: dimension_of(VectorSource(None, spec)), SettingError)
    assert "--query-vectors without --vectors" in told


def test_counts_that_differ_are_told(folder):
    corpus = open_corpus(str(folder))
    good, short = saved(folder, VECTORS), saved(folder, VECTORS[:2], "short.npy")
    told = refused(lambda: vectors_of(corpus, VectorSource(short)))
    assert "2 vectors" in told
    assert "3 documents" in told
    told = refused(lambda: vectors_of(corpus, VectorSource(good, good)))
    assert "3 vectors" in told
    assert "2 queries" in told
    narrow = saved(folder, VECTORS[:2, :3], "narrow.npy")
    assert "D 3" in refused(lambda: vectors_of(corpus, VectorSource(good, narrow)))
    lacking = parquet(folder, _id=["a", "b"], v=list(VECTORS[:2]))
    assert "1 of the 3 documents, such as 'c'" in refused(
        lambda: vectors_of(corpus, VectorSource(lacking))
    )


def test_values_that_are_no_numbers_are_refused(tmp_path):
    for value in (np.nan, np.inf, 1e39):
        wrong = VECTORS.astype(np.float64)
        wrong[1, 2] = value
        assert "row 1" in refused(lambda w=wrong: read_vectors(saved(tmp_path, w)))
    many = np.zeros((20_000, 2), np.float32)
    many[[10_001, 15_000], 1] = np.nan
    assert "row 10001" in refused(lambda: read_vectors(saved(tmp_path, many)))
    with_null = pa.array([[1.0, 2.0], [3.0, None]])
    assert "row 1" in refused(lambda: read_vectors(parquet(tmp_path, v=with_null)))
    assert "row 0" in refused(lambda: read_vectors(parquet(tmp_path, v=[None, [1.0]])))


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (VECTORS[0], r"shape (4,)"),
        (VECTORS[None], r"shape (1, 3, 4)"),
        (VECTORS[:, :0], r"shape (3, 0)"),
        (VECTORS.astype(int), "int64 values"),
        (VECTORS.astype(complex), "complex128 values"),
        (np.array([[{}]]), "Python objects"),
        (np.float32(3), "shape ()"),
    ],
)
def test_other_arrays_are_refused(tmp_path, array, told):
    spec = saved(tmp_path, array)
    assert told in refused(lambda: read_vectors(spec))
    assert told in refused(lambda: dimension_of(VectorSource(spec)))


def test_lists_of_different_lengths_are_refused(tmp_path):
    spec = parquet(tmp_path, v=[[1.0, 2.0], [1.0]])
    assert "row 1 (from 0) has 1 values" in refused(lambda: read_vectors(spec))
    assert "all must have the same D" in refused(
        lambda: read_vectors(parquet(tmp_path, v=pa.array([[], []], pa.list_(pa.float32()))))
    )
    nothing = parquet(tmp_path, v=pa.array([], pa.list_(pa.float32())))
    for run in (read_vectors, lambda spec: dimension_of(VectorSource(spec))):
        assert "no rows" in refused(lambda run=run: run(nothing))


def test_columns_that_cannot_be_used_are_told_with_those_that_can(tmp_path):
    spec = parquet(tmp_path, a=[[1.0]], b=[[2.0]], text=["x"])
    assert "choose FILE:COLUMN from: a, b" in refused(lambda: read_vectors(spec), SettingError)
    assert "'c' is not there" in refused(lambda: read_vectors(f"{spec}:c"), SettingError)
    assert "'text' is no list" in refused(lambda: read_vectors(f"{spec}:text"), SettingError)
    none = parquet(tmp_path, "n.parquet", text=["x"])
    assert "none (there: text)" in refused(lambda: read_vectors(none), SettingError)
    npy = saved(tmp_path, VECTORS)
    assert "no columns" in refused(lambda: read_vectors(f"{npy}:x"), SettingError)


def test_ids_that_cannot_be_used_are_refused(tmp_path):
    two = list(VECTORS[:2])
    assert "twice, in rows 0 and 1" in refused(
        lambda: read_vectors(parquet(tmp_path, _id=["a", "a"], v=two))
    )
    for ids in ([None, "a"], [1.5, 2.5], ["", "a"]):
        assert "row 0" in refused(lambda ids=ids: read_vectors(parquet(tmp_path, _id=ids, v=two)))


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "text.npy").write_text("hello")
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "cut.npy").write_bytes((tmp_path / saved(tmp_path, VECTORS)).read_bytes()[:-8])
    (tmp_path / "head.npy").write_bytes(b"\x93NUMPY\x01\x00\xff\xff{")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and nothing more")
    (tmp_path / "v.npy.gz").write_bytes(gzip.compress(b"\x93NUMPY"))
    np.savez(tmp_path / "v.npz", VECTORS)
    for name in ("text.npy", "empty.npy", "cut.npy", "head.npy", "cut.parquet", "v.npy.gz"):
        assert name in refused(lambda name=name: read_vectors(str(tmp_path / name)))
    assert "archive" in refused(lambda: read_vectors(str(tmp_path / "v.npz")))
    for spec in (str(tmp_path), str(tmp_path / "none.npy"), "", "a\0b", f"{tmp_path}/none:v"):
        refused(lambda spec=spec: read_vectors(spec))


def test_a_file_whose_name_has_a_colon(tmp_path):
    spec = saved(tmp_path, VECTORS, "a:b.npy")
    np.testing.assert_array_equal(read_vectors(spec).vectors, VECTORS)


def test_without_pyarrow(tmp_path, monkeypatch):
    spec = parquet(tmp_path, v=list(VECTORS))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackage, match=r"pip install '\.\[parquet\]'"):
        read_vectors(spec)


def test_identity_follows_content(folder):
    spec = saved(folder, VECTORS)
    first = identity_of(VectorSource(spec))
    assert identity_of(VectorSource(spec)) == first
    assert identity_of(VectorSource(saved(folder, VECTORS, "same.npy"))) == first
    assert identity_of(VectorSource(spec, spec)) != first
    assert identity_of(VectorSource(spec, device="cuda", batch_size=7)) == first
    assert identity_of(VectorSource(saved(folder, VECTORS + 1))) != first


def test_csfcube_with_its_own_vectors(data_dir):
    folder = data_dir("csfcube")
    corpus = open_corpus(str(folder))
    documents, queries = vectors_of(corpus, VectorSource(str(folder / "minilm.npy")))
    with (folder / "corpus.jsonl").open() as rows:
        in_file = [json.loads(row)["_id"] for row in rows]
    raw = np.load(folder / "minilm.npy")
    for row in (0, 1, 777, 4204):
        np.testing.assert_array_equal(documents[corpus.ids.index(in_file[row])], raw[row])
    own = [name.rpartition("_")[0] for name in corpus.query_ids]
    np.testing.assert_array_equal(queries, raw[[in_file.index(name) for name in own]])


def test_progress_counts_documents_and_queries(folder):
    told = []
    vectors_of(open_corpus(str(folder)), VectorSource(saved(folder, VECTORS)), told.append)
    assert sum(told) == 5


def test_no_heavy_package_is_loaded_for_npy(tmp_path):
    spec = saved(tmp_path, VECTORS)
    script = (
        "import sys; from harness.collection.vectors import *; "
        f"s = VectorSource({spec!r}); dimension_of(s); identity_of(s); read_vectors(s.vectors); "
        "print({'torch', 'transformers', 'pyarrow', 'numba', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
