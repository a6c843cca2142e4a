"""Cosine of weighted shingles: what SimHash and FlyHash of weights stand for, compared exactly.

A text's vector has for each shingle its count times its weight, 1 or the inverse document
frequency of `indexers.weights`: whole numbers, so that sums are exact and ties are ties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from harness.bench.hashing import BLOCK
from indexers.text import Shingler, TokenBlock
from indexers.types import F64, I64, Fingerprints, Form, HashParams, Ragged, Status
from indexers.weights import DocumentFrequencies

_COUNT = np.uint64(0xFFFFFFFF)
_ID_SHIFT = np.uint64(32)


def counted(
    documents: Sequence[str], queries: Sequence[str], params: HashParams
) -> tuple[WeightedCosine, Fingerprints, Fingerprints]:
    """The similarity, and the distinct shingles of all texts as hashes, id << 32 | count.

    Args:
        documents: raw texts, from which weights are learnt.
        queries: raw texts.
        params: unit, size and weighting of shingles.
    """
    shingler = Shingler(params.shingle_size, params.unit)
    frequencies, sides = DocumentFrequencies(), []
    for learns, texts in ((True, documents), (False, queries)):
        blocks = []
        for start in range(0, len(texts), BLOCK):
            block = shingler.block(texts[start : start + BLOCK])
            if learns:
                frequencies.learn(block, shingler.size)
            blocks.append(block)
        sides.append(blocks)
    weights = np.ones(shingler.size, np.int64)
    if params.weighting == "idf":
        weights = frequencies.weights(shingler.size)[: shingler.size].astype(np.int64)
    mine, theirs = (_fingerprints(blocks) for blocks in sides)
    return WeightedCosine(weights), mine, theirs


def _fingerprints(blocks: Sequence[TokenBlock]) -> Fingerprints:
    """Texts in order."""
    status = np.concatenate([np.zeros(0, np.uint8), *(block.status for block in blocks)])
    hashes = Ragged.concatenated([_counts(block) for block in blocks])
    n = len(status)
    return Fingerprints(
        status, np.zeros((n, 0), np.uint8), np.zeros((0, 0, n), np.uint32), "bit", hashes=hashes
    )


def _counts(block: TokenBlock) -> Ragged:
    n = len(block.status)
    texts = np.repeat(np.arange(n, dtype=np.uint64), np.diff(block.offsets))
    pairs, counts = np.unique(
        texts << _ID_SHIFT | block.tokens.astype(np.uint64), return_counts=True
    )
    indptr = np.searchsorted(pairs >> _ID_SHIFT, np.arange(n + 1)).astype(np.int64)
    return Ragged(indptr, (pairs & _COUNT) << _ID_SHIFT | counts.astype(np.uint64))


class WeightedCosine:
    """Cosine of the vectors of `counted`, 0 to 1.

    Args:
        weights: int64, of each shingle by id.
    """

    name: ClassVar[str] = "cosine"
    forms: ClassVar[tuple[Form, ...]] = ("sequence",)
    least: ClassVar[Mapping[Form, float]] = {"sequence": 0.0}

    def __init__(self, weights: I64) -> None:
        self._weights = weights

    def fitted(self, documents: Fingerprints) -> WeightedCosine:  # noqa: ARG002  # nothing to know
        """Itself."""
        return self

    def matrix(self, queries: Fingerprints, documents: Fingerprints, form: Form) -> F64:  # noqa: ARG002
        """float64 (m, n), NaN where either is not OK."""
        ids, values, indptr = self._entries(documents)
        squares = _sums(values * values, indptr)
        result = np.full((len(queries), len(documents)), np.nan)
        held = documents.status == Status.OK
        for row in np.flatnonzero(queries.status == Status.OK):
            mine, worth, _ = self._entries(queries.take(np.array([row], np.int64)))
            dense = np.zeros(len(self._weights), np.int64)
            dense[mine] = worth
            dots = _sums(dense[ids] * values, indptr)
            lengths = np.sqrt(float((worth * worth).sum()) * squares[held])
            result[row, held] = dots[held] / lengths
        return result

    def _entries(self, fingerprints: Fingerprints) -> tuple[I64, I64, I64]:
        assert fingerprints.hashes is not None
        packed = fingerprints.hashes.values
        ids = (packed >> _ID_SHIFT).astype(np.int64)
        return (
            ids,
            (packed & _COUNT).astype(np.int64) * self._weights[ids],
            fingerprints.hashes.indptr,
        )


def _sums(values: I64, indptr: I64) -> I64:
    """Of each list; what wraps around in the running sum is undone by the difference."""
    running = np.concatenate([[0], np.cumsum(values)])
    sums: I64 = np.diff(running[indptr])
    return sums
