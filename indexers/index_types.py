"""What an index is made from, what it is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from indexers.types import F64, I32, Fingerprints


@dataclass(frozen=True, slots=True)
class Documents:
    """What a backend indexes. Row i is the document of ordinal i.

    Attributes:
        ids: n ids, sorted ascending, unique.
        texts: n raw texts; read by text indexes, and where documents are stored.
        fingerprints: of the same n documents; None for text indexes.
        attributes: name -> n values by which answers are filtered: texts, or numbers; None
            where a document has none.
    """

    ids: Sequence[str]
    texts: Sequence[str]
    fingerprints: Fingerprints | None
    attributes: Mapping[str, Sequence[str | float | None]] = field(default_factory=dict)


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
class Layout:
    """How an engine keeps an index; a backend in process has none of it.

    Attributes:
        shards: primary shards, at least 1.
        replicas: further copies of each.
        codec: of stored fields, by the engine's name for it; None for its usual one.
        refresh_interval: at which documents are made visible, as engines write times; `-1` for
            never, until the build ends.
        translog: `async`, or `request` to wait for the disk in every request.
        segments: that each shard is merged to at most; 0 leaves them as they came.
    """

    shards: int = 1
    replicas: int = 0
    codec: str | None = None
    refresh_interval: str = "-1"
    translog: str = "async"
    segments: int = 1


@dataclass(frozen=True, slots=True)
class Filter:
    """What answers must have: a value of an attribute, or a number in a range.

    Attributes:
        field: name of the attribute.
        value: that it must have; None for a range.
        low, high: of a range, both included; None where it is open.
    """

    field: str
    value: str | float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """What is built: one index that serves every setting up to these sizes.

    Attributes:
        backend: name of the backend.
        kind: `lsh`, `flat`, `multihash`, `hnsw`, `tokens`, or one of texts: `bm25`,
            `more_like_this`, `min_hash`.
        family: name of the family; None for kinds of texts.
        num_tables: number of tables stored; None where the kind has none.
        hash_lengths: the hash lengths that will be asked for, ascending; empty where none.
        bits: width of the re-ranking code; None for texts and families without codes.
        m: links of a node of an `hnsw` graph (`indexers.graph`); None for the usual number.
        ef_construction: candidates looked at for a new node's links; None as for `m`.
        vector_type: as what an engine's own vector search holds vectors: `bit` for codes,
            `float`, `byte`, `int8`, `int4`, `bbq`; None for the usual one, and for `flat` by a
            script.
        knn_engine: library of OpenSearch's graphs, `lucene` or `faiss`; None for the first.
        dimension: D of the vectors, where it is known before they are; None elsewhere.
        layout: of an engine's index.
        attributes: (name, `keyword` or `double`) of those that answers are filtered by.
        stores_source: whether documents are kept, so that answers can bring them along.
        updatable: whether documents can be indexed again while it is searched.
        cached: whether answers may come from an engine's caches.
    """

    backend: str
    kind: str
    family: str | None = None
    num_tables: int | None = None
    hash_lengths: tuple[int, ...] = ()
    bits: int | None = None
    m: int | None = None
    ef_construction: int | None = None
    vector_type: str | None = None
    knn_engine: str | None = None
    dimension: int | None = None
    layout: Layout = Layout()
    attributes: tuple[tuple[str, str], ...] = ()
    stores_source: bool = False
    updatable: bool = False
    cached: bool = False


@dataclass(frozen=True, slots=True)
class SearchParams:
    """How an index is searched.

    Attributes:
        k: how many answers are asked for, at least 1.
        num_tables: the first tables to look in; None where the kind has none.
        hash_length: atoms of the key that must agree; None where the kind has none.
        rerank: `code` (Hamming on the code), `signature` (in process only), or the similarity
            of a family without codes: `jaccard`, `levenshtein`, `cosine`. On engines also
            `window` (the code, of those that most tables found) and `none` (by the number of
            tables that found them).
        ef_search: candidates that an `hnsw` search keeps, raised to k where it is below; None
            for the usual number. Indexes that differ in it alone are one index.
        window_size: candidates that `window` ranks by the code; None otherwise.
        filter: that answers must pass; None for all documents.
        fetch_source: bring the documents along, as far as they are stored.
    """

    k: int
    num_tables: int | None = None
    hash_length: int | None = None
    rerank: str = "code"
    ef_search: int | None = None
    window_size: int | None = None
    filter: Filter | None = None
    fetch_source: bool = False


@dataclass(frozen=True, slots=True)
class BackendConfig:
    """Where a backend finds its server and how it marks what it makes.

    Attributes:
        url: of the server; None for a backend in process.
        owner: tag written into every temporary index, `[a-z0-9-]+`; only indexes that carry
            it are deleted.
        timeout_s: limit of one administrative request.
        user, password: that open the server, in place of what the URL holds; None without.
        api_key: likewise, in place of a user: encoded as the server gave it, or `id:key`.
        ca_file: PEM file of the only authorities whose certificates are trusted; None for the
            system's.
        verify_tls: whether the server's certificate and its name are looked at.
        patience_s: how long a server that goes away while an index is built is waited for.
        reads_only: whether nothing is built there, so that no right over the cluster is needed.
    """

    url: str | None = field(default=None, repr=False)  # it may hold a password
    owner: str = "harness"
    timeout_s: float = 60.0
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    verify_tls: bool = True
    patience_s: float = 120.0
    reads_only: bool = False


@dataclass(frozen=True, slots=True)
class IndexHandle:
    """A built index, described well enough for another process to open it.

    Attributes:
        spec: what was asked for.
        location: index name in an engine, or folder of files in process.
        documents: how many documents were indexed.
        size_bytes: of the index as stored.
        build_s: time to build, fingerprinting apart.
        field_bytes: field -> bytes, where an engine tells it.
        uuid: of an engine's index, by which it is known again; None in process.
    """

    spec: IndexSpec
    location: str
    documents: int
    size_bytes: int
    build_s: float
    field_bytes: dict[str, int] = field(default_factory=dict)
    uuid: str | None = None


@dataclass(frozen=True, slots=True)
class Hits:
    """Answers to one query, best first, ties by ordinal.

    Attributes:
        ordinals: int32 (m,), m at most k, no ordinal twice.
        scores: float64 (m,), higher is better; bits − Hamming distance for codes, agreeing rows
            for signatures, else the similarity.
        duplicates: answers that the backend gave twice and that were dropped.
        unknown: answers that are no documents of the corpus and that were dropped; only an index
            that is not ours gives any.
    """

    ordinals: I32
    scores: F64
    duplicates: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of an index in production.

    Attributes:
        id: of the document.
        score: as in `Hits`.
        document: what is stored of it; None where nothing is brought along.
    """

    id: str
    score: float
    document: object = None


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
