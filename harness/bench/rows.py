"""One row for each family, similarity, facet and split."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from harness.bench.bootstrap import interval
from harness.bench.compare import Compared, Measured, told
from harness.bench.published import published
from harness.bench.scoring import Task
from harness.collection.pools import Pools
from harness.measures.pooled import AVERAGE_PRECISION
from indexers.types import F64, I64, Bool

ALL = "all"
SELECTED = "selected"
DIGITS = 10
"""Figures are rounded so: the last digits of sums differ between machines."""

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of the task whose mean counts as one, as measured."""

    measured: Measured
    rows: I64

    def values(self, name: str) -> F64:
        return self.measured.scored.pooled.per_query[name][self.rows]


def rows(task: Task, compared: Compared, *, seed: int, resamples: int) -> Iterator[Row]:
    """The rows of one family.

    Split `all` is every query with the defaults; `dev` and `test` are the means over the folds
    of their halves, with the defaults; `selected` scores each test half with the parameters that
    had the best MAP on the dev half of its fold, the first of equals.

    Args:
        task: what was ranked.
        compared: the measured family.
        seed: of the confidence intervals.
        resamples: of them.
    """
    pools = task.pools
    facets = np.array(pools.facets)
    place = _places(pools)
    for similarity, default in compared.defaults.items():
        chosen = [_chosen(compared.tried[similarity], fold.dev) for fold in pools.folds]
        for facet in (ALL, *pools.facet_names):
            inside = facets == facet if facet != ALL else np.ones(len(pools), np.bool_)
            splits = {ALL: [_Part(default, np.flatnonzero(inside))]}
            if pools.folds:
                halves = {
                    "dev": [f.dev for f in pools.folds],
                    "test": [f.test for f in pools.folds],
                }
                splits |= {
                    name: [_Part(default, _kept(half, inside)) for half in found]
                    for name, found in halves.items()
                }
                splits[SELECTED] = [
                    _Part(measured, _kept(half, inside))
                    for measured, half in zip(chosen, halves["test"], strict=True)
                ]
            for split, parts in splits.items():
                there = [part for part in parts if len(part.rows)]
                if there:
                    placed = [_Part(one.measured, _by(place, one.rows)) for one in there]
                    yield _row(task, facet, split, placed, seed=seed, resamples=resamples)


def _places(pools: Pools) -> I64:
    """Place of each row by query id and facet, so that a resample draws the same queries from
    every layout of a collection; some write the facet behind the id."""
    named = [
        (pools.corpus.query_ids[query].removesuffix(f"_{facet}"), facet)
        for query, facet in zip(pools.queries, pools.facets, strict=True)
    ]
    place = np.empty(len(named), np.int64)
    place[sorted(range(len(named)), key=named.__getitem__)] = np.arange(len(named))
    return place


def _by(place: I64, rows: I64) -> I64:
    return rows[np.argsort(place[rows])]


def _kept(half: I64, inside: Bool) -> I64:
    return half[inside[half]]


def _chosen(tried: Sequence[Measured], dev: I64) -> Measured:
    # max gives the first of equals
    return max(tried, key=lambda one: _mean(one.scored.pooled.per_query[AVERAGE_PRECISION][dev]))


def _row(
    task: Task, facet: str, split: str, parts: Sequence[_Part], *, seed: int, resamples: int
) -> Row:
    first = parts[0].measured
    benchmark = task.pools.benchmark if task.protocol == "pool" else None
    return {
        "family": first.family,
        "similarity": first.similarity,
        "form": first.form,
        "facet": facet,
        "split": split,
        "queries": int(sum(len(part.rows) for part in parts)),
        **_quality(parts, seed=seed, resamples=resamples),
        "encode_s": first.encode_s,
        "fingerprint_s": _average([part.measured.fingerprint_s for part in parts]),
        "similarity_s": _average([part.measured.scored.seconds for part in parts]),
        "params": [told(first.family, part.measured.variant) for part in _distinct(parts)],
        "published": published(benchmark, first.family, first.similarity, facet, split),
    }


def _quality(parts: Sequence[_Part], *, seed: int, resamples: int) -> dict[str, Any]:
    """Means of the measures, the interval of MAP, and what makes them doubtful."""
    names = parts[0].measured.scored.pooled.per_query
    low, high = interval(
        [part.values(AVERAGE_PRECISION) for part in parts], seed=seed, resamples=resamples
    )
    pooled = [(part.measured.scored.pooled, part.rows) for part in parts]
    return {
        **{name: _over(parts, name) for name in names},
        "MAP_low": _rounded(low),
        "MAP_high": _rounded(high),
        "tie_share": _rounded(_average([_mean(found.tied[rows]) for found, rows in pooled])),
        "constant": all(bool(found.constant[rows].all()) for found, rows in pooled),
        "unusable": int(sum(found.unscored[rows].sum() for found, rows in pooled)),
    }


def _distinct(parts: Sequence[_Part]) -> list[_Part]:
    """For the parameters of each fold: one where all are the same."""
    same = all(part.measured.variant == parts[0].measured.variant for part in parts)
    return list(parts[:1] if same else parts)


def _over(parts: Sequence[_Part], name: str) -> float | None:
    return _rounded(_average([_mean(part.values(name)) for part in parts]))


def _mean(values: F64) -> float:
    # exactly rounded, so that the order of queries does not show in the last digit
    return math.fsum(values.tolist()) / len(values)


def _average(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def front(found: Sequence[Row]) -> list[Row]:
    """Rows of all facets and queries that no other beats on both MAP and total time, best last.

    Constant rows are left out.
    """
    rivals = [row for row in found if row["facet"] == row["split"] == ALL and not row["constant"]]
    rivals.sort(key=lambda row: (total_s(row), -row[AVERAGE_PRECISION]))
    kept: list[Row] = []
    for row in rivals:
        if not kept or row[AVERAGE_PRECISION] > kept[-1][AVERAGE_PRECISION]:
            kept.append(row)
    return kept


def total_s(row: Row) -> float:
    """Seconds of a row: fingerprints and similarity.

    Making vectors is left out: they are made once and kept, and the next run has them.
    """
    return float(row["fingerprint_s"] + row["similarity_s"])


def ranked(found: Sequence[Row], facet: str = ALL, split: str = ALL) -> tuple[list[Row], list[Row]]:
    """Rows of a facet and split by falling MAP, and the constant ones, which have no rank."""
    here = [row for row in found if row["facet"] == facet and row["split"] == split]
    here.sort(key=lambda row: (-row[AVERAGE_PRECISION], row["family"], row["similarity"]))
    return [r for r in here if not r["constant"]], [r for r in here if r["constant"]]
