"""Gathers what hash curves are made of from raw arrays: codes, and what is relevant to whom."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.bench.curves import arrays as arrays
from harness.bench.curves import relevance as known
from harness.bench.curves.input import RawInput, check
from harness.bench.hashing import Hashed, bench_params, fingerprint
from harness.collection.lines import shown
from harness.measures.curves_counting import Coded, LabelRelevance, PairRelevance, Relevance
from indexers import registry
from indexers.errors import SettingError
from indexers.types import F64, I32, I64

DEFAULT_SPLIT = 0.1


@dataclass(frozen=True, slots=True)
class Measured:
    """What `document.document` takes.

    Attributes:
        coded: codes of documents and queries.
        relevance: of the same.
        note: what counts as relevant.
    """

    coded: Coded
    relevance: Relevance
    note: str


@dataclass(frozen=True, slots=True)
class _Points:
    """Codes of both sides and where they come from.

    Attributes:
        coded: the codes.
        split: rows of the documents and of the queries in the files; None where the queries
            have files of their own.
        origin: file that row i of the others belongs to.
    """

    coded: Coded
    split: tuple[I64, I64] | None
    origin: Path

    @property
    def documents(self) -> int:
        """How many codes documents have."""
        return len(self.coded.codes)

    @property
    def queries(self) -> int:
        """How many codes queries have."""
        return len(self.coded.query_codes)

    @property
    def rows(self) -> int:
        """Rows that a file beside the documents' codes must have."""
        return self.documents + (0 if self.split is None else self.queries)


def from_arrays(given: RawInput) -> Measured:
    """Read raw arrays.

    Raises:
        SettingError: files do not fit together, or relevance is not told, or told twice.
        JudgmentsError: judgments cannot be read, or match nothing.
    """
    check(given)
    points = _read_points(given) if given.family is None else _hashed_points(given, given.family)
    if given.labels is not None:
        relevance, note = _by_labels(given, given.labels, points)
    elif given.judgments is not None:
        relevance, note = _by_judgments(given, given.judgments, points)
    elif given.neighbours is not None:
        relevance, note = _by_neighbours(given.neighbours, points)
    else:
        relevance, note = _by_vectors(given, points)
    if points.split is not None:
        note += f"; {points.queries:,} query points drawn with seed {given.seed}"
    return Measured(points.coded, relevance, note)


def _split(given: RawInput, rows: int) -> tuple[I64, I64]:
    share = DEFAULT_SPLIT if given.split is None else given.split
    return known.split_rows(rows, share, given.seed)


def _read_points(given: RawInput) -> _Points:
    assert given.codes is not None
    bits, codes = arrays.read_codes(given.codes, packed=given.packed, bits=given.bits)
    if given.query_codes is None:
        split = _split(given, len(codes))
        return _Points(Coded.of(bits, codes[split[0]], codes[split[1]]), split, given.codes)
    others, asked = arrays.read_codes(given.query_codes, packed=given.packed, bits=given.bits)
    if others != bits:
        raise SettingError(
            f"{shown(given.query_codes)}: codes have {others} bits, those of "
            f"{shown(given.codes)} {bits}; both must come from one hash"
        )
    return _Points(Coded.of(bits, codes, asked), None, given.codes)


def _hashed_points(given: RawInput, name: str) -> _Points:
    assert given.vectors is not None
    family = registry.family(name)
    if family.source != "vector" or "bits" not in family.forms:
        raise SettingError(f"family {name} makes no codes of vectors; give a --corpus for texts")
    vectors = arrays.read_vectors(given.vectors)
    split = None
    if given.query_vectors is None:
        split = _split(given, len(vectors))
        sides = vectors[split[0]], vectors[split[1]]
    else:
        sides = vectors, arrays.read_vectors(given.query_vectors)
    params = bench_params(name, bits=given.bits, seed=given.seed, dimension=vectors.shape[1])
    documents, queries = (side.astype(np.float32) for side in sides)
    hashed = fingerprint(name, params, documents, queries)
    return _Points(coded_of(hashed), split, given.vectors)


