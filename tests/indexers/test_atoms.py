import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.atoms import prefix_values, token
from indexers.errors import SettingError

MASK = 2**64 - 1


def row_value(rows):
    """The documented mix, in Python's integers."""
    value = len(rows)
    for row in rows:
        value = (value + 0x9E3779B97F4A7C15 + row) & MASK
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
        value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
        value ^= value >> 31
    return value


@pytest.mark.parametrize(
    ("hash_length", "expected"), [(1, 1), (4, 0xA), (8, 0xA5), (20, 0xA5F01), (32, 0xA5F01234)]
)
def test_bits_are_read_from_the_most_significant(hash_length, expected):
    keys = np.array([[[0xA5F01234, 0]]], np.uint32)
    values = prefix_values(keys, "bit", hash_length)
    assert values.tolist() == [[expected, 0]]
    assert values.dtype == np.uint64


def test_bits_run_on_into_the_next_word():
    keys = np.array([[[0xA5F01234], [0xFEDCBA98]]], np.uint32)
    assert prefix_values(keys, "bit", 40).tolist() == [[0xA5F01234FE]]
    assert prefix_values(keys, "bit", 64).tolist() == [[0xA5F01234FEDCBA98]]


@settings(max_examples=50)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=4, max_size=4), st.integers(1, 4))
def test_rows_follow_the_documented_mix(rows, hash_length):
    keys = np.array(rows, np.uint32).reshape(1, 4, 1)
    assert prefix_values(keys, "row", hash_length).tolist() == [[row_value(rows[:hash_length])]]


def test_rows_of_another_length_or_order_differ():
    keys = np.zeros((1, 3, 1), np.uint32)
    keys[0, :, 0] = 0, 0, 7
    lengths = {int(prefix_values(keys, "row", h)[0, 0]) for h in (1, 2, 3)}
    swapped = prefix_values(np.ascontiguousarray(keys[:, ::-1]), "row", 3)
    assert len(lengths | {int(swapped[0, 0])}) == 4


@pytest.mark.parametrize("n", [0, 5])
def test_shape(n):
    assert prefix_values(np.zeros((3, 2, n), np.uint32), "row", 2).shape == (3, n)
    assert prefix_values(np.zeros((3, 1, n), np.uint32), "bit", 2).shape == (3, n)


@pytest.mark.parametrize(("atom", "hash_length"), [("bit", 33), ("bit", 0), ("row", 2), ("row", 0)])
def test_longer_than_the_keys_is_refused(atom, hash_length):
    with pytest.raises(SettingError, match=f"hash_length {hash_length} is out of range"):
        prefix_values(np.zeros((1, 1, 1), np.uint32), atom, hash_length)


@pytest.mark.parametrize(
    ("table", "value", "atom", "hash_length", "expected"),
    [
        (0, 0, "bit", 8, "0:00"),
        (12, 0xAB, "bit", 12, "12:0ab"),
        (3, 1, "bit", 13, "3:0001"),
        (49, 0xABC, "row", 2, "49:0000000000000abc"),
    ],
)
def test_token(table, value, atom, hash_length, expected):
    assert token(table, value, atom, hash_length) == expected
    assert token(table, np.uint64(value), atom, hash_length) == expected
