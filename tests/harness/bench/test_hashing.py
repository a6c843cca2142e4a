"""The bench's parameters, and fingerprints in memory."""

import numpy as np
import pytest

from harness.bench import hashing
from indexers import registry
from indexers.errors import SettingError
from indexers.types import Fingerprints, Ragged, TableSize

TEXTS = [f"word{n} word{n + 1} some words of document number {n}" for n in range(40)]
VECTORS = np.random.default_rng(1).normal(size=(40, 48)).astype(np.float32)


def test_defaults_and_what_was_asked_for():
    plain = hashing.bench_params("minhash")
    assert (plain.bits, plain.seed, plain.unit, plain.shingle_size) == (1024, 123, "word", 1)
    assert plain.signatures
    asked = hashing.bench_params("minhash", bits=256, seed=7, unit="char", shingle_size=5)
    assert (asked.bits, asked.seed, asked.unit, asked.shingle_size) == (256, 7, "char", 5)
    assert hashing.bench_params("winnowing", window=9).window == 9
    with pytest.raises(SettingError, match="family 'nothing' is unknown"):
        hashing.bench_params("nothing")


def test_flyhash_has_a_seed_of_its_own():
    assert hashing.bench_params("flyhash").seed == 55
    assert hashing.bench_params("flyhash", seed=7).seed == 7
    assert {hashing.bench_params(name).seed for name in ("simhash", "minhash")} == {123}


def test_widths_are_the_families_own():
    assert hashing.bench_params("simhash").bits == 256
    assert hashing.bench_params("simhash", bits=64).bits == 64
    assert hashing.bench_params("lsh", dimension=48).bits == 128
    assert hashing.bench_params("winnowing").bits == 0
    # 128 does not divide 48, and 48 values make no more than 48 bits
    assert hashing.bench_params("bihash", dimension=48).bits == 48
    assert hashing.bench_params("bihash", dimension=256).bits == 128
    assert hashing.bench_params("bihash", dimension=48, bits=24).bits == 24


@pytest.mark.parametrize(
    ("dimension", "tables"), [(384, 16), (1024, 16), (48, 16), (50, 25), (7, 7)]
)
def test_tables_of_a_cut_code(dimension, tables):
    params = hashing.bench_params("lshash", dimension=dimension)
    assert hashing.bench_size("lshash", params) == TableSize(tables, 1)


def test_sizes_of_nested_families_are_the_least():
    assert hashing.bench_size("simhash", hashing.bench_params("simhash")) == TableSize(1, 1)


def test_variants_keep_what_was_asked_for():
    params = hashing.bench_params("winnowing", window=3)
    default = hashing.Variant(params, TableSize(1, 1))
    found = hashing.variants("winnowing", default, {"window"})
    assert found
    assert {variant.params.window for variant in found} == {3}
    assert len({variant.params for variant in [default, *found]}) == 1 + len(found)


def test_variants_of_a_cut_code_divide_the_dimension():
    params = hashing.bench_params("lshash", dimension=40)
    default = hashing.Variant(params, hashing.bench_size("lshash", params))
    assert {v.size.num_tables for v in hashing.variants("lshash", default, {})} == {4, 8}


@pytest.mark.parametrize("family", ["simhash", "minhash", "winnowing", "karp_rabin"])
def test_blocks_are_joined_as_if_they_were_one(family, monkeypatch):
    params = hashing.bench_params(family)
    whole = hashing.fingerprint(family, params, TEXTS, TEXTS[:5])
    monkeypatch.setattr(hashing, "BLOCK", 7)
    done = []
    parts = hashing.fingerprint(family, params, TEXTS, TEXTS[:5], progress=done.append)
    for a, b in ((whole.documents, parts.documents), (whole.queries, parts.queries)):
        assert_same(a, b)
    assert sum(done) == 45
    assert whole.seconds > 0


def assert_same(a, b):
    for name in ("status", "codes", "keys", "signatures"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for name in ("hashes", "strings"):
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one.indptr, other.indptr)
            np.testing.assert_array_equal(one.values, other.values)


def test_queries_are_hashed_as_documents_are():
    hashed = hashing.fingerprint(
        "simhash", hashing.bench_params("simhash", unit="char", shingle_size=3), TEXTS, TEXTS[3:6]
    )
    np.testing.assert_array_equal(hashed.queries.codes, hashed.documents.codes[3:6])


def test_no_queries():
    assert (
        len(hashing.fingerprint("winnowing", hashing.bench_params("winnowing"), TEXTS).queries) == 0
    )
    params = hashing.bench_params("bge", dimension=48)
    assert len(hashing.fingerprint("bge", params, VECTORS).queries) == 0


def test_ragged_lists_of_blocks():
    def block(*lists):
        indptr = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        n = len(lists)
        return Fingerprints(
            np.zeros(n, np.uint8),
            np.zeros((n, 0), np.uint8),
            np.zeros((0, 0, n), np.uint32),
            "bit",
            hashes=Ragged(indptr, np.array([v for part in lists for v in part], np.uint64)),
        )

    whole = hashing.joined([block([1, 2], []), block([3])]).hashes
    assert whole.indptr.tolist() == [0, 2, 2, 3]
    assert whole.values.tolist() == [1, 2, 3]


@pytest.mark.parametrize("family", sorted(hashing.GRIDS))
def test_every_variant_can_be_hashed(family):
    made = registry.family(family)
    dimension = 384 if made.source == "vector" else None
    params = hashing.bench_params(family, dimension=dimension)
    default = hashing.Variant(params, hashing.bench_size(family, params))
    for variant in [default, *hashing.variants(family, default, {})]:
        made.check(variant.size, variant.params)
