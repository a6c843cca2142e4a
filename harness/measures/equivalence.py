"""Similarities that rank alike: they give every query the same order, ties included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from indexers.errors import HarnessError
from indexers.types import F64


def rank_classes(scores: Mapping[str, Sequence[F64]]) -> list[tuple[str, ...]]:
    """Groups of similarities that order every query's candidates identically.

    Two orders are identical if both put the same candidates before, beside and after each other;
    candidates without a score (NaN) are beside each other, after all that have one.

    Args:
        scores: name -> one float64 array for each query, its candidates in a fixed order.

    Returns:
        Every name once; the names of a group, and the groups by their first name, in the order
        given. A group of one is a similarity that ranks like no other.

    Raises:
        HarnessError: the similarities scored different numbers of queries or candidates.
    """
    shapes = {name: [len(query) for query in queries] for name, queries in scores.items()}
    first = next(iter(shapes), None)
    groups: dict[tuple[bytes, ...], list[str]] = {}
    for name, queries in scores.items():
        if first is not None and shapes[name] != shapes[first]:
            raise HarnessError(
                f"{name} and {first} scored different candidates: "
                "score the same queries and candidates by both"
            )
        groups.setdefault(tuple(_dense_ranks(query) for query in queries), []).append(name)
    return [tuple(names) for names in groups.values()]


def _dense_ranks(scores: F64) -> bytes:
    _, ranks = np.unique(-np.asarray(scores, np.float64), return_inverse=True)
    return ranks.astype(np.int32).tobytes()
