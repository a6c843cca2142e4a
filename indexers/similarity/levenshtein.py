"""Levenshtein similarity: 1 / (1 + d), d the least number of insertions, deletions and
substitutions that turn one into the other (Levenshtein 1966). Above 0, at most 1.

Of strings by character, of sequences by hash. Two empty ones have no similarity: NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from indexers.errors import SettingError
from indexers.kernels import threads
from indexers.similarity._checks import check, masked
from indexers.types import F64, Fingerprints, Form, Ragged, Status

CHUNK = 64
"""Queries whose distances are held as integers at a time."""
SMALLEST = 1 << 14
"""Pairs below which a second thread costs more than it saves."""
SURROGATES = (0xD800, 0xE000)
SYMBOLS = 0x110000 - (SURROGATES[1] - SURROGATES[0])
"""Different characters that a string can hold."""


class Levenshtein:
    """The similarity of things in a row."""

    name: ClassVar[str] = "levenshtein"
    forms: ClassVar[tuple[Form, ...]] = ("string", "sequence")
    least: ClassVar[Mapping[Form, float]] = {}

    def fitted(self, documents: Fingerprints) -> Levenshtein:  # noqa: ARG002  # nothing to know
        """Itself."""
        return self

    def matrix(self, queries: Fingerprints, documents: Fingerprints, form: Form) -> F64:
        """Distances in whole numbers, so that equal ones are equal values.

        Args:
            queries: m fingerprints.
            documents: n fingerprints.
            form: `string` or `sequence`.

        Returns:
            float64 (m, n), 1 for equal ones; NaN where either is not OK or both are empty.

        Raises:
            SettingError: the form is not compared, or a sequence has too many different hashes.
        """
        check(self, queries, documents, form)
        result = np.empty((len(queries), len(documents)))
        if not result.size:
            return result
        if form == "string":
            assert queries.strings is not None
            assert documents.strings is not None
            mine, theirs = _ok(queries, queries.strings), _ok(documents, documents.strings)
            _fill(result, mine.strings(), theirs.strings())
        else:
            assert queries.hashes is not None
            assert documents.hashes is not None
            mine, theirs = _ok(queries, queries.hashes), _ok(documents, documents.hashes)
            _of_sequences(result, mine, theirs)
        return masked(result, queries, documents)


def _ok(fingerprints: Fingerprints, lists: Ragged) -> Ragged:
    """The lists of OK fingerprints, empty ones for the others."""
    lengths = np.where(fingerprints.status == Status.OK, np.diff(lists.indptr), 0)
    if lengths.sum() == lists.indptr[-1]:
        return lists
    used = np.repeat(fingerprints.status == Status.OK, np.diff(lists.indptr))
    indptr = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return Ragged(indptr, lists.values[used])


def _of_sequences(result: F64, queries: Ragged, documents: Ragged) -> None:
    """Compare sequences as strings, hashes that both sides have as characters of their own.

    What one side alone has differs from all that the other has: one character each.
    """
    common = np.intersect1d(queries.values, documents.values)
    if len(common) + 2 <= SYMBOLS:
        mine = _spelt(queries, common, len(common))
        theirs = _spelt(documents, common, len(common) + 1)
        _fill(result, mine.strings("utf-32-le"), theirs.strings("utf-32-le"))
        return
    if len(queries) == 1:
        raise SettingError(
            f"levenshtein: a sequence has {len(common)} different hashes, at most "
            f"{SYMBOLS - 2} can be compared: cut the text, or raise the window"
        )
    half = len(queries) // 2
    for lo, hi in ((0, half), (half, len(queries))):
        part = queries.part(lo, hi)
        _of_sequences(result[lo:hi], part, documents)


def _spelt(lists: Ragged, common: Any, other: int) -> Ragged:
    """Code points for hashes: their place in `common`, `other` for what is not there."""
    places = np.searchsorted(common, lists.values)
    places[places == len(common)] = 0
    known = common[places] == lists.values if len(common) else np.zeros(len(places), np.bool_)
    points = np.where(known, places, other)
    points[points >= SURROGATES[0]] += SURROGATES[1] - SURROGATES[0]
    return Ragged(lists.indptr, points.astype("<u4"))


def _fill(result: F64, queries: list[str], documents: list[str]) -> None:
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein as Distance

    many = len(queries) * len(documents) >= SMALLEST
    workers = threads.cores() if many else 1
    empty = np.array([not text for text in documents])
    for lo in range(0, len(queries), CHUNK):
        chunk = queries[lo : lo + CHUNK]
        distances = process.cdist(
            chunk, documents, scorer=Distance.distance, dtype=np.int32, workers=workers
        )
        np.divide(1.0, 1.0 + distances, out=result[lo : lo + CHUNK])
    for row in (row for row, text in enumerate(queries) if not text):
        result[row, empty] = np.nan


SIMILARITY = Levenshtein()
