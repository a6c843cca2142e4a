"""Runs a kernel over slices of documents on all cores that this process may use.

Kernels release the GIL and write disjoint rows, so that plain threads serve: results do not
depend on their number, and nothing of numba's parallel machinery has to be compiled.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

SMALLEST = 512
"""Documents below which a second thread costs more than it saves."""


def over(n: int, kernel: Callable[[int, int], None]) -> None:
    """Call `kernel(start, stop)` so that the slices cover range(n) once."""
    parts = min(len(os.sched_getaffinity(0)), n // SMALLEST)
    if parts < 2:
        kernel(0, n)
        return
    cuts = [n * part // parts for part in range(parts + 1)]
    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(kernel, cuts[:-1], cuts[1:]))
