"""Lists of different lengths as indexes in process need them: distinct hashes."""

from __future__ import annotations

import numpy as np

from indexers.types import I64, U64, Ragged


def distinct(lists: Ragged) -> tuple[U64, I64]:
    """Every distinct (value, list) pair: uint64 values and int64 lists, by (value, list)."""
    owners = np.repeat(np.arange(len(lists), dtype=np.int64), np.diff(lists.indptr))
    order = np.argsort(lists.values, kind="stable")  # owners rise already
    values, owners = lists.values[order], owners[order]
    first = np.ones(len(values), np.bool_)
    first[1:] = (values[1:] != values[:-1]) | (owners[1:] != owners[:-1])
    return values[first], owners[first]


def find(vocabulary: U64, values: U64) -> I64:
    """The row of each value in the sorted vocabulary, or -1."""
    if not len(vocabulary):
        return np.full(len(values), -1, np.int64)
    rows = np.minimum(np.searchsorted(vocabulary, values), len(vocabulary) - 1)
    return np.where(vocabulary[rows] == values, rows, -1).astype(np.int64)


def runs(values: U64) -> I64:
    """Where each run of equal values begins, and where the last one ends."""
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    return np.concatenate(([0], changes, [len(values)])) if len(values) else np.zeros(1, np.int64)


def grouped(owners: I64, values: I64, n: int) -> Ragged:
    """Values of each of n lists, in the order given."""
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=n), out=indptr[1:])
    return Ragged(indptr, values[np.argsort(owners, kind="stable")])


def by_list(owners: I64, values: I64, n: int) -> Ragged:
    """Values of each of n lists, in rising order."""
    order = np.argsort(values, kind="stable")
    return grouped(owners[order], values[order], n)
