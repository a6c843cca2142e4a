"""Judged pools: for each query (and facet of it) the documents that people judged, as stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import orjson

from harness.collection.judgments import OF_ITSELF, UNMATCHED
from harness.collection.lines import brief, shown
from harness.collection.types import Corpus
from indexers.errors import InputError, JudgmentsError
from indexers.types import F64, I32, I64

_HALF = re.compile(r"(?:fold([0-9]+)_)?(dev|test)")


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows to choose parameters on, and rows to score them on: int64, ascending."""

    dev: I64
    test: I64


@dataclass(frozen=True, slots=True)
class Pools:
    """What is ranked for whom. Row r is one query, or one facet of it.

    Attributes:
        corpus: documents and queries; its judgments are not read.
        queries: int64 (rows,), the row of the query in the corpus.
        facets: (rows,), the facet that was judged; empty where there are none.
        indptr: int64 (rows + 1,); row r's judged documents are indptr[r] to indptr[r + 1].
        candidates: int32 (pairs,), ordinals in stored order, without the query itself.
        gains: float64 (pairs,), at least 0.
        folds: of the rows; empty where the collection has no splits.
        benchmark: `csfcube`, `relish`, or None for any other collection.
    """

    corpus: Corpus
    queries: I64
    facets: tuple[str, ...]
    indptr: I64
    candidates: I32
    gains: F64
    folds: tuple[Fold, ...] = ()
    benchmark: str | None = None

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def sizes(self) -> I64:
        """int64 (rows,): judged documents of each row."""
        return np.diff(self.indptr)

    @property
    def facet_names(self) -> tuple[str, ...]:
        """The facets, sorted."""
        return tuple(sorted(set(self.facets) - {""}))


@dataclass(frozen=True, slots=True)
class Pool:
    """One query's judged documents before they are packed: (document id, gain) as stored."""

    query: int
    facet: str
    judged: Sequence[tuple[str, float]]


def packed(
    corpus: Corpus, pools: Iterable[Pool], where: str, skipped: dict[str, int]
) -> tuple[I64, tuple[str, ...], I64, I32, F64]:
    """Arrays of the pools that keep a document, and what was left out counted into `skipped`.

    Returns:
        `queries`, `facets`, `indptr`, `candidates` and `gains` of `Pools`.

    Raises:
        JudgmentsError: nothing is left, or a document is judged twice for one row.
    """
    ordinals = {name: ordinal for ordinal, name in enumerate(corpus.ids)}
    queries, facets, sizes = [], [], []
    candidates: list[int] = []
    gains: list[float] = []
    for pool in pools:
        kept = _kept(pool, ordinals, int(corpus.query_self[pool.query]), skipped)
        if len({ordinal for ordinal, _ in kept}) < len(kept):
            name = brief(corpus.query_ids[pool.query])
            raise JudgmentsError(
                f"{where}: query {name} has a document twice; keep one judgment of each"
            )
        if kept:
            queries.append(pool.query)
            facets.append(pool.facet)
            sizes.append(len(kept))
            candidates += [ordinal for ordinal, _ in kept]
            gains += [gain for _, gain in kept]
    if not candidates:
        raise JudgmentsError(f"{where}: none of its judgments matches the documents and queries")
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return (
        np.array(queries, np.int64),
        tuple(facets),
        indptr,
        np.array(candidates, np.int32),
        np.array(gains, np.float64),
    )


def _kept(
    pool: Pool, ordinals: Mapping[str, int], own: int, skipped: dict[str, int]
) -> list[tuple[int, float]]:
    kept = []
    for name, gain in pool.judged:
        ordinal = ordinals.get(name)
        reason = UNMATCHED if ordinal is None else OF_ITSELF
        if ordinal is None or ordinal == own:
            skipped[reason] = skipped.get(reason, 0) + 1
        else:
            kept.append((ordinal, gain))
    return kept


def read_folds(path: Path, queries: Sequence[str], facets: Sequence[str]) -> tuple[Fold, ...]:
    """The folds of a splits file: `dev` and `test`, or `fold1_dev` and so on, below facets or not.

    A list names queries by their id, with or without `_facet` behind it. Below a facet it names
    that facet of them; elsewhere an id without a facet names all facets of its query.

    Args:
        path: JSON of lists of query ids.
        queries: id of each row.
        facets: facet of each row; empty where there is none.

    Raises:
        JudgmentsError: the file cannot be read, a fold has an empty half, or a query is in both.
    """
    halves: _Halves = {}
    _collect(read_json(path, JudgmentsError), halves, path, frozenset(facets) - {""}, "")
    rows = list(zip(queries, facets, strict=True))
    folds = []
    for label, half in sorted(halves.items()):
        dev, test = (_named(half.get(name, set()), rows) for name in ("dev", "test"))
        for name, found in (("dev", dev), ("test", test)):
            if not len(found):
                raise JudgmentsError(
                    f"{shown(path)}: {_half(label, name)} names no query that is judged; "
                    "mend it or move the file away"
                )
        if len(both := np.intersect1d(dev, test)):
            query, facet = rows[both[0]]
            told = f" (facet {brief(facet)})" if facet else ""
            raise JudgmentsError(
                f"{shown(path)}: query {brief(query)}{told} is in {_half(label, 'dev')} and in "
                f"{_half(label, 'test')}; leave it in one of them"
            )
        folds.append(Fold(dev, test))
    return tuple(folds)


_Halves: TypeAlias = dict[str, dict[str, set[tuple[str, str]]]]
"""Fold -> dev or test -> (id, the facet that its list lies below, or nothing)."""


def _half(label: str, name: str) -> str:
    return f"fold{label}_{name}" if label else name


def _named(listed: set[tuple[str, str]], rows: Sequence[tuple[str, str]]) -> I64:
    """The rows that are listed, ascending."""
    found = [
        row
        for row, (query, facet) in enumerate(rows)
        if any(
            (name, below) in listed
            for name in (query, f"{query}_{facet}", query.removesuffix(f"_{facet}"))
            for below in ("", facet)
        )
    ]
    return np.array(found, np.int64)


def _collect(tree: Any, halves: _Halves, path: Path, facets: frozenset[str], below: str) -> None:
    if not isinstance(tree, dict) or not tree:
        raise _no_splits(path)
    for key, value in tree.items():
        half = _HALF.fullmatch(key)
        if isinstance(value, dict):
            _collect(value, halves, path, facets, key if key in facets else below)
        elif half is None or not isinstance(value, list):
            raise _no_splits(path)
        else:
            ids = {(str(name), below) for name in value if isinstance(name, str | int)}
            halves.setdefault(half[1] or "", {}).setdefault(half[2], set()).update(ids)


def _no_splits(path: Path) -> JudgmentsError:
    return JudgmentsError(
        f"{shown(path)}: is no splits file; it must hold lists of query ids named dev and test, "
        "or fold1_dev, fold1_test and so on"
    )


def read_json(path: Path, error: type[InputError]) -> Any:
    """A whole JSON file.

    Raises:
        InputError: of the given type; it cannot be read or is no JSON.
    """
    try:
        return orjson.loads(path.read_bytes())
    except OSError as fault:
        raise error(
            f"{shown(path)}: cannot be read ({fault.strerror}); it must be a readable file"
        ) from fault
    except orjson.JSONDecodeError as fault:
        raise error(
            f"{shown(path)}: is not valid JSON ({fault.msg}, line {fault.lineno}); mend it"
        ) from fault
