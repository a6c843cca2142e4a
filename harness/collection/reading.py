"""Documents, queries and judgments put together into a corpus that has no name yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from harness.collection import beir, digest, jsonl, judgments
from harness.collection.attributes import taken
from harness.collection.lines import shown
from harness.collection.types import Corpus, Judgments
from indexers.errors import CorpusError
from indexers.types import I32, I64, Progress

SAMPLED_QUERIES = 1000
DROPPED_QUERIES = "query of another split"
"""Reason in `Corpus.skipped`."""


def read_folder(
    layout: beir.Layout,
    fields: Sequence[str] | None,
    progress: Progress,
    attributes: Sequence[str] = (),
) -> Corpus:
    """The corpus of a BEIR folder.

    Raises:
        CorpusError: documents or queries cannot be used.
        JudgmentsError: judgments cannot be used, or match nothing.
    """
    documents, file_rows = _documents(layout.corpus, fields, progress, attributes)
    queries, query_file_rows, dropped = _queries(layout)
    ordinals = _positions(documents.ids)
    query_self = _query_self(queries, ordinals)
    judged, left_out = _judged(layout, ordinals, _positions(queries.ids), query_self)
    skipped = {
        "empty text": _empty(documents.texts),
        "empty query text": _empty(queries.texts),
        DROPPED_QUERIES: dropped,
        **left_out,
    }
    return Corpus(
        name="",
        content="",
        ids=documents.ids,
        texts=documents.texts,
        query_ids=queries.ids,
        query_texts=queries.texts,
        query_self=query_self,
        judgments=judged,
        skipped={reason: count for reason, count in skipped.items() if count},
        source=_folder_source(layout, fields, query_self),
        file_rows=file_rows,
        query_file_rows=query_file_rows,
        attributes=documents.attributes,
    )


def read_file(
    path: Path,
    fields: Sequence[str] | None,
    seed: int,
    progress: Progress,
    attributes: Sequence[str] = (),
) -> Corpus:
    """One file of documents; up to `SAMPLED_QUERIES` of them are asked as queries.

    Raises:
        CorpusError: the documents cannot be used.
    """
    documents, file_rows = _documents(path, fields, progress, attributes)
    drawn = _draw(documents, seed)
    empty = _empty(documents.texts)
    return Corpus(
        name="",
        content="",
        ids=documents.ids,
        texts=documents.texts,
        query_ids=[documents.ids[ordinal] for ordinal in drawn],
        query_texts=[documents.texts[ordinal] for ordinal in drawn],
        query_self=drawn,
        judgments=None,
        skipped={"empty text": empty} if empty else {},
        source=(
            f"{path.name}, fields {_field_list(fields)}; {len(drawn)} of its documents drawn as "
            f"queries (seed {seed}); no judgments"
        ),
        file_rows=file_rows,
        attributes=documents.attributes,
    )


def _draw(documents: jsonl.TextTable, seed: int) -> I32:
    """Ordinals of the documents that are asked as queries, ascending; none with empty text.

    The least digests of seed and id are taken: the same on every machine, and little changed
    by a few documents more.
    """

    def rank(ordinal: int) -> str:
        return digest.of_text(str(seed), documents.ids[ordinal])

    asked = [ordinal for ordinal, text in enumerate(documents.texts) if text.strip()]
    return np.array(sorted(sorted(asked, key=rank)[:SAMPLED_QUERIES]), np.int32)


def _documents(
    path: Path, fields: Sequence[str] | None, progress: Progress, attributes: Sequence[str]
) -> tuple[jsonl.TextTable, I64]:
    """The documents by ordinal, and their rows in the file."""
    table = jsonl.documents(path, fields, progress, attributes)
    if not any(text.strip() for text in table.texts):
        raise CorpusError(
            f"{shown(path)}: every document's text is empty; choose other fields with --fields"
        )
    order = sorted(range(len(table.ids)), key=table.ids.__getitem__)
    return _take(table, order), np.array(order, np.int64)


def _take(table: jsonl.TextTable, order: Iterable[int]) -> jsonl.TextTable:
    rows = list(order)
    return jsonl.TextTable(
        [table.ids[row] for row in rows],
        [table.texts[row] for row in rows],
        [table.same_as[row] for row in rows],
        taken(table.attributes, rows),
    )


def _queries(layout: beir.Layout) -> tuple[jsonl.TextTable, I64, int]:
    """The queries to ask, their rows in the file, and how many are left out since another split
    judges them.

    Where the split judges none of them all stay, and matching the judgments tells what is wrong.
    """
    queries = jsonl.queries(layout.queries)
    if not any(text.strip() for text in queries.texts):
        raise CorpusError(f"{shown(layout.queries)}: every query text is empty; give one query")
    everything = np.arange(len(queries.ids))
    if layout.split is None or layout.judgments is None:
        return queries, everything, 0
    judged = {row.query for row in judgments.rows(layout.judgments)}
    rows = [row for row, name in enumerate(queries.ids) if name in judged]
    if not rows:
        return queries, everything, 0
    return _take(queries, rows), np.array(rows, np.int64), len(queries.ids) - len(rows)


def _judged(
    layout: beir.Layout, ordinals: dict[str, int], rows: dict[str, int], query_self: I32
) -> tuple[Judgments | None, dict[str, int]]:
    if layout.judgments is None:
        return None, {}
    return judgments.read(layout.judgments, ordinals, rows, query_self)


def _query_self(queries: jsonl.TextTable, ordinals: dict[str, int]) -> I32:
    found = [
        ordinals.get(name, -1) if same is None else ordinals.get(same, ordinals.get(name, -1))
        for name, same in zip(queries.ids, queries.same_as, strict=True)
    ]
    return np.array(found, np.int32)


def _positions(ids: Sequence[str]) -> dict[str, int]:
    return {name: position for position, name in enumerate(ids)}


def _empty(texts: Sequence[str]) -> int:
    return sum(not text.strip() for text in texts)


def _folder_source(layout: beir.Layout, fields: Sequence[str] | None, query_self: I32) -> str:
    truth = "no judgments" if layout.judgments is None else f"judgments {layout.judgments.name}"
    if layout.split is not None:
        truth = f"judgments of the split {layout.split}"
    if layout.other_splits:
        truth += f" (not used: {', '.join(layout.other_splits)})"
    same = int((query_self >= 0).sum())
    return (
        f"{layout.corpus.name}, fields {_field_list(fields)}; {layout.queries.name}, "
        f"{same} of the queries are documents themselves; {truth}"
    )


def _field_list(fields: Sequence[str] | None) -> str:
    return " + ".join(jsonl.DEFAULT_FIELDS if fields is None else fields)
