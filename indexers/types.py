"""Arrays, records and protocols that every layer shares.

A document's *ordinal* is its rank when all documents are sorted by id (code point order,
which is the byte order of UTF-8), so that ordering by ordinal is ordering by id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

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
"""Called with the number of documents done since the last call."""


def no_progress(_: int) -> None:
    """Ignore progress."""


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
        signatures: keep the rows whose lowest bits make the code (minhash).
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
        signatures: uint32 (n, rows), the rows whose lowest bits make the code; None unless
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


class Hasher(Protocol):
    """Turns blocks of texts or vectors into fingerprints; may keep a vocabulary between blocks."""

    def learn(self, items: Items) -> None:
        """Look at one block of documents before any is hashed, for weights that need counts.

        Called for every block where `HashParams.weighting` is `idf`; else without effect.
        """
        ...

    def __call__(self, items: Items) -> Fingerprints:
        """Fingerprints of one block of raw texts (normalised inside) or vectors."""
        ...


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a family is swept over unless told otherwise.

    Attributes:
        bits: width of the code; None for a family without codes.
        num_tables: ascending; empty for a family without tables.
        hash_lengths: ascending; empty for a family without tables.
    """

    bits: int | None
    num_tables: tuple[int, ...] = ()
    hash_lengths: tuple[int, ...] = ()


class Family(Protocol):
    """An algorithm that turns a text or vector into a fingerprint. A module holds one as `FAMILY`.

    Attributes:
        name: that of its module.
        version: raised whenever a fingerprint of it would change.
        source: what it hashes.
        forms: of its fingerprints; `signature` only where asked for.
        kinds: index kinds that can search it: `lsh`, `flat`, `multihash`, `tokens`; none for a
            family that is only compared (`harness bench`).
        reranks: by what its answers are ranked, the default first: `code`, `signature`, or the
            name of a similarity.
        reads: fields of `HashParams` that it reads beside `bits` and `seed`.
        nested: whether fewer tables are the first ones, so that one pass serves all.
        max_num_tables, max_hash_length: greatest sizes; 0 without tables.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    source: ClassVar[Source]
    atom: ClassVar[Atom]
    forms: ClassVar[tuple[Form, ...]]
    kinds: ClassVar[tuple[str, ...]]
    reranks: ClassVar[tuple[str, ...]]
    reads: ClassVar[tuple[str, ...]]
    nested: ClassVar[bool]
    max_num_tables: ClassVar[int]
    max_hash_length: ClassVar[int]

    def sweep(self, dimension: int | None = None) -> Sweep:
        """Default sizes, for vectors of this dimension where it matters.

        Raises:
            SettingError: vectors of this dimension cannot be hashed.
        """
        ...

    def check(self, size: TableSize, params: HashParams) -> None:
        """Refuse what the family cannot serve, naming all of it and what is allowed.

        Raises:
            SettingError: one line for each value out of range.
        """
        ...

    def hasher(self, size: TableSize, params: HashParams) -> Hasher:
        """A hasher whose keys and codes depend on `params` alone, never on sizes (but for
        families that are not nested, on `num_tables`).

        Raises:
            SettingError: as `check`.
        """
        ...


class Similarity(Protocol):
    """How alike two fingerprints are. A module holds one as `SIMILARITY`.

    Attributes:
        name: that of its module.
        forms: that it compares, the preferred first.

    Some have more: `least`, form -> the similarity of fingerprints that have nothing in common;
    `fitted(documents)`, which gives a similarity with what it must know of the documents.
    """

    name: ClassVar[str]
    forms: ClassVar[tuple[Form, ...]]

    def matrix(self, queries: Fingerprints, documents: Fingerprints, form: Form) -> F64:
        """Similarity of every query to every document, higher is nearer.

        Args:
            queries: m fingerprints.
            documents: n fingerprints of the same family and parameters.
            form: one of `forms` that both have.

        Returns:
            float64 (m, n), the same whatever else is in the block; NaN where either is not OK.

        Raises:
            SettingError: the form is not compared, or its widths differ.
        """
        ...


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


@dataclass(frozen=True, slots=True)
class Documents:
    """What a backend indexes. Row i is the document of ordinal i.

    Attributes:
        ids: n ids, sorted ascending, unique.
        texts: n raw texts; read by text indexes alone.
        fingerprints: of the same n documents; None for text indexes.
    """

    ids: Sequence[str]
    texts: Sequence[str]
    fingerprints: Fingerprints | None


@dataclass(frozen=True, slots=True)
class Queries:
    """What a searcher is asked. Row i is query i.

    Attributes:
        texts: raw texts; read by text indexes alone.
        fingerprints: None for text indexes.
    """

    texts: Sequence[str]
    fingerprints: Fingerprints | None


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """What is built: one index that serves every setting up to these sizes.

    Attributes:
        backend: name of the backend.
        kind: `lsh`, `flat`, `multihash`, `tokens` or `bm25`.
        family: name of the family; None for `bm25`.
        num_tables: number of tables stored; None where the kind has none.
        hash_lengths: the hash lengths that will be asked for, ascending; empty where none.
        bits: width of the re-ranking code; None for `bm25` and families without codes.
    """

    backend: str
    kind: str
    family: str | None = None
    num_tables: int | None = None
    hash_lengths: tuple[int, ...] = ()
    bits: int | None = None


@dataclass(frozen=True, slots=True)
class SearchParams:
    """How an index is searched.

    Attributes:
        k: how many answers are asked for, at least 1.
        num_tables: the first tables to look in; None where the kind has none.
        hash_length: atoms of the key that must agree; None where the kind has none.
        rerank: `code` (Hamming on the code), `signature` (in process only), or the similarity
            of a family without codes: `jaccard`, `levenshtein`, `cosine`.
    """

    k: int
    num_tables: int | None = None
    hash_length: int | None = None
    rerank: str = "code"


@dataclass(frozen=True, slots=True)
class BackendConfig:
    """Where a backend finds its server and how it marks what it makes.

    Attributes:
        url: of the server; None for a backend in process.
        owner: tag written into every temporary index, `[a-z0-9-]+`; only indexes that carry
            it are deleted.
        timeout_s: limit of one administrative request.
    """

    url: str | None = None
    owner: str = "harness"
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class IndexHandle:
    """A built index, described well enough for another process to open it.

    Attributes:
        spec: what was asked for.
        location: index name in an engine, or folder of files in process.
        documents: how many documents were indexed.
        size_bytes: of the index as stored.
        build_s: time to build, fingerprinting apart.
    """

    spec: IndexSpec
    location: str
    documents: int
    size_bytes: int
    build_s: float


@dataclass(frozen=True, slots=True)
class Hits:
    """Answers to one query, best first, ties by ordinal.

    Attributes:
        ordinals: int32 (m,), m at most k, no ordinal twice.
        scores: float64 (m,), higher is better; bits − Hamming distance for codes, agreeing rows
            for signatures, else the similarity.
        duplicates: answers that the backend gave twice and that were dropped.
    """

    ordinals: I32
    scores: F64
    duplicates: int = 0


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """What a backend says of itself, for the report.

    Attributes:
        version: of the library or server.
        warnings: one line each, such as a yellow cluster.
        facts: names and values worth printing.
    """

    version: str
    warnings: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request to an engine, ready to send."""

    method: str
    path: str
    body: bytes


