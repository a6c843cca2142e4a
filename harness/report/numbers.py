"""How figures are printed: three or four significant digits, units, thousands separators."""

from __future__ import annotations

import math
from typing import Any

MISSING = "–"
"""Stands for a figure that was not measured or that is not finite."""

_SIZES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def finite(value: Any) -> float | None:
    """The value as a float, or None where it is missing, infinite or no number."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def significant(value: Any, digits: int = 3) -> str:
    """`1234.5` -> `1,230`, `3.2144` -> `3.21`, `0.01234` -> `0.0123`."""
    number = finite(value)
    if number is None:
        return MISSING
    if number == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(number)))
    rounded = round(number, decimals)
    # rounding may carry into a new digit: 9.996 is 10.0, not 10.00
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(decimals, 0)}f}"


def milliseconds(value: Any) -> str:
    """With its unit: `3.21 ms`."""
    text = significant(value)
    return text if text == MISSING else f"{text} ms"


def seconds(value: Any) -> str:
    """With its unit: `3.21 s`."""
    text = significant(value)
    return text if text == MISSING else f"{text} s"


def quality(value: Any) -> str:
    """Four decimals, as evaluation tools print: `0.8123`."""
    number = finite(value)
    return MISSING if number is None else f"{number:.4f}"


def count(value: Any) -> str:
    """A whole number with thousands separators: `20,000`."""
    number = finite(value)
    return MISSING if number is None else f"{number:,.0f}"


def plain(value: Any) -> str:
    """A limit as the user gave it: `100`, `0.001`, `1,000`."""
    number = finite(value)
    return MISSING if number is None else f"{number:,.10g}"


def size(value: Any) -> str:
    """Bytes in decimal units: `12.3 MB`."""
    number = finite(value)
    if number is None:
        return MISSING
    for unit, factor in _SIZES:
        if number >= factor * 0.9995:
            return f"{significant(number / factor)} {unit}"
    return f"{number:,.0f} B"
