import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from indexers.errors import SettingError
from indexers.families.lsh import FAMILY
from indexers.hyperplanes import hyperplanes
from indexers.types import HashParams, Status, TableSize

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15
ONE = TableSize(1, 1)


def mix(state):
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
    return state ^ state >> 31


def coordinate(seed, plane, place):
    """The documented coordinate of a hyperplane, in Python's integers."""
    key = mix(mix(seed + GAMMA & MASK) + (plane + 1) * GAMMA & MASK)
    words = [mix(key + (5 * place + word + 1) * GAMMA & MASK) for word in range(5)]
    ones = sum(word.bit_count() for word in words[:4])
    return 256 * (ones - 128) + 2 * (words[4] >> 57) - 127


def whole(vector):
    """The documented fixed point of a vector, in exact fractions."""
    peak = max(abs(Fraction(float(value))) for value in vector)
    scale = Fraction(1)
    while peak * scale >= 2**26:
        scale /= 2
    while peak * scale < 2**25:
        scale *= 2
    return [round(Fraction(float(value)) * scale) for value in vector]


def exact_bits(vector, seed, count):
    numbers = whole(vector)
    sums = (
        sum(coordinate(seed, plane, place) * number for place, number in enumerate(numbers))
        for plane in range(count)
    )
    return "".join("1" if total >= 0 else "0" for total in sums)


def hashed(vectors, size=ONE, **params):
    vectors = np.asarray(vectors)
    values = {"bits": 64, "seed": 123, "dimension": vectors.shape[1]} | params
    return FAMILY.hasher(size, HashParams(**values))(vectors)


def bits_of(fp):
    return np.unpackbits(fp.codes, axis=1)


@pytest.mark.parametrize("seed", [0, 123, 2**32 - 1])
def test_codes_and_keys_are_exact_signs_over_the_documented_hyperplanes(seed):
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((6, 12)) * 10.0 ** rng.integers(-6, 6, (6, 12))
    vectors = vectors.astype(np.float32)
    fp = hashed(vectors, TableSize(4, 32), seed=seed, bits=128)
    for i, vector in enumerate(vectors):
        expected = exact_bits(vector, seed, 128)
        assert "".join(f"{byte:08b}" for byte in fp.codes[i]) == expected
        assert "".join(f"{key:032b}" for key in fp.keys[:, 0, i]) == expected
        assert fp.status[i] == Status.OK


def test_a_dot_product_of_zero_gives_one():
    a, b = (coordinate(123, 0, place) for place in range(2))
    assert bits_of(hashed(np.array([[b, -a], [-b, a]], np.float32)))[:, 0].tolist() == [1, 1]


def test_the_first_hyperplane_divides_the_line():
    above = np.sign(coordinate(123, 0, 0))
    assert bits_of(hashed(np.array([[above], [-above]], np.float32)))[:, 0].tolist() == [1, 0]


@settings(max_examples=25, deadline=None)
@given(
    theta=st.floats(0, math.pi),
    seed=st.integers(0, 2**32 - 1),
    dimension=st.sampled_from([2, 3, 17, 384]),
)
def test_bits_agree_with_probability_one_minus_theta_over_pi(theta, seed, dimension):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((dimension, 2)))[0].T
    pair = np.stack([basis[0], np.cos(theta) * basis[0] + np.sin(theta) * basis[1]])
    first, second = bits_of(hashed(pair, seed=seed, bits=4096))
    expected = 1 - theta / math.pi
    sigma = math.sqrt(max(expected * (1 - expected), 1e-4) / 4096)
    assert abs((first == second).mean() - expected) < 5 * sigma


@pytest.mark.parametrize("seed", [1, 123])
def test_table_keys_agree_with_the_power_of_the_hash_length(seed):
    theta = math.pi / 8
    pair = np.array([[1, 0, 0], [math.cos(theta), 0, math.sin(theta)]])
    agreeing = [
        (fp.keys[:, 0, 0] == fp.keys[:, 0, 1]).mean()
        for fp in (hashed(pair, TableSize(64, 4), seed=seed + 1000 * i) for i in range(20))
    ]
    expected = (1 - theta / math.pi) ** 4
    sigma = math.sqrt(expected * (1 - expected) / (64 * 20))
    assert abs(np.mean(agreeing) - expected) < 5 * sigma


