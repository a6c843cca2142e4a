"""Documents as lines of NDJSON, written directly, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import orjson

from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_filter import filter_parts
from indexers.backends._engine_layout import fitting, tails
from indexers.backends._engine_texts import KINDS as TEXT_KINDS
from indexers.errors import BackendError
from indexers.index_types import Documents, IndexSpec
from indexers.types import I64, Status

# By its ordinal a document is found again: what is sent twice stands once. It costs the engine a
# look for an older one, a few per cent; the user's own ids may be longer than the 512 bytes of _id.
ACTION = b'{"index":{"_id":"%d"}}\n'
LONGEST_ID_BYTES = 32_766  # of one value with doc values, in Lucene
BLOCK = 1024
TARGET_BYTES = 4 << 20
SHOWN_IDS = 5


@dataclass(frozen=True, slots=True)
class Lines:
    """Some documents, ready to send; the ids tell which failed."""

    ids: list[str]
    lines: list[bytes]


def indexed_rows(spec: IndexSpec, documents: Documents) -> I64:
    """Ordinals of the documents that an index holds: all texts, or all OK fingerprints.

    Raises:
        BackendError: the fingerprints are missing, or not such as the index is made of.
    """
    if spec.kind in TEXT_KINDS:
        return np.arange(len(documents.ids), dtype=np.int64)
    fingerprints = fitting(spec, documents.fingerprints, "the documents")
    return np.flatnonzero(fingerprints.status == Status.OK).astype(np.int64)


def blocks(spec: IndexSpec, documents: Documents, rows: I64, dialect: Dialect) -> Iterator[Lines]:
    """The documents of these ordinals, a block of lines at a time.

    Raises:
        BackendError: an id is longer than an engine can hold, or no valid Unicode.
    """
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        ids = [documents.ids[row] for row in part.tolist()]
        if spec.kind in TEXT_KINDS:
            ends = [b',"text":%b}\n' % _json(documents.texts[row]) for row in part.tolist()]
        else:
            assert documents.fingerprints is not None
            ends = tails(spec, documents.fingerprints.take(part), dialect)
        parts = filter_parts(spec, documents.attributes, part)
        heads = heads_of(spec, documents, part)
        columns = zip(heads, parts, ends, strict=True)
        yield Lines(ids, [head + middle + end for head, middle, end in columns])


def _json(text: str) -> bytes:
    try:
        return orjson.dumps(text)
    except TypeError:  # a lone surrogate
        return orjson.dumps(text.encode(errors="replace").decode())


def heads_of(spec: IndexSpec, documents: Documents, rows: I64) -> Iterator[bytes]:
    """The start of each document's lines: its id, and what answers may bring along."""
    for row in rows.tolist():
        stored = stored_text(documents.texts[row]) if spec.stores_source else b""
        yield ACTION % row + _head(documents.ids[row]) + stored


def stored_text(text: str) -> bytes:
    """The part of a document's line that holds what answers bring along."""
    return b',"document":{"text":%b}' % _json(text)


def _head(name: str) -> bytes:
    try:
        quoted = orjson.dumps(name)
    except TypeError:
        raise BackendError(f"document id {name!a} is not valid Unicode: change it") from None
    if len(quoted) > LONGEST_ID_BYTES and len(name.encode()) > LONGEST_ID_BYTES:
        raise BackendError(
            f"document id {name[:40]!r}… has {len(name.encode())} bytes: allowed are "
            f"{LONGEST_ID_BYTES}, shorten it"
        )
    return b'{"id":' + quoted


def failed(ids: Sequence[str], why: str, retries: int) -> BackendError:
    """The error of documents that were not indexed."""
    shown = ", ".join(repr(name[:80]) for name in ids[:SHOWN_IDS])
    more = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    count = "1 document" if len(ids) == 1 else f"{len(ids)} documents"
    tried = f" after {retries} retries" if retries else ""
    return BackendError(f"{count} could not be indexed{tried} ({shown}{more}): {why}")


def batches(source: Iterator[Lines]) -> Iterator[Lines]:
    """Cut blocks where a request would grow past its target size."""
    for block in source:
        start, size = 0, 0
        for end, line in enumerate(block.lines):
            if size and size + len(line) > TARGET_BYTES:
                yield Lines(block.ids[start:end], block.lines[start:end])
                start, size = end, 0
            size += len(line)
        yield Lines(block.ids[start:], block.lines[start:])
