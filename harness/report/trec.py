"""Answers and truth in TREC formats, so that other tools can recompute every quality figure.

The formats separate columns by white space and cannot quote it. Ids are therefore written with
white space and `%` percent-encoded (UTF-8); `urllib.parse.unquote` gives the id back, and all
other ids stand as they are. Bytes are the same each time: gzip headers carry no time or name.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import quote

import numpy as np

from harness.collection.types import Judgments, Neighbours
from harness.report.files import replacing
from indexers.types import I32, I64

_UNSAFE = re.compile(r"[\s%\x00]")


def encode_id(identifier: str) -> str:
    """The id as one column: white space, NUL and `%` percent-encoded, the rest as it stands."""
    return _UNSAFE.sub(lambda match: quote(match[0], safe=""), identifier)


MOST_LINES = 5_000_000
"""Lines that queries whose tie class is the whole corpus may take together."""


def write_run(
    path: Path, study: str, query_ids: Sequence[str], ids: Sequence[str], answers: I32
) -> None:
    """Write the answers of one trial as a gzipped TREC run.

    Args:
        path: `runs/<key>.run.gz`.
        study: the run's tag.
        query_ids: by row.
        ids: of the documents, by ordinal.
        answers: int32 (queries, K), ordinals, best first, padded with -1. The answer at rank r
            (from 1) gets the score K − r, so that no tool reorders ties.
    """
    tag = encode_id(study) or "-"
    tails = [
        f" {rank} {answers.shape[1] - rank} {tag}\n" for rank in range(1, 1 + answers.shape[1])
    ]
    with _gzip(path) as file:
        for query_id, row in zip(query_ids, answers.tolist(), strict=True):
            head = f"{encode_id(query_id)} Q0 "
            found = [ordinal for ordinal in row if ordinal >= 0]
            lines = [
                f"{head}{encode_id(ids[o])}{tail}" for o, tail in zip(found, tails, strict=False)
            ]
            file.write("".join(lines).encode())


def write_judgments(
    path: Path, query_ids: Sequence[str], ids: Sequence[str], judgments: Judgments
) -> None:
    """Write judgments as TREC qrels: `truth/judgments.qrels`.

    Whole gains are written as integers, which is what evaluation tools read; others as decimals.
    """
    with replacing(path) as file:
        for query, query_id in enumerate(query_ids):
            start, stop = int(judgments.indptr[query]), int(judgments.indptr[query + 1])
            pairs = zip(judgments.documents[start:stop], judgments.gains[start:stop], strict=True)
            head = f"{encode_id(query_id)} 0 "
            lines = [f"{head}{encode_id(ids[d])} {_gain(float(gain))}\n" for d, gain in pairs]
            file.write("".join(lines).encode())


def write_neighbours(
    path: Path,
    query_ids: Sequence[str],
    ids: Sequence[str],
    query_self: I32,
    neighbours: Neighbours,
    passing: I64 | None = None,
) -> int:
    """Write exact neighbours as gzipped TREC qrels, label 1: `truth/neighbours.qrels.gz`.

    The whole tie class of the K-th neighbour is written, so that P@K on this file is the
    tie-aware `ANNRecall@K` wherever there are at least K documents. Queries without features
    have no lines. Where fewer than K documents resemble a query at all, every document is in
    its class; such queries are written whole until they would take MOST_LINES together, and
    from then on with the resembling documents alone.

    Args:
        path: of the file.
        query_ids: by row.
        ids: of the documents, by ordinal.
        query_self: int32 (queries,), ordinal of the document that is the query itself, or -1.
        neighbours: as computed.
        passing: ordinals of the documents among which they were looked for; None for all.

    Returns:
        The number of queries that are not written whole.
    """
    nearest = neighbours.nearest
    tails = [f"{encode_id(identifier)} 1\n" for identifier in ids]
    everything = np.arange(len(ids)) if passing is None else passing
    room, cut = MOST_LINES // max(len(everything), 1), 0
    with _gzip(path) as file:
        for query, query_id in enumerate(query_ids):
            if not nearest.valid[query]:
                continue
            start, stop = int(nearest.indptr[query]), int(nearest.indptr[query + 1])
            documents = nearest.documents[start:stop]
            if not np.any(nearest.similarity[start:stop] == nearest.kth[query]):
                # the K-th similarity is the least possible, and every document reaches it
                room -= 1
                if room >= 0:
                    documents = everything[everything != query_self[query]].astype(np.int32)
                else:
                    cut += 1
            head = f"{encode_id(query_id)} 0 "
            lines = [head + tails[document] for document in documents.tolist()]
            file.write("".join(lines).encode())
    return cut


def _gain(gain: float) -> str:
    return str(int(gain)) if gain.is_integer() else repr(gain)


@contextmanager
def _gzip(path: Path) -> Iterator[BinaryIO]:
    with (
        replacing(path) as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
    ):
        yield cast(BinaryIO, packed)
