import json

import numpy as np
import pytest

from indexers import store
from indexers.errors import BackendError, SettingError
from indexers.registry import family
from indexers.types import Fingerprints, Queries, TableSize

TEXTS = [f"document {i} says {'abc' * (i % 5)}" for i in range(25)] + ["", "\ud800 lone", "中文"]
SIZE = TableSize(3, 4)
ARRAYS = ("status", "codes", "keys", "signatures")


def assert_same(a, b):
    assert a.atom == b.atom
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def made(name="minhash", texts=TEXTS, signatures=False):
    hasher = family(name).hasher(SIZE, bits=64, seed=5, signatures=signatures)
    return hasher(texts)


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
        bits=64,
        seed=5,
        signatures=signatures,
        progress=steps.append,
    )
    assert_same(fp, made(name, signatures=signatures))
    assert sum(steps) == len(TEXTS)
    assert max(steps) <= block
    assert isinstance(fp.keys, np.memmap)
    assert not fp.keys.flags.writeable


def test_a_corpus_without_texts(tmp_path):
    fp = store.fingerprint_corpus(family("simhash"), [], tmp_path, SIZE, bits=64, seed=5)
    assert (len(fp), fp.bits, fp.keys.shape) == (0, 64, (3, 1, 0))


def test_sizes_are_refused_before_anything_is_written(tmp_path):
    folder = tmp_path / "new"
    with pytest.raises(SettingError):
        store.fingerprint_corpus(family("simhash"), TEXTS, folder, TableSize(0, 1), bits=64, seed=5)
    assert not folder.exists()


@pytest.mark.parametrize("signatures", [False, True])
def test_fingerprints_come_back(tmp_path, signatures):
    fp = made(signatures=signatures)
    store.save_fingerprints(tmp_path, fp, seed=5)
    assert_same(store.load_fingerprints(tmp_path, seed=5), fp)


def test_old_signatures_do_not_come_back(tmp_path):
    store.save_fingerprints(tmp_path, made(signatures=True))
    store.save_fingerprints(tmp_path, made(signatures=False))
    assert store.load_fingerprints(tmp_path).signatures is None


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
    store.fingerprint_corpus(family("simhash"), TEXTS, tmp_path, SIZE, bits=64, seed=5)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["parameters"] == {
        "family": "simhash",
        "version": 1,
        "seed": 5,
        "shingle_size": 3,
    }
    assert manifest["arrays"]["keys"] == {"dtype": "uint32", "shape": [3, 1, len(TEXTS)]}
    assert manifest["bit_order"] == "big"


@pytest.mark.parametrize(
    ("name", "value"), [("family", "simhash"), ("version", 2), ("seed", 6), ("shingle_size", 3)]
)
def test_fingerprints_made_otherwise_are_refused(stored, name, value):
    with pytest.raises(BackendError, match=f"have {name} .*, not {value!r}"):
        store.load_fingerprints(stored, **{name: value})


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
        store.fingerprint_corpus(
            family("simhash"), TEXTS, tmp_path / "file" / "x", SIZE, bits=64, seed=5
        )
    with pytest.raises(BackendError, match="cannot be written"):
        store.save_ids(tmp_path / "file" / "ids.json", [])