def coded_of(hashed: Hashed, query_self: I32 | None = None) -> Coded:
    """Codes of fingerprints.

    Args:
        hashed: both sides, by a family with codes.
        query_self: int32 (queries,), the document that is the query itself, or -1; None for no
            such query.
    """
    documents, queries = hashed.documents, hashed.queries
    own = np.full(len(queries), -1, np.int32) if query_self is None else query_self
    return Coded(
        documents.bits, documents.codes, queries.codes, documents.status, queries.status, own
    )


def _check_rows(path: Path, rows: int, wanted: int, what: str, origin: Path) -> None:
    if rows != wanted:
        raise SettingError(
            f"{shown(path)}: holds {rows} {what} for {wanted} rows of {shown(origin)}; "
            "row i of both must be the same point"
        )


def _by_labels(given: RawInput, path: Path, points: _Points) -> tuple[Relevance, str]:
    labels, asked = arrays.read_labels(path, given.query_labels)
    _check_rows(path, len(labels), points.rows, "labels", points.origin)
    if points.split is not None:
        labels, asked = labels[points.split[0]], labels[points.split[1]]
    elif given.query_labels is not None:
        _check_query_rows(given.query_labels, len(asked), points, "labels")
    return LabelRelevance(labels, asked), "equal label"


def _check_query_rows(path: Path, rows: int, points: _Points, what: str) -> None:
    if rows != points.queries:
        raise SettingError(f"{shown(path)}: holds {rows} {what} for {points.queries} queries")


def _by_judgments(given: RawInput, path: Path, points: _Points) -> tuple[Relevance, str]:
    from harness.collection import judgments

    judged, skipped = judgments.read(
        path,
        _positions(given.ids, points.documents),
        _positions(given.query_ids, points.queries),
        points.coded.query_self,
    )
    left_out = "".join(f"; {count:,} × {reason} left out" for reason, count in skipped.items())
    return known.judged_pairs(judged, given.relevant_from), f"judgments of {path.name}{left_out}"


def _positions(path: Path | None, rows: int) -> dict[str, int]:
    names = map(str, range(rows)) if path is None else arrays.read_ids(path, rows)
    return {name: row for row, name in enumerate(names)}


def _by_neighbours(path: Path, points: _Points) -> tuple[PairRelevance, str]:
    ids = arrays.read_neighbours(path, points.documents)
    _check_query_rows(path, len(ids), points, "rows of neighbours")
    return known.listed_pairs(ids), f"neighbours of {path.name}"


def _by_vectors(given: RawInput, points: _Points) -> tuple[PairRelevance, str]:
    assert given.vectors is not None
    vectors = arrays.read_vectors(given.vectors)
    _check_rows(given.vectors, len(vectors), points.rows, "vectors", points.origin)
    if points.split is not None:
        return _told(given, vectors[points.split[0]], vectors[points.split[1]])
    assert given.query_vectors is not None
    asked = arrays.read_vectors(given.query_vectors)
    _check_query_rows(given.query_vectors, len(asked), points, "vectors")
    if asked.shape[1] != vectors.shape[1]:
        raise SettingError(
            f"{shown(given.query_vectors)}: vectors have {asked.shape[1]} dimensions, those of "
            f"{shown(given.vectors)} {vectors.shape[1]}"
        )
    return _told(given, vectors, asked)


def _told(given: RawInput, vectors: F64, asked: F64) -> tuple[PairRelevance, str]:
    if given.rule == "neighbours":
        return known.by_cosine(vectors, asked, given.k), f"{given.k} nearest by cosine, ties kept"
    ball = known.by_ball(vectors, asked, given.ball_rank)
    return ball.pairs, f"strictly closer than Dball = {ball.radius:.6f} (rank {given.ball_rank})"
