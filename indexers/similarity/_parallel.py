"""Runs a kernel over slices of queries on all cores that this process may use."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

CHUNK = 64
"""Queries a piece of work."""
SMALLEST = 1 << 18
"""Pairs below which a second thread costs more than it saves."""


def over(queries: int, documents: int, work: Callable[[int, int], None]) -> None:
    """Call `work(lo, hi)` so that the slices cover range(queries) once.

    The slices do not depend on the number of threads, and write disjoint rows.
    """
    starts = range(0, queries, CHUNK)
    threads = min(len(os.sched_getaffinity(0)), len(starts))
    if threads < 2 or queries * documents < SMALLEST:
        for lo in starts:
            work(lo, min(lo + CHUNK, queries))
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda lo: work(lo, min(lo + CHUNK, queries)), starts))
