"""Which documents pass a filter, and as what an index holds the attributes that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from indexers.index_types import Filter
from indexers.types import F64, Bool

Value: TypeAlias = str | float | None
"""Of an attribute; None where a document has none."""
KEYWORD, DOUBLE = "keyword", "double"
"""As what attributes are held: texts, and numbers."""


def type_of(filter_: Filter) -> str:
    """`keyword` where it compares texts, else `double`."""
    return KEYWORD if isinstance(filter_.value, str) else DOUBLE


def attribute_of(filter_: Filter) -> tuple[str, str]:
    """The attribute that an index must hold, as `IndexSpec.attributes` tells it."""
    return filter_.field, type_of(filter_)


def bounds(filter_: Filter) -> tuple[float, float]:
    """Least and greatest number that passes, both included; infinite where it is open."""
    if isinstance(filter_.value, str):
        raise TypeError("a filter of texts has no bounds")
    if filter_.value is not None:
        return filter_.value, filter_.value
    low, high = filter_.low, filter_.high
    return -np.inf if low is None else low, np.inf if high is None else high


def as_numbers(values: Sequence[Value]) -> F64:
    """Numbers as float64 (n,), NaN where there is none.

    Raises:
        TypeError: a value is a text.
    """
    if any(isinstance(value, str) for value in values):
        raise TypeError("an attribute of numbers holds a text")
    return np.array([np.nan if value is None else value for value in values], np.float64)


def within(numbers: F64, filter_: Filter) -> Bool:
    """Which numbers pass; NaN does not."""
    low, high = bounds(filter_)
    return np.asarray((numbers >= low) & (numbers <= high))


def passing(values: Sequence[Value], filter_: Filter) -> Bool:
    """Which documents pass, by ordinal: bool (n,); one without a value does not.

    Args:
        values: of the filter's attribute, by ordinal.
        filter_: what they must have.

    Raises:
        TypeError: numbers are asked of an attribute of texts.
    """
    if isinstance(filter_.value, str):
        wanted = filter_.value
        return np.fromiter((value == wanted for value in values), np.bool_, len(values))
    return within(as_numbers(values), filter_)
