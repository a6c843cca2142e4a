"""Inverse document frequencies as whole numbers, the same on every machine.

The weight of a shingle that df of n documents hold is ln(1 + (n - df + 1/2) / (df + 1/2)), that
is ln((2n + 2) / (2df + 1)): the one of BM25 (Robertson and Zaragoza 2009, section 3.1), with 1
added below the logarithm, so that it stays above 0 for shingles in more than half of the
documents. It is rounded to eighths and at least one eighth, so that sums of weights are exact.
"""

from __future__ import annotations

import hashlib

import numpy as np

from indexers.kernels import weights as kernel
from indexers.learnt import LearntWeights, shingle_hashes
from indexers.text import Shingler, TokenBlock
from indexers.types import F64, I64, U8

SCALE = 8
"""Weights are multiples of 1 / SCALE."""
_LN_2 = 45_426  # in 1 / 65536
_LOG_BITS = 16


def _log2(values: F64) -> I64:
    """Floor of 65536 * log2 of values of at least 1, by repeated squaring.

    Multiplications are rounded alike everywhere; libraries' logarithms are not.
    """
    mantissas, exponents = np.frexp(values)
    mantissas = 2 * mantissas
    result = exponents.astype(np.int64) - 1
    for _ in range(_LOG_BITS):
        mantissas = mantissas * mantissas
        above = mantissas >= 2
        result = 2 * result + above
        mantissas = np.where(above, mantissas / 2, mantissas)
    return result


def inverse_frequencies(counts: I64, documents: int) -> U8:
    """Weights in units of 1 / SCALE, 1 to 255.

    Args:
        counts: int64, documents that hold each shingle, 0 to `documents`.
        documents: how many there are.
    """
    logs = _log2((2 * documents + 2) / (2 * counts + 1)) * _LN_2 * SCALE
    half = 1 << 2 * _LOG_BITS - 1
    weights: U8 = np.clip((logs + half) >> 2 * _LOG_BITS, 1, 255).astype(np.uint8)
    return weights


class DocumentFrequencies:
    """Counts the documents that hold each shingle of a growing vocabulary."""

    def __init__(self) -> None:
        self.documents = 0
        self._counts = np.zeros(0, np.int64)
        self._last = np.zeros(0, np.int64)
        self._weights = np.zeros(0, np.uint8)

    def learn(self, block: TokenBlock, vocabulary: int) -> None:
        """Count a block's documents; those without shingles do not count.

        Args:
            block: its tokens are known, 0 <= token < vocabulary.
            vocabulary: shingles known by now.
        """
        new = max(vocabulary - len(self._counts), 0)
        self._counts = np.concatenate((self._counts, np.zeros(new, np.int64)))
        self._last = np.concatenate((self._last, np.zeros(new, np.int64)))
        self.documents = kernel.count_documents(
            block.offsets, block.tokens, self.documents, self._last, self._counts
        )
        self._weights = np.zeros(0, np.uint8)

    def digest(self) -> str:
        """16 hex digits of how many documents there are and how many hold each shingle.

        Shingles are told by their ids, which follow from the texts that were learnt from. Those
        seen later, in no document, change nothing.
        """
        held = np.trim_zeros(self._counts, "b").astype("<i8").tobytes()
        learnt = self.documents.to_bytes(8, "little") + held
        return hashlib.blake2b(learnt, digest_size=8, person=b"idf").hexdigest()

    def weights(self, vocabulary: int) -> U8:
        """Weight of each shingle known by now; those that no document holds get that of df = 0.

        Args:
            vocabulary: shingles known by now.

        Returns:
            uint8 (vocabulary,) at least, in units of 1 / SCALE.
        """
        if not len(self._weights):
            self._weights = inverse_frequencies(self._counts, self.documents)
        missing = vocabulary - len(self._weights)
        if missing > 0:
            unseen = inverse_frequencies(np.zeros(1, np.int64), self.documents)
            more = np.repeat(unseen, max(missing, len(self._weights)))
            self._weights = np.concatenate((self._weights, more))
        return self._weights

    def of(self, shingler: Shingler) -> U8:
        """Weight of each shingle known by now, as `weights`."""
        return self.weights(shingler.size)

    def table(self, shingler: Shingler) -> LearntWeights:
        """The weights by shingle, to be kept.

        Args:
            shingler: that gave the tokens.
        """
        learnt = len(self._counts)
        hashes, first = np.unique(shingle_hashes(shingler.shingles(0, learnt)), return_index=True)
        unseen = int(inverse_frequencies(np.zeros(1, np.int64), self.documents)[0])
        return LearntWeights(self.digest(), hashes, self.weights(learnt)[:learnt][first], unseen)
