import math

import numpy as np
import pytest

from indexers.errors import SettingError
from indexers.families.lsh import FAMILY as LSH
from indexers.families.lshash import FAMILY
from indexers.hyperplanes import hyperplanes
from indexers.types import HashParams, TableSize


def hashed(vectors, size, bits=64, seed=123):
    vectors = np.asarray(vectors, np.float32)
    return FAMILY.hasher(size, HashParams(bits, seed, dimension=vectors.shape[1]))(vectors)


def whole_vectors(count, dimension):
    """Whole numbers, so that dot products are exact whatever the scale."""
    return np.random.default_rng(4).integers(-1000, 1000, (count, dimension))


@pytest.mark.parametrize(("tables", "length", "bits"), [(4, 12, 64), (6, 3, 32), (3, 20, 8)])
def test_codes_and_keys_are_signs_in_the_tables_subspaces(tables, length, bits):
    vectors = whole_vectors(5, 24)
    fp = hashed(vectors, TableSize(tables, length), bits, seed=9)
    width = 24 // tables
    planes = max(length, bits)
    for row, vector in enumerate(vectors):
        by_table = []
        for table in range(tables):
            part = vector[table * width : (table + 1) * width]
            normals = hyperplanes(9, 4096 * table + np.arange(planes), width).astype(int)
            by_table.append([int(sum(map(int, normals[:, j] * part)) >= 0) for j in range(planes)])
        code = "".join(str(by_table[i % tables][i // tables]) for i in range(bits))
        assert "".join(f"{byte:08b}" for byte in fp.codes[row]) == code
        for table in range(tables):
            key = "".join(map(str, by_table[table][:length])).ljust(32, "0")
            assert f"{fp.keys[table, 0, row]:032b}" == key


def test_one_table_is_lsh():
    vectors = whole_vectors(5, 24)
    params = HashParams(128, 7, dimension=24)
    a = FAMILY.hasher(TableSize(1, 20), params)(vectors.astype(np.float32))
    b = LSH.hasher(TableSize(1, 20), params)(vectors.astype(np.float32))
    np.testing.assert_array_equal(a.codes, b.codes)
    np.testing.assert_array_equal(a.keys, b.keys)


def test_a_shorter_key_is_a_prefix_and_leaves_the_code():
    vectors = whole_vectors(8, 48)
    long, short = (hashed(vectors, TableSize(8, length), 128) for length in (32, 11))
    np.testing.assert_array_equal(short.codes, long.codes)
    np.testing.assert_array_equal(short.keys, long.keys >> np.uint32(21) << np.uint32(21))


def test_a_narrower_code_is_a_prefix():
    vectors = whole_vectors(8, 48)
    wide, narrow = (hashed(vectors, TableSize(6, 8), bits) for bits in (512, 40))
    np.testing.assert_array_equal(narrow.codes, wide.codes[:, :5])
    np.testing.assert_array_equal(narrow.keys, wide.keys)


def test_a_table_sees_its_subspace_alone():
    vectors = whole_vectors(2, 24)
    vectors[1, :18] = vectors[0, :18]
    fp = hashed(vectors, TableSize(4, 32))
    same = (fp.keys[:, 0, 0] == fp.keys[:, 0, 1]).tolist()
    assert same == [True, True, True, False]


def test_bits_agree_with_probability_one_minus_theta_over_pi_of_the_subspace():
    theta = math.pi / 5
    pair = np.tile([[1, 0, 0], [math.cos(theta), math.sin(theta), 0]], 4)
    first, second = np.unpackbits(hashed(pair, TableSize(4, 1), 4096).codes, axis=1)
    expected = 1 - theta / math.pi
    sigma = math.sqrt(expected * (1 - expected) / 4096)
    assert abs((first == second).mean() - expected) < 5 * sigma


def test_many_rows_are_hashed_as_few_are():
    vectors = whole_vectors(1500, 48)
    many = hashed(vectors, TableSize(24, 20))
    for row in (0, 255, 256, 512, 1499):
        few = hashed(vectors[row : row + 1], TableSize(24, 20))
        np.testing.assert_array_equal(many.codes[row], few.codes[0])
        np.testing.assert_array_equal(many.keys[:, :, row], few.keys[:, :, 0])


@pytest.mark.parametrize(
    ("dimension", "tables"),
    [(384, (6, 8, 12, 16, 24, 32, 48)), (1024, (8, 16, 32)), (100, (5, 10, 20, 25, 50))],
)
def test_swept_tables_are_divisors_of_the_dimension(dimension, tables):
    assert FAMILY.sweep(dimension).num_tables == tables


def test_numbers_of_tables_that_do_not_divide_are_told_with_those_that_do():
    with pytest.raises(SettingError) as caught:
        FAMILY.check(TableSize(5, 8), HashParams(128, 1, dimension=384))
    assert caught.value.problems == (
        "lshash: num_tables 5 does not divide D 384: "
        "choose from 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64",
    )
    with pytest.raises(SettingError, match="D 97 has no divisor from 5 to 50"):
        FAMILY.sweep(97)
    with pytest.raises(SettingError) as caught:
        FAMILY.check(TableSize(0, 0), HashParams(9, -1, dimension=384))
    assert len(caught.value.problems) == 4