Transport: TypeAlias = Callable[[HttpRequest], tuple[int, bytes]]
"""Sends a request, gives status and body; raises OSError where no answer came."""


class Searcher(Protocol):
    """One opened index with prepared queries and fixed search parameters.

    `search` may be called from several threads at once.
    """

    def search(self, query: int) -> Hits:
        """Answers to the query of this row; empty Hits where its fingerprint is not OK.

        Raises:
            BackendError: the backend answered with an error.
            OSError: no answer came.
        """
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


class Backend(Protocol):
    """Where an index lives. A module holds the class as `BACKEND`, made from a BackendConfig."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    remote: ClassVar[bool]
    """Whether searching waits on a socket rather than on this process's cores."""

    def __init__(self, config: BackendConfig) -> None: ...

    @classmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""
        ...

    def check(self) -> BackendInfo:
        """Look before anything is built.

        Raises:
            EngineUnavailable: unreachable or red.
            MissingPackage: the client is not installed.
        """
        ...

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Build a temporary index of all documents whose status is OK; nothing stays on error.

        In process the files go below `folder`, which exists and is empty.

        Raises:
            BackendError: it could not be built.
        """
        ...

    def open(
        self,
        handle: IndexHandle,
        params: SearchParams,
        queries: Queries,
        ids: Sequence[str],
        transport: Transport | None = None,
    ) -> Searcher:
        """Open a built index, in any process.

        Args:
            handle: from `build`.
            params: fixed for this searcher; sizes at most those of the handle's spec.
            queries: all that may be asked.
            ids: of the documents, by ordinal.
            transport: how requests reach an engine; None for the backend's own client.
        """
        ...

    def size_bytes(self, handle: IndexHandle, params: SearchParams) -> int:
        """Bytes that an index for these parameters alone takes, where the backend can tell;
        else those of the whole index."""
        ...

    def state(self, handle: IndexHandle) -> str:
        """What must not change while the index is measured, such as an engine's segments."""
        ...

    def drop(self, handle: IndexHandle) -> None:
        """Remove the index; it is no error if it is gone already."""
        ...

    def sweep(self) -> list[str]:
        """Remove indexes that carry this config's owner tag; gives their names."""
        ...
