import json
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from indexers import store
from indexers.errors import BackendError, SettingError
from indexers.index_types import Queries
from indexers.registry import family
from indexers.types import Fingerprints, HashParams, Ragged, TableSize

TEXTS = [f"document {i} says {'abc' * (i % 5)}" for i in range(25)] + ["", "\ud800 lone", "中文"]
SIZE = TableSize(3, 4)
PARAMS = HashParams(bits=64, seed=5)
ARRAYS = ("status", "codes", "keys", "signatures", "vectors")


def assert_same(a, b):
    assert a.atom == b.atom
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for name in ("hashes", "strings"):
        mine, other = getattr(a, name), getattr(b, name)
        assert (mine is None) == (other is None)
        if mine is not None:
            np.testing.assert_array_equal(mine.indptr, other.indptr)
            np.testing.assert_array_equal(mine.values, other.values)
            assert mine.values.dtype == other.values.dtype


def made(name="minhash", texts=TEXTS, signatures=False):
    return family(name).hasher(SIZE, replace(PARAMS, signatures=signatures))(texts)


def ragged(lists, dtype):
    indptr = np.cumsum([0, *map(len, lists)])
    return Ragged(indptr, np.array([value for one in lists for value in one], dtype))


class Words:
    """Hashes, strings and vectors of texts, without codes or tables."""

    def __init__(self):
        self.learned = []

    def learn(self, texts):
        self.learned += texts

    def learnt(self):
        return ""

    def __call__(self, texts):
        n = len(texts)
        return Fingerprints(
            np.array([not text for text in texts], np.uint8),
            np.zeros((n, 0), np.uint8),
            np.zeros((0, 0, n), np.uint32),
            "bit",
            hashes=ragged([[2**63 + ord(c) for c in text[:5]] for text in texts], np.uint64),
            strings=ragged([text[:3].encode("ascii", "replace") for text in texts], np.uint8),
            vectors=np.array([[len(text), 1] for text in texts], np.float32).reshape(n, 2),
        )


WORDS = SimpleNamespace(
    name="words",
    version=3,
    atom="bit",
    forms=("sequence", "string", "vector"),
    reads=("shingle_size", "unit", "weighting", "window", "dimension"),
    nested=True,
    hasher=lambda *_: Words(),
)


@pytest.fixture
def stored(tmp_path):
    store.save_fingerprints(tmp_path, made(), family="minhash", version=1, seed=5)
    return tmp_path


@pytest.mark.parametrize(("name", "signatures"), [("simhash", False), ("minhash", True)])
@pytest.mark.parametrize("block", [1, 7, 16_384])
def test_a_corpus_in_blocks_is_the_corpus_at_once(tmp_path, monkeypatch, name, signatures, block):
    monkeypatch.setattr(store, "BLOCK", block)
    steps = []
    fp = store.fingerprint_corpus(
        family(name),
        TEXTS,
        tmp_path / "new" / "folder",
        SIZE,
        replace(PARAMS, signatures=signatures),
        progress=steps.append,
    )
    assert_same(fp, made(name, signatures=signatures))
    assert sum(steps) == len(TEXTS)
    assert max(steps) <= block
    assert isinstance(fp.keys, np.memmap)
    assert not fp.keys.flags.writeable


@pytest.mark.parametrize("block", [1, 7, 16_384])
@pytest.mark.parametrize("texts", [TEXTS, ["", ""], []])
def test_lists_and_vectors_in_blocks_are_those_at_once(tmp_path, monkeypatch, block, texts):
    monkeypatch.setattr(store, "BLOCK", block)
    fp = store.fingerprint_corpus(WORDS, texts, tmp_path, SIZE, PARAMS)
    assert_same(fp, Words()(texts))
    assert fp.forms == ("sequence", "string", "vector")
    store.save_fingerprints(tmp_path / "again", fp)
    assert_same(store.load_fingerprints(tmp_path / "again"), fp)


def test_all_is_learned_before_anything_is_hashed_where_weights_need_it(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "BLOCK", 7)
    for weighting, learned in (("tf", []), ("idf", TEXTS)):
        hasher, seen = Words(), []
        hash_block = hasher.__call__

        class Watched:
            learn, learnt = hasher.learn, hasher.learnt

            def __call__(self, texts, hash_block=hash_block, hasher=hasher, seen=seen):
                seen.append(len(hasher.learned))
                return hash_block(texts)

        params = replace(PARAMS, weighting=weighting)
        store.fingerprint_corpus(WORDS, TEXTS, tmp_path, SIZE, params, hasher=Watched())
        assert hasher.learned == learned
        assert set(seen) == {len(learned)}


def test_vectors_are_hashed_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "BLOCK", 7)
    vectors = np.arange(60, dtype=np.float32).reshape(20, 3)

    def hasher(block):
        assert (block.dtype, block.shape[1]) == (np.float32, 3)
        n = len(block)
        empty = (np.zeros(n, np.uint8), np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32))
        return Fingerprints(*empty, "bit", vectors=block)

    fp = store.fingerprint_corpus(WORDS, vectors, tmp_path, SIZE, PARAMS, hasher=hasher)
    np.testing.assert_array_equal(fp.vectors, vectors)


