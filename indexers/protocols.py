"""What families, similarities and backends keep to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from indexers.http_request import Transport
from indexers.index_types import (
    BackendConfig,
    BackendInfo,
    Documents,
    Hits,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
)
from indexers.types import (
    F64,
    Atom,
    Fingerprints,
    Form,
    HashParams,
    Items,
    Progress,
    Source,
    TableSize,
    no_progress,
)


class Hasher(Protocol):
    """Turns blocks of texts or vectors into fingerprints; may keep a vocabulary between blocks."""

    def learn(self, items: Items) -> None:
        """Look at one block of documents before any is hashed, for weights that need counts.

        Called for every block where `HashParams.weighting` is `idf`; else without effect.
        """
        ...

    def learnt(self) -> str:
        """Digest of what it learnt, by which fingerprints of other documents are told apart;
        empty where nothing was to be learnt."""
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
        kinds: index kinds that can search it: `lsh`, `flat`, `multihash`, `hnsw`, `tokens`; none
            for a family that is only compared (`harness bench`).
        reranks: by what its answers are ranked, the default first: `code`, `signature`, or the
            name of a similarity.
        reads: fields of `HashParams` that it reads beside `bits` and `seed`.
        nested: whether fewer tables are the first ones, so that one pass serves all.
        finite: whether all tables read one code, each in an order of its own, and every width
            is another code, not the first bits of a wider one.
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
    finite: ClassVar[bool]
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
        least: form -> the similarity of fingerprints that have nothing in common; forms without
            one are left out.
    """

    name: ClassVar[str]
    forms: ClassVar[tuple[Form, ...]]
    least: ClassVar[Mapping[Form, float]]

    def fitted(self, documents: Fingerprints) -> Similarity:
        """This similarity with what it must know of the documents; itself where that is nothing."""
        ...

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