def test_coordinates_are_odd_and_nearly_normal():
    values = hyperplanes(123, np.arange(200), 500).ravel()
    assert (values % 2 == 1).all()
    sd = math.sqrt(256**2 * 64 + (128**2 - 1) / 3)
    assert abs(values.mean()) < 5 * sd / math.sqrt(values.size)
    assert values.std() == pytest.approx(sd, rel=0.01)
    # a jump of the normal's distribution function by a step of 1/1025 deviations is allowed for
    assert stats.kstest(values / sd, "norm").statistic < 0.006


def test_partial_sums_stay_exact_at_the_greatest_dimension():
    planes = np.abs(hyperplanes(7, np.arange(4), 65_536)).sum(axis=0)
    assert (planes * 2**26 < 2**53).all()


@pytest.mark.parametrize(
    ("tables", "length", "bits"), [(1, 1, 8), (5, 20, 128), (50, 7, 64), (64, 31, 4096)]
)
def test_smaller_sizes_are_prefixes(tables, length, bits):
    vectors = np.random.default_rng(1).standard_normal((5, 24))
    largest = hashed(vectors, TableSize(64, 32), bits=4096)
    fp = hashed(vectors, TableSize(tables, length), bits=bits)
    cut = np.uint32(32 - length)
    np.testing.assert_array_equal(fp.keys, largest.keys[:tables] >> cut << cut)
    np.testing.assert_array_equal(fp.codes, largest.codes[:, : bits // 8])


def test_many_rows_are_hashed_as_few_are():
    vectors = np.random.default_rng(1).standard_normal((1500, 24)).astype(np.float32)
    many = hashed(vectors, TableSize(3, 9))
    for row in (0, 511, 512, 1499):
        few = hashed(vectors[row : row + 1], TableSize(3, 9))
        np.testing.assert_array_equal(many.codes[row], few.codes[0])
        np.testing.assert_array_equal(many.keys[:, :, row], few.keys[:, :, 0])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_precision_of_the_array_does_not_matter(dtype):
    vectors = np.random.default_rng(1).integers(-100, 100, (4, 24))
    np.testing.assert_array_equal(
        hashed(vectors.astype(dtype)).codes, hashed(vectors.astype(np.float32)).codes
    )


def test_opposite_vectors_have_complementary_codes():
    vector = np.random.default_rng(1).standard_normal((1, 24))
    assert (bits_of(hashed(vector)) + bits_of(hashed(-vector)) == 1).all()


@pytest.mark.parametrize("value", [1e-37, 3e38])
def test_extreme_lengths(value):
    fp = hashed(np.full((1, 3), value, np.float32))
    np.testing.assert_array_equal(fp.codes, hashed(np.ones((1, 3))).codes)
    assert fp.status.tolist() == [Status.OK]


def test_what_cannot_be_hashed_is_told_in_one_line():
    good = np.ones((4, 8))
    hasher = FAMILY.hasher(ONE, HashParams(64, 1, dimension=8))
    for bad, told in (
        (np.where(np.arange(32).reshape(4, 8) == 17, np.nan, good), "row 2"),
        (np.where(np.arange(32).reshape(4, 8) > 7, np.inf, good), "row 1.*2 more"),
        (good * 1e200, "row 0"),
        (good[:, :7], "D 7, expected 8"),
        (good[0], r"not float64 \(8,\)"),
        (good.astype(int), "not int64"),
        (["text"], "not <U4"),
    ):
        with pytest.raises(SettingError, match=told) as caught:
            hasher(bad)
        assert "\n" not in str(caught.value)


def test_all_values_out_of_range_are_listed():
    with pytest.raises(SettingError) as caught:
        FAMILY.hasher(TableSize(0, 33), HashParams(12, -1, dimension=70_000))
    assert len(caught.value.problems) == 5
    with pytest.raises(SettingError, match="dimension None"):
        FAMILY.hasher(ONE, HashParams(64, 1))
    with pytest.raises(SettingError, match="1 to 65536"):
        FAMILY.sweep(65_537)
