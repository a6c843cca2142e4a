"""Documents, queries and truth as arrays. Ordinals and query rows, never positions in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from indexers.filters import Value
from indexers.types import F64, I32, I64, Nearest


@dataclass(frozen=True, slots=True)
class Judgments:
    """Graded relevance; query q's are rows indptr[q] to indptr[q + 1].

    Attributes:
        indptr: int64 (queries + 1,).
        documents: int32 (pairs,), ordinals, ascending within a query, unique there.
        gains: float64 (pairs,), at least 0.
        unmatched: pairs whose document or query is not in the corpus, left out.
    """

    indptr: I64
    documents: I32
    gains: F64
    unmatched: int = 0


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Exact neighbours under a reference similarity, the query itself left out.

    Attributes:
        similarity_name: of the reference similarity, such as `jaccard`.
        k: K, before ties.
        nearest: the documents with the whole tie class of the K-th.
        least: the least possible similarity; documents that have it are not listed.
        usable: documents that can be anyone's neighbour; None for those whose text is not blank.
    """

    similarity_name: str
    k: int
    nearest: Nearest
    least: float = 0.0
    usable: int | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """A collection to tune on.

    Attributes:
        name: for people and for the study's folder, `[a-z0-9-]+`.
        content: 32 hex digits over documents, queries, judgments and the fields joined.
        ids: document ids, sorted ascending, unique; the ordinal is the rank.
        texts: raw text of each document, fields joined; may be empty.
        query_ids: unique, in the corpus' order.
        query_texts: raw; may be empty.
        query_self: int32 (queries,), ordinal of the document that is the query itself, or -1.
        judgments: None where the corpus has none.
        skipped: reason -> count, for everything read and not used.
        source: provenance, one line.
        file_rows: int64 (documents,), row of each document in the corpus' own file, from 0 and
            blank lines apart; None where the documents are in the order of their ordinals.
        query_file_rows: int64 (queries,), the same for the queries' own file; None where there
            is none.
        attributes: field -> its value in each document, by ordinal: all texts or all numbers,
            None where a document has none; only the fields that were asked for.
    """

    name: str
    content: str
    ids: Sequence[str]
    texts: Sequence[str]
    query_ids: Sequence[str]
    query_texts: Sequence[str]
    query_self: I32
    judgments: Judgments | None
    skipped: dict[str, int] = field(default_factory=dict)
    source: str = ""
    file_rows: I64 | None = None
    query_file_rows: I64 | None = None
    attributes: Mapping[str, Sequence[Value]] = field(default_factory=dict)