def test_memory_does_not_grow_with_the_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "BLOCK", 100)
    peaks = []
    for n in (1_000, 8_000):
        texts = ["abcde"] * n
        tracemalloc.start()
        store.fingerprint_corpus(WORDS, texts, tmp_path, SIZE, PARAMS)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]  # mapped files are not counted, nor have they to be held


def test_a_corpus_without_texts(tmp_path):
    fp = store.fingerprint_corpus(family("simhash"), [], tmp_path, SIZE, PARAMS)
    assert (len(fp), fp.bits, fp.keys.shape) == (0, 64, (3, 1, 0))


def test_sizes_are_refused_before_anything_is_written(tmp_path):
    folder = tmp_path / "new"
    with pytest.raises(SettingError):
        store.fingerprint_corpus(family("simhash"), TEXTS, folder, TableSize(0, 1), PARAMS)
    assert not folder.exists()


@pytest.mark.parametrize("signatures", [False, True])
def test_fingerprints_come_back(tmp_path, signatures):
    fp = made(signatures=signatures)
    store.save_fingerprints(tmp_path, fp, seed=5)
    assert_same(store.load_fingerprints(tmp_path, seed=5), fp)


def test_old_arrays_do_not_come_back(tmp_path):
    store.save_fingerprints(tmp_path, made(signatures=True))
    store.save_fingerprints(tmp_path, Words()(TEXTS))
    store.save_fingerprints(tmp_path, made(signatures=False))
    assert store.load_fingerprints(tmp_path).forms == ("bits",)
    assert {path.stem for path in tmp_path.glob("*.npy")} == {"status", "codes", "keys"}


def test_mapped_fingerprints_can_be_written_over_themselves(tmp_path):
    store.save_fingerprints(tmp_path, made())
    store.save_fingerprints(tmp_path, store.load_fingerprints(tmp_path))
    assert_same(store.load_fingerprints(tmp_path), made())


def test_queries_come_back(tmp_path):
    queries = Queries(TEXTS, made())
    store.save_queries(tmp_path / "queries", queries, seed=5)
    loaded = store.load_queries(tmp_path / "queries", seed=5)
    assert list(loaded.texts) == TEXTS
    assert_same(loaded.fingerprints, queries.fingerprints)


def test_queries_without_fingerprints_replace_those_with(tmp_path):
    store.save_queries(tmp_path, Queries(TEXTS, made()))
    store.save_queries(tmp_path, Queries(["other"], None))
    loaded = store.load_queries(tmp_path)
    assert (list(loaded.texts), loaded.fingerprints) == (["other"], None)


def test_ids_come_back(tmp_path):
    ids = ["", "a\nb", "中", "\ud800", '"']
    store.save_ids(tmp_path / "ids.json", ids)
    assert store.load_ids(tmp_path / "ids.json") == ids


def test_the_manifest_says_what_made_them(tmp_path):
    store.fingerprint_corpus(WORDS, TEXTS, tmp_path, SIZE, PARAMS)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["parameters"] == {
        "family": "words",
        "version": 3,
        "seed": 5,
        "shingle_size": 3,
        "unit": "char",
        "weighting": "tf",
        "window": 5,
        "dimension": None,
    }
    assert manifest["arrays"]["vectors"] == {"dtype": "float32", "shape": [len(TEXTS), 2]}
    assert manifest["bit_order"] == "big"


def test_what_a_family_does_not_read_is_not_told():
    told = store.hash_parameters(family("minhash"), SIZE, PARAMS)
    assert {"bits", "seed"} <= set(told)
    assert not {"window", "dimension", "signatures", "num_tables"} & set(told)
    cut = SimpleNamespace(name="cut", version=1, forms=(), reads=(), nested=False)
    assert store.hash_parameters(cut, SIZE, PARAMS) == {
        "family": "cut",
        "version": 1,
        "seed": 5,
        "num_tables": 3,
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", 6),
        ("shingle_size", 4),
        ("unit", "word"),
        ("weighting", "idf"),
        ("window", 4),
        ("dimension", 3),
    ],
)
def test_fingerprints_made_otherwise_are_refused(tmp_path, name, value):
    store.fingerprint_corpus(WORDS, TEXTS, tmp_path, SIZE, PARAMS)
    expected = store.hash_parameters(WORDS, SIZE, PARAMS)
    assert len(store.load_fingerprints(tmp_path, **expected)) == len(TEXTS)
    other = store.hash_parameters(WORDS, SIZE, replace(PARAMS, **{name: value}))
    with pytest.raises(BackendError, match=f"have {name} .*, not {value!r}"):
        store.load_fingerprints(tmp_path, **other)


@pytest.mark.parametrize(
    ("name", "value"), [("family", "simhash"), ("version", 2), ("unit", "word")]
)
def test_parameters_that_are_not_told_are_refused(stored, name, value):
    with pytest.raises(BackendError, match=f"have {name} .*, not {value!r}"):
        store.load_fingerprints(stored, **{name: value})


