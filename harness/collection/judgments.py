"""Judgments as BEIR writes them (query, document, score) or TREC (query, 0, document, score)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.collection.lines import brief, numbered, shown
from harness.collection.types import Judgments
from indexers.errors import JudgmentsError
from indexers.types import I32

UNMATCHED = "unmatched judgment"
OF_ITSELF = "judgment of the query itself"
DUPLICATE = "duplicate judgment"
LEFT_OUT = (UNMATCHED, OF_ITSELF, DUPLICATE)
"""Why judgments are left out."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_HEADER_FIRST = frozenset({"query-id", "query_id", "queryid", "qid", "query", "topic", "topic_id"})
_HEADER_LAST = frozenset({"score", "relevance", "rel", "label", "grade", "gain", "rating"})


@dataclass(frozen=True, slots=True)
class Judged:
    """One line of a file."""

    line: int
    query: str
    document: str
    gain: float


def read(
    path: Path,
    document_ordinals: Mapping[str, int],
    query_rows: Mapping[str, int],
    query_self: I32,
) -> tuple[Judgments, dict[str, int]]:
    """Judgments of a corpus, and what was left out: reason -> count.

    A judgment of the document that is the query itself is left out, since that document is
    dropped from the answers.

    Args:
        path: tab-separated or white-space-separated, with or without a header, plain or gzip.
        document_ordinals: document id -> ordinal.
        query_rows: query id -> row.
        query_self: int32 (queries,), the query's own ordinal or -1.

    Raises:
        JudgmentsError: a line cannot be used (its number named), a gain is negative or not
            finite, a pair has two different gains, or no judgment matches the corpus.
    """
    kept: dict[tuple[int, int], Judged] = {}
    skipped: Counter[str] = Counter()
    unmatched: Judged | None = None
    for judged in rows(path):
        query, document = query_rows.get(judged.query), document_ordinals.get(judged.document)
        if query is None or document is None:
            unmatched = unmatched or judged
            skipped[UNMATCHED] += 1
        elif document == query_self[query]:
            skipped[OF_ITSELF] += 1
        elif _is_new(path, kept.setdefault((query, document), judged), judged):
            continue
        else:
            skipped[DUPLICATE] += 1
    if not kept:
        raise _nothing(path, skipped, unmatched)
    return _packed(kept, len(query_rows), skipped[UNMATCHED]), _counted(skipped)


def rows(path: Path) -> Iterator[Judged]:
    """The judgments in file order.

    Raises:
        JudgmentsError: the file or a line cannot be read.
    """
    columns = 0
    for first, (number, line) in enumerate(numbered(path, JudgmentsError)):
        parts = _split(path, number, line)
        if first == 0 and _is_header(parts):
            columns = len(parts)
            continue
        columns = columns or len(parts)
        if len(parts) != columns:
            what = f"has {len(parts)} columns where earlier lines have {columns}"
            raise _fault(path, number, what, "mend the line")
        gain = _gain(path, number, parts[-1])
        yield Judged(number, parts[0], parts[-2], gain)


def _split(path: Path, number: int, line: bytes) -> list[str]:
    try:
        text = line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as fault:
        what = f"byte {fault.start + 1} is not UTF-8"
        raise _fault(path, number, what, "save the file as UTF-8") from fault
    # ids may hold spaces where tabs part the columns
    parts = [part.strip() for part in text.split("\t")] if "\t" in text else text.split()
    if len(parts) in (3, 4) and all((parts[0], parts[-2], parts[-1])):
        return parts
    remedy = "it must be query-id, corpus-id, score parted by tabs, or a TREC line of 4 columns"
    what = f"has {len(parts)} column{'s' * (len(parts) != 1)}"
    if len(parts) in (3, 4):
        what = "has an empty column"
    raise _fault(path, number, what, remedy)


def _is_header(parts: Sequence[str]) -> bool:
    is_named = parts[0].lower() in _HEADER_FIRST or parts[-1].lower() in _HEADER_LAST
    return is_named and not _NUMBER.fullmatch(parts[-1])


def _gain(path: Path, number: int, text: str) -> float:
    gain = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(gain):
        what = f"the score {brief(text)} is not a finite number"
        raise _fault(path, number, what, "give a number from 0 up")
    if gain < 0:
        what = f"the score {text} is negative"
        raise _fault(path, number, what, "give a number from 0 up; 0 is not relevant")
    return gain + 0.0  # turns -0.0 into 0.0


def _is_new(path: Path, first: Judged, judged: Judged) -> bool:
    if first is judged:
        return True
    if first.gain == judged.gain:
        return False
    pair = f"query {brief(judged.query)} and document {brief(judged.document)}"
    what = f"{pair} have the score {judged.gain:g} here and {first.gain:g} in line {first.line}"
    raise _fault(path, judged.line, what, "keep one of the two")


def _packed(kept: Mapping[tuple[int, int], Judged], queries: int, unmatched: int) -> Judgments:
    pairs = sorted(kept)
    counts = np.bincount([query for query, _ in pairs], minlength=queries)
    indptr = np.zeros(queries + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    documents = np.array([document for _, document in pairs], np.int32)
    gains = np.array([kept[pair].gain for pair in pairs], np.float64)
    return Judgments(indptr, documents, gains, unmatched)


def _counted(skipped: Mapping[str, int]) -> dict[str, int]:
    return {reason: count for reason, count in skipped.items() if count}


def _nothing(path: Path, skipped: Mapping[str, int], unmatched: Judged | None) -> JudgmentsError:
    if not skipped:
        return JudgmentsError(f"{shown(path)}: holds no judgments; fill it or move it away")
    if unmatched is None:
        return JudgmentsError(
            f"{shown(path)}: judges nothing but the queries themselves; "
            "add judgments of other documents or move it away"
        )
    pair = f"query {brief(unmatched.query)}, document {brief(unmatched.document)}"
    return JudgmentsError(
        f"{shown(path)}: none of its {skipped[UNMATCHED]} judgments matches the corpus "
        f"(line {unmatched.line}: {pair}); its ids must be those of queries and documents"
    )


def _fault(path: Path, number: int, what: str, remedy: str) -> JudgmentsError:
    return JudgmentsError(f"{shown(path)} line {number}: {what}; {remedy}")
