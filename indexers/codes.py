"""Packed codes as machine words."""

from __future__ import annotations

import numpy as np

from indexers.types import U8, U64


def code_words(codes: U8) -> U64:
    """Packed codes as 64-bit words, the last padded with zeros: uint64 (n, ceil(bits / 64)).

    Distances do not depend on the order of the bytes within a word.

    Args:
        codes: uint8 (n, bits / 8).
    """
    n, width = codes.shape
    padded = np.zeros((n, -(-width // 8) * 8), np.uint8)
    padded[:, :width] = codes
    return padded.view(np.uint64)
