"""Tables over a finite code: each reads it in an order of its own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.finite import finite_keys, table_orders
from indexers.types import TableSize

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(state):
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
    return state ^ state >> 31


def order_by_definition(table, bits, seed):
    start = mix((seed + table * GAMMA) & MASK)
    return sorted(range(bits), key=lambda place: mix((start + place * GAMMA) & MASK))


@pytest.mark.parametrize(("bits", "seed"), [(8, 0), (384, 123), (128, 2**32 - 1)])
def test_orders_by_their_definition(bits, seed):
    orders = table_orders(5, bits, seed)
    assert orders.tolist() == [order_by_definition(t, bits, seed) for t in range(5)]


@settings(max_examples=25, deadline=None)
@given(
    codes=st.lists(st.binary(min_size=12, max_size=12), min_size=1, max_size=5),
    tables=st.integers(1, 6),
    length=st.integers(1, 64),
)
def test_a_key_spells_the_code_in_the_order_of_its_table(codes, tables, length):
    array = np.array([list(code) for code in codes], np.uint8)
    keys = finite_keys(array, TableSize(tables, length), seed=9)
    assert (keys.dtype, keys.shape) == (np.uint32, (tables, -(-length // 32), len(codes)))
    for row, code in enumerate(codes):
        bits = f"{int.from_bytes(code, 'big'):096b}"
        for table in range(tables):
            spelled = "".join(bits[i] for i in order_by_definition(table, 96, 9)[:length])
            words = [f"{int(word):032b}" for word in keys[table, :, row]]
            assert "".join(words) == spelled.ljust(32 * len(words), "0")


def test_no_codes():
    assert finite_keys(np.empty((0, 4), np.uint8), TableSize(2, 8), seed=1).shape == (2, 1, 0)
