"""Lists of different lengths."""

import numpy as np
import pytest

from indexers.types import Ragged


def ragged(*lists, dtype=np.uint64):
    indptr = np.cumsum([0, *map(len, lists)])
    return Ragged(indptr, np.array([value for one in lists for value in one], dtype))


def told(lists):
    return [lists.row(i).tolist() for i in range(len(lists))]


LISTS = [[3, 1], [], [2**63], [5, 5, 5], []]


def test_rows_and_parts():
    made = ragged(*LISTS)
    assert told(made) == LISTS
    for lo in range(6):
        for hi in range(lo, 6):
            part = made.part(lo, hi)
            assert told(part) == LISTS[lo:hi]
            assert part.indptr[0] == 0
    assert told(made.part(3, 99)) == LISTS[3:]
    assert made.part(0, 3).values.base is not None  # no copy
    assert told(made.take(np.array([3, 0, 3]))) == [[5, 5, 5], [3, 1], [5, 5, 5]]


@pytest.mark.parametrize("cut", range(6))
def test_concatenated_parts_are_the_whole(cut):
    made = ragged(*LISTS)
    whole = Ragged.concatenated([made.part(0, cut), made.part(cut, 5)])
    assert told(whole) == LISTS
    assert (whole.indptr.dtype, whole.values.dtype) == (np.int64, np.uint64)


def test_no_parts_are_no_lists():
    assert len(Ragged.concatenated([])) == 0
    assert Ragged.concatenated([]).values.dtype == np.uint64
    assert Ragged.concatenated([ragged(b"a", dtype=np.uint8)]).values.dtype == np.uint8


def test_strings():
    assert ragged(b"ab", b"", b"\xe9", dtype=np.uint8).strings() == ["ab", "", "é"]
    wide = ragged([0x4E2D, 0x1F600], [], dtype="<u4")
    assert wide.strings("utf-32-le") == ["中😀", ""]
