import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from indexers.errors import SettingError
from indexers.families.bge import FAMILY
from indexers.types import HashParams, Status, TableSize

FLOATS = st.floats(-(2.0**100), 2.0**100, width=32, allow_subnormal=False)


def hashed(vectors):
    params = HashParams(0, 123, dimension=np.asarray(vectors).shape[1])
    return FAMILY.hasher(TableSize(1, 1), params)(vectors)


def test_a_vector_worked_by_hand():
    fp = hashed(np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]]))
    np.testing.assert_array_equal(fp.vectors, np.float32([[0.6, 0.8], [0, 0], [0, -1]]))
    assert fp.status.tolist() == [Status.OK, Status.EMPTY, Status.OK]
    assert (fp.forms, fp.bits, fp.keys.shape) == (("vector",), 0, (0, 0, 3))


@settings(max_examples=60, deadline=None)
@given(vectors=arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=FLOATS))
def test_vectors_are_divided_by_their_lengths(vectors):
    made = hashed(vectors).vectors
    for row, vector in zip(made, vectors.astype(float), strict=True):
        length = math.sqrt(math.fsum(value * value for value in vector))
        expected = [value / length if length else 0.0 for value in vector]
        np.testing.assert_allclose(row, expected, rtol=1e-6, atol=1e-37)


@pytest.mark.parametrize("value", [1e-37, 3e38])
def test_extreme_lengths(value):
    assert hashed(np.full((1, 4), value, np.float32)).vectors.tolist() == [[0.5] * 4]


def test_a_row_does_not_depend_on_its_block():
    vectors = np.random.default_rng(2).standard_normal((1300, 33)).astype(np.float32)
    whole = hashed(vectors).vectors
    for row in (0, 511, 512, 1299):
        np.testing.assert_array_equal(hashed(vectors[row : row + 1]).vectors[0], whole[row])


def test_it_has_no_sizes():
    sweep = FAMILY.sweep(384)
    assert (sweep.bits, sweep.num_tables, sweep.hash_lengths) == (None, (), ())
    with pytest.raises(SettingError, match="dimension None"):
        FAMILY.hasher(TableSize(0, 0), HashParams(0, 1))