@pytest.mark.parametrize("indptr", [[], [0, 2, 1, 5], [1, 2, 3, 5], [0, 1, 2, 4], [0, 1, 2, 6]])
def test_lists_out_of_bounds_are_refused(tmp_path, indptr):
    lists = Ragged(np.array(indptr, np.int64), np.arange(5, dtype=np.uint64))
    store.save_fingerprints(tmp_path, replace(made(texts=["a", "b", "c"]), hashes=lists))
    with pytest.raises(BackendError, match="damaged: hashes_indptr"):
        store.load_fingerprints(tmp_path)


@pytest.mark.parametrize("name", ["hashes_indptr", "hashes_values", "strings_values", "vectors"])
def test_missing_lists_are_refused(tmp_path, name):
    store.save_fingerprints(tmp_path, Words()(TEXTS))
    (tmp_path / f"{name}.npy").unlink()
    with pytest.raises(BackendError, match=rf"damaged: {name}\.npy"):
        store.load_fingerprints(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"), [("format", 0), ("normaliser", "other"), ("bit_order", "little")]
)
def test_other_conventions_are_refused(stored, name, value):
    path = stored / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.raises(BackendError, match=f"{name} {value!r}.*hash again"):
        store.load_fingerprints(stored)


@pytest.mark.parametrize(
    ("name", "value"), [("atom", "byte"), ("arrays", None), ("arrays", {}), ("parameters", [])]
)
def test_damaged_manifests_are_refused(stored, name, value):
    path = stored / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.raises(BackendError, match="damaged"):
        store.load_fingerprints(stored)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
def test_manifests_that_are_no_json_are_refused(stored, content):
    (stored / "manifest.json").write_bytes(content)
    with pytest.raises(BackendError, match="damaged"):
        store.load_fingerprints(stored)


@pytest.mark.parametrize("name", ["status", "codes", "keys"])
@pytest.mark.parametrize("kept", [None, 0, 40, -1])
def test_missing_and_cut_arrays_are_refused(stored, name, kept):
    path = stored / f"{name}.npy"
    content = path.read_bytes()
    path.unlink()
    if kept is not None:
        path.write_bytes(content[:kept])
    with pytest.raises(BackendError, match=rf"damaged: {name}\.npy"):
        store.load_fingerprints(stored)


def test_arrays_of_another_type_are_refused(stored):
    np.save(stored / "keys.npy", np.zeros((3, 4, len(TEXTS)), np.int32))
    with pytest.raises(BackendError, match=r"keys\.npy is .*int32"):
        store.load_fingerprints(stored)


def test_arrays_of_different_lengths_are_refused(tmp_path):
    fp = made()
    broken = Fingerprints(fp.status[:3], fp.codes, fp.keys, fp.atom)
    store.save_fingerprints(tmp_path, broken)
    with pytest.raises(BackendError, match="differ in length"):
        store.load_fingerprints(tmp_path)


def test_queries_of_different_lengths_are_refused(tmp_path):
    store.save_queries(tmp_path, Queries(TEXTS[1:], made()))
    with pytest.raises(BackendError, match="27 texts and 28 fingerprints"):
        store.load_queries(tmp_path)


def test_nothing_there_is_said(tmp_path):
    with pytest.raises(BackendError, match="no fingerprints in"):
        store.load_fingerprints(tmp_path)
    with pytest.raises(BackendError, match=r"texts\.json is missing"):
        store.load_queries(tmp_path)


@pytest.mark.parametrize("content", ["", "{}", "[1]", '"a"'])
def test_broken_ids_are_refused(tmp_path, content):
    (tmp_path / "ids.json").write_text(content)
    with pytest.raises(BackendError, match=r"ids\.json"):
        store.load_ids(tmp_path / "ids.json")


def test_folders_that_cannot_be_written_are_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BackendError, match="cannot be written"):
        store.fingerprint_corpus(family("simhash"), TEXTS, tmp_path / "file" / "x", SIZE, PARAMS)
    with pytest.raises(BackendError, match="cannot be written"):
        store.save_ids(tmp_path / "file" / "ids.json", [])


def test_what_idf_learnt_is_in_the_manifest(tmp_path):
    simhash, params = family("simhash"), HashParams(bits=64, seed=5, weighting="idf")
    size = TableSize(2, 8)
    made_by = {}
    for name, texts in (("few", TEXTS[:1]), ("all", TEXTS)):
        hasher = simhash.hasher(size, params)
        store.fingerprint_corpus(simhash, texts, tmp_path / name, size, params, hasher=hasher)
        made_by[name] = store.hash_parameters(simhash, size, params, hasher)
    assert made_by["few"]["learnt"] != made_by["all"]["learnt"]
    store.load_fingerprints(tmp_path / "all", **made_by["all"])
    with pytest.raises(BackendError, match="have learnt"):
        store.load_fingerprints(tmp_path / "few", **made_by["all"])


def test_tf_has_nothing_learnt_in_the_manifest():
    params, size = HashParams(bits=64, seed=5), TableSize(2, 8)
    hasher = family("simhash").hasher(size, params)
    assert "learnt" not in store.hash_parameters(family("simhash"), size, params, hasher)
