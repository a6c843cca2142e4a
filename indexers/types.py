"""Arrays, records and protocols that every layer shares.

A document's *ordinal* is its rank when all documents are sorted by id (code point order,
which is the byte order of UTF-8), so that ordering by ordinal is ordering by id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

U8: TypeAlias = NDArray[np.uint8]

U32: TypeAlias = NDArray[np.uint32]

U64: TypeAlias = NDArray[np.uint64]

I32: TypeAlias = NDArray[np.int32]

I64: TypeAlias = NDArray[np.int64]

F64: TypeAlias = NDArray[np.float64]

F32: TypeAlias = NDArray[np.float32]

Bool: TypeAlias = NDArray[np.bool_]

Atom: TypeAlias = Literal["bit", "row"]

Source: TypeAlias = Literal["text", "vector"]
"""What a family hashes: raw texts, or float32 vectors (n, D)."""

Form: TypeAlias = Literal["bits", "signature", "sequence", "string", "vector"]
"""A shape that a fingerprint can have; a sequence is also its set and its multiset."""

Unit: TypeAlias = Literal["char", "word"]

Weighting: TypeAlias = Literal["tf", "idf"]

Items: TypeAlias = Any
"""What a hasher takes: `Sequence[str]` for source `text`, float32 (n, D) for `vector`."""

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of documents done since the last call; below 0 to do some again."""


def no_progress(_: int) -> None:
    """Ignore progress."""


def say(progress: Progress, what: str) -> None:
    """Tell what is done while no document is, if the one who counts has a method `say`."""
    told = getattr(progress, "say", None)
    if told is not None:
        told(what)


class Status(IntEnum):
    """Whether a text gave a fingerprint; only OK is indexed."""

    OK = 0
    EMPTY = 1
    TOO_SHORT = 2
    LOW_ENTROPY = 3


@dataclass(frozen=True, slots=True)
class TableSize:
    """The largest table layout that one hashing pass must serve."""

    num_tables: int
    hash_length: int


@dataclass(frozen=True, slots=True)
class HashParams:
    """How a family hashes; what a family does not read is without effect on it.

    Attributes:
        bits: width of the re-ranking code; a family without codes ignores it.
        seed: 0 to 2^32 - 1.
        shingle_size: units a shingle (n-gram), 1 to 7.
        unit: what a shingle is made of: code points, or words (runs of `\\w`).
        weighting: of a document's shingles: `tf` counts them, `idf` multiplies the count by
            the inverse document frequency that `Hasher.learn` saw.
        window: k-gram hashes a Winnowing window spans, at least 1.
        signatures: keep the rows that the code is made from (minhash).
        dimension: D of the vectors; None for texts.
    """

    bits: int
    seed: int
    shingle_size: int = 3
    unit: Unit = "char"
    weighting: Weighting = "tf"
    window: int = 5
    signatures: bool = False
    dimension: int | None = None


@dataclass(frozen=True, slots=True)
class Ragged:
    """Lists of different lengths; list i is values[indptr[i] : indptr[i + 1]].

    Attributes:
        indptr: int64 (n + 1,), ascending from 0.
        values: (indptr[n],), uint64 for hashes, uint8 for ASCII text.
    """

    indptr: I64
    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def row(self, i: int) -> NDArray[Any]:
        """The values of one list, without a copy."""
        return self.values[self.indptr[i] : self.indptr[i + 1]]

    def part(self, lo: int, hi: int) -> Ragged:
        """Lists lo to hi, or to the last, without a copy of their values."""
        indptr = self.indptr[lo : hi + 1]
        return Ragged(indptr - indptr[0], self.values[indptr[0] : indptr[-1]])

    def strings(self, encoding: str = "latin-1") -> list[str]:
        """Every list decoded; `latin-1` makes one character of each byte."""
        cuts = (self.indptr * self.values.itemsize).tolist()
        joined = np.ascontiguousarray(self.values).tobytes()
        return [joined[start:stop].decode(encoding) for start, stop in pairwise(cuts)]

    @staticmethod
    def concatenated(parts: Sequence[Ragged]) -> Ragged:
        """The lists of all parts, in order; of none, no lists of uint64."""
        lengths = [np.diff(part.indptr) for part in parts]
        indptr = np.zeros(1 + sum(map(len, lengths)), np.int64)
        np.cumsum(np.concatenate(lengths) if lengths else [], out=indptr[1:])
        values = [part.values for part in parts] or [np.zeros(0, np.uint64)]
        return Ragged(indptr, np.concatenate(values))

    def take(self, rows: I64) -> Ragged:
        """The lists of these rows, in that order."""
        lengths = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        inside = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
        return Ragged(indptr, self.values[np.repeat(self.indptr[:-1][rows], lengths) + inside])


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Fingerprints of n documents by one family; what a family has not is empty or None.

    Attributes:
        status: uint8 (n,), values of `Status`.
        codes: uint8 (n, bits / 8), big-endian packed re-ranking codes; zeros where not OK.
        keys: uint32 (num_tables, words, n), atoms of each table's key, first atom first:
            for bits 32 atoms a word from the most significant bit down, for rows one a word.
        atom: what one atom of a key is.
        signatures: uint32 (n, rows), the rows that the code is made from; None unless
            the hasher was asked for them.
        hashes: uint64, hashes of features in the order of the text, repeats kept; the tokens
            of an index are their distinct values.
        strings: uint8, ASCII.
        vectors: float32 (n, D), unit length; zeros where not OK.
    """

    status: U8
    codes: U8
    keys: U32
    atom: Atom
    signatures: U32 | None = None
    hashes: Ragged | None = None
    strings: Ragged | None = None
    vectors: F32 | None = None

    def __len__(self) -> int:
        return len(self.status)

    @property
    def bits(self) -> int:
        """Width of the re-ranking code."""
        return 8 * int(self.codes.shape[1])

    def take(self, rows: I64) -> Fingerprints:
        """The fingerprints of the given documents, in that order."""
        return Fingerprints(
            self.status[rows],
            self.codes[rows],
            np.ascontiguousarray(self.keys[:, :, rows]),
            self.atom,
            None if self.signatures is None else self.signatures[rows],
            None if self.hashes is None else self.hashes.take(rows),
            None if self.strings is None else self.strings.take(rows),
            None if self.vectors is None else self.vectors[rows],
        )

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms that these fingerprints have."""
        held: dict[Form, bool] = {
            "bits": self.codes.shape[1] > 0,
            "signature": self.signatures is not None,
            "sequence": self.hashes is not None,
            "string": self.strings is not None,
            "vector": self.vectors is not None,
        }
        return tuple(form for form, there in held.items() if there)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The exact nearest documents of each query with the whole tie class of the K-th.

    Attributes:
        indptr: int64 (queries + 1,); query q's documents are rows indptr[q] to indptr[q + 1].
        documents: int32 (pairs,), ordinals by falling similarity, then ordinal.
        similarity: float64 (pairs,), higher is nearer.
        kth: float64 (queries,), similarity of the K-th document, or of the last where there
            are fewer. Where it is the least possible similarity (0 for sets), all documents
            tie with it and only those above it are listed.
        valid: bool (queries,), false where the query has no features.
    """

    indptr: I64
    documents: I32
    similarity: F64
    kth: F64
    valid: Bool
