import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from indexers.errors import SettingError
from indexers.families.bihash import FAMILY
from indexers.finite import table_orders
from indexers.types import HashParams, Status, TableSize

ONE = TableSize(1, 1)


def hashed(vectors, bits, size=ONE, seed=123):
    vectors = np.asarray(vectors, np.float32)
    return FAMILY.hasher(size, HashParams(bits, seed, dimension=vectors.shape[1]))(vectors)


def test_a_code_worked_by_hand():
    vector = [1, -2, 3, -4, 5, -6, 7, -8, -2, 1, -3, 5, -4, 7, 0, 8]
    # sums   -1, -1, 0, 1, 1, 1, 7, 0
    assert hashed([vector], 8).codes.tolist() == [[0b00111111]]
    # at 16 bits the sign of each coordinate, a zero gives 1
    assert hashed([vector], 16).codes.tolist() == [[0b10101010, 0b01010111]]


@settings(max_examples=50, deadline=None)
@given(
    vectors=arrays(np.float32, (3, 48), elements=st.integers(-50, 50)),
    bits=st.sampled_from([8, 16, 24, 48]),
)
def test_bits_are_signs_of_pooled_coordinates(vectors, bits):
    fp = hashed(vectors, bits)
    for row, vector in enumerate(vectors):
        pooled = [sum(map(int, vector[place::bits])) >= 0 for place in range(bits)]
        expected = pooled if vector.any() else [False] * bits
        assert np.unpackbits(fp.codes[row]).tolist() == expected
        assert fp.status[row] == (Status.OK if vector.any() else Status.EMPTY)


def test_small_coordinates_count_beside_great_ones():
    vector = np.full(8, -1e-30, np.float32)
    vector[0] = 1e30
    assert hashed([vector], 8).codes.tolist() == [[0b10000000]]


def test_tables_read_the_code_in_their_orders():
    vectors = np.random.default_rng(3).standard_normal((5, 96))
    fp = hashed(vectors, 96, TableSize(6, 40), seed=9)
    bits = np.unpackbits(fp.codes, axis=1)
    for table, order in enumerate(table_orders(6, 96, 9)):
        for row in range(5):
            key = "".join(f"{word:032b}" for word in fp.keys[table, :, row])
            assert key == "".join(map(str, bits[row, order[:40]])).ljust(64, "0")


@pytest.mark.parametrize(
    ("dimension", "bits"),
    [(384, 128), (768, 128), (1024, 128), (96, 96), (100 * 8, 80), (8, 8), (344, 8)],
)
def test_the_default_is_the_widest_code_up_to_128(dimension, bits):
    sweep = FAMILY.sweep(dimension)
    assert sweep.bits == bits
    assert max(sweep.hash_lengths) <= bits


def test_widths_that_do_not_fit_are_told_with_those_that_do():
    with pytest.raises(SettingError) as caught:
        FAMILY.check(ONE, HashParams(100, 1, dimension=384))
    assert caught.value.problems == (
        "bihash: bits 100 is out of range: a multiple of 8 that divides D 384: "
        "8, 16, 24, 32, 48, 64, 96, 128, 192, 384",
    )
    for refuse in (
        lambda: FAMILY.sweep(100),
        lambda: FAMILY.check(ONE, HashParams(20, 1, dimension=100)),
    ):
        with pytest.raises(SettingError, match="D 100, which is no multiple of 8"):
            refuse()
    with pytest.raises(SettingError, match="hash_length 20 is longer than the code: 1 to 8"):
        FAMILY.check(TableSize(1, 20), HashParams(8, 1, dimension=384))
