"""Weights kept from one corpus give other documents the fingerprints that the corpus would."""

import numpy as np
import pytest

from indexers.errors import SettingError
from indexers.learnt import LearntWeights, load_learnt, save_learnt, shingle_hashes
from indexers.registry import family
from indexers.types import HashParams, TableSize

SIZE = TableSize(4, 8)
CORPUS = [
    "the apple tree stands by the house",
    "the pear tree stands by the road",
    "a house by the road",
    "zebras",
    "",
]
OTHERS = ["the zebra by the house", "quite unheard words", "the", ""]


def learnt_hasher(name, texts=CORPUS, **params):
    params = HashParams(bits=128, seed=3, weighting="idf", **params)
    hasher = family(name).hasher(SIZE, params)
    hasher.learn(texts)
    return hasher, params


@pytest.mark.parametrize("name", ["simhash", "flyhash"])
@pytest.mark.parametrize("unit", ["char", "word"])
def test_a_hasher_that_loads_them_hashes_alike(name, unit, tmp_path):
    first, params = learnt_hasher(name, unit=unit, shingle_size=2)
    save_learnt(first, tmp_path / "w.npz")
    second = family(name).hasher(SIZE, params)
    load_learnt(second, tmp_path / "w.npz", first.learnt())
    assert second.learnt() == first.learnt()
    for texts in (OTHERS, CORPUS[::-1], OTHERS):  # ids of shingles come in another order
        one, other = first(texts), second(texts)
        np.testing.assert_array_equal(one.codes, other.codes)
        np.testing.assert_array_equal(one.keys, other.keys)
    second.learn(OTHERS)  # learns no more
    assert second.learnt() == first.learnt()


def test_without_them_it_hashes_otherwise():
    first, params = learnt_hasher("simhash")
    plain = family("simhash").hasher(SIZE, params)
    plain.learn(OTHERS)
    assert (first(OTHERS).codes != plain(OTHERS).codes).any()


def test_the_kept_weights_are_those_of_the_definition(tmp_path):
    """ln((2n + 2) / (2 df + 1)) in eighths: n = 3, df("b c") = 1 -> 8 ln(8/3) = 7.85 -> 8."""
    hasher, _ = learnt_hasher("simhash", ["a b", "a b", "b c"], unit="word", shingle_size=2)
    save_learnt(hasher, tmp_path / "w.npz")
    with np.load(tmp_path / "w.npz") as held:
        weights = dict(zip(held["hashes"].tolist(), held["weights"].tolist(), strict=True))
        assert (np.diff(held["hashes"].astype(object)) > 0).all()
        # 8 ln 8 = 16.6 -> 17 for a shingle that no document holds
        assert held["unseen"] == 17
    # df("a b") = 2 -> 8 ln(8/5) = 3.76 -> 4
    assert sorted(weights.values()) == [4, 8]


def test_hasher_without_weights_keeps_nothing(tmp_path):
    hasher = family("simhash").hasher(SIZE, HashParams(bits=128, seed=3))
    save_learnt(hasher, tmp_path / "w.npz")
    minhash = family("minhash").hasher(SIZE, HashParams(bits=128, seed=3))
    save_learnt(minhash, tmp_path / "w.npz")
    assert not (tmp_path / "w.npz").exists()


def test_an_empty_table_gives_every_shingle_the_same(tmp_path):
    hasher, params = learnt_hasher("simhash", [""])
    save_learnt(hasher, tmp_path / "w.npz")
    other = family("simhash").hasher(SIZE, params)
    load_learnt(other, tmp_path / "w.npz", hasher.learnt())
    np.testing.assert_array_equal(other(OTHERS).codes, hasher(OTHERS).codes)


def test_other_or_damaged_weights_are_refused(tmp_path):
    hasher, _ = learnt_hasher("simhash")
    path = tmp_path / "w.npz"
    with pytest.raises(SettingError, match="cannot be read"):
        load_learnt(hasher, path, hasher.learnt())
    save_learnt(hasher, path)
    with pytest.raises(SettingError, match=r"not 0123"):
        load_learnt(hasher, path, "0123")
    minhash = family("minhash").hasher(SIZE, HashParams(bits=128, seed=3))
    with pytest.raises(SettingError):
        load_learnt(minhash, path, hasher.learnt())
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(SettingError, match="cannot be read"):
        load_learnt(hasher, path, hasher.learnt())


def test_hashes_of_shingles_are_of_their_bytes_alone():
    one, two = shingle_hashes([b"abc", b"abd"]), shingle_hashes([b"abd", b"abc"])
    assert one.tolist() == two.tolist()[::-1]
    assert one.dtype == np.uint64
    assert len(LearntWeights("", one, np.zeros(2, np.uint8), 1).hashes) == 2
