"""The finalizer of splitmix64 for kernels; `indexers.atoms.mixed` is the same for arrays.

Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.atoms import GAMMA, MIX_1, MIX_2

__all__ = ["GAMMA", "MIX_1", "mix"]

_27, _30, _31 = np.uint64(27), np.uint64(30), np.uint64(31)


@njit(cache=True, nogil=True)
def mix(state: np.uint64) -> np.uint64:
    """A bijection on 64 bits, all bits of the result depending on all of the state."""
    state = (state ^ state >> _30) * MIX_1
    state = (state ^ state >> _27) * MIX_2
    return state ^ state >> _31
