"""Runs kernels over slices of documents or queries on all cores that this process may use.

Kernels release the GIL and write disjoint rows, so that plain threads serve: results do not
depend on their number, and nothing of numba's parallel machinery has to be compiled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from indexers.types import I64

SMALLEST = 512
"""Documents below which a second thread costs more than it saves."""
CHUNK = 64
"""Queries a piece of work."""
SMALLEST_PAIRS = 1 << 18
"""Pairs of a query and a document below which a second thread costs more than it saves."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system tells what a process may use
        return os.cpu_count() or 1


def mapped(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    """`work` of each item, in the order of the items, on all cores."""
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(work, items))


def over(n: int, kernel: Callable[[int, int], None]) -> None:
    """Call `kernel(start, stop)` so that the slices cover range(n) once, equally many in each."""
    parts = min(cores(), n // SMALLEST)
    _cut(kernel, [n * part // parts for part in range(parts + 1)] if parts > 1 else [0, n])


def over_bytes(starts: I64, kernel: Callable[[int, int], None], smallest: int) -> None:
    """As `over`, for kernels whose time goes with the bytes of texts, however few they are.

    Args:
        starts: int64 (n + 1,), byte offsets of n texts.
        kernel: called with slices of about as many bytes each.
        smallest: bytes below which a second thread costs more than it saves.
    """
    n, total = len(starts) - 1, int(starts[-1])
    parts = min(cores(), n, total // smallest)
    if parts < 2:
        _cut(kernel, [0, n])
        return
    wanted = np.array([total * part // parts for part in range(1, parts)])
    after = np.searchsorted(starts, wanted)
    inner = after - (wanted - starts[after - 1] < starts[after] - wanted)  # the nearer of two
    _cut(kernel, np.unique([0, *inner.tolist(), n]).tolist())


def _cut(kernel: Callable[[int, int], None], cuts: list[int]) -> None:
    if len(cuts) < 3:
        kernel(cuts[0], cuts[-1])
        return
    with ThreadPoolExecutor(len(cuts) - 1) as pool:
        list(pool.map(kernel, cuts[:-1], cuts[1:]))


def over_pairs(queries: int, documents: int, work: Callable[[int, int], None]) -> None:
    """Call `work(lo, hi)` so that the slices cover range(queries) once.

    The slices do not depend on the number of threads, and write disjoint rows.
    """
    starts = range(0, queries, CHUNK)

    def chunk(lo: int) -> None:
        work(lo, min(lo + CHUNK, queries))

    if min(cores(), len(starts)) < 2 or queries * documents < SMALLEST_PAIRS:
        for lo in starts:
            chunk(lo)
    else:
        mapped(chunk, starts)
