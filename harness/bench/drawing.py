"""Plots of the report as places in an SVG's own units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from harness.bench.rows import Row, total_s
from harness.measures.pooled import AVERAGE_PRECISION
from harness.report.numbers import plain, significant

WIDTH = 1000
_LEFT, _RIGHT, _TOP, _LINE = 250, 40, 14, 24
_SCATTER_HEIGHT, _SCATTER_LEFT, _FOOT = 420, 60, 46
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)


def intervals(rows: Sequence[Row]) -> dict[str, Any]:
    """MAP of each row with its interval and the published figure, best first.

    Args:
        rows: by falling MAP, none constant.
    """
    lows = [_low(row) for row in rows]
    highs = [_high(row) for row in rows]
    told = [row["published"][AVERAGE_PRECISION] for row in rows if row["published"]]
    ticks = _linear_ticks(min([*lows, *told]), max([*highs, *told]))
    place = _scale(ticks[0], ticks[-1], _LEFT, WIDTH - _RIGHT)
    height = _TOP + _LINE * len(rows)
    lines = [
        {
            "label": f"{row['family']} · {row['similarity']}",
            "family": row["family"],
            "y": _TOP + _LINE * (number + 0.5),
            "x": place(row[AVERAGE_PRECISION]),
            "low": place(_low(row)),
            "high": place(_high(row)),
            "published": place(row["published"][AVERAGE_PRECISION]) if row["published"] else None,
            "row": row,
        }
        for number, row in enumerate(rows)
    ]
    return {
        "width": WIDTH,
        "height": height + _FOOT,
        "bottom": height,
        "left": _LEFT,
        "ticks": [(place(tick), f"{tick:.2f}") for tick in ticks],
        "lines": lines,
    }


def time_quality(rows: Sequence[Row], front: Sequence[Row]) -> dict[str, Any]:
    """MAP against total seconds on a logarithmic axis, with the front.

    Args:
        rows: none constant.
        front: those that no other beats on both, the fastest first.
    """
    # a clock may say 0; the axis has none
    times = [max(total_s(row), 1e-6) for row in rows]
    decades = range(math.floor(math.log10(min(times))), math.ceil(math.log10(max(times))) + 1)
    across = _scale(decades[0], max(decades[-1], decades[0] + 1), _SCATTER_LEFT, WIDTH - _RIGHT)
    values = [row[AVERAGE_PRECISION] for row in rows]
    ticks = _linear_ticks(min(values), max(values))
    up = _scale(ticks[0], ticks[-1], _SCATTER_HEIGHT - _FOOT, _TOP)
    points = [
        {
            "x": across(math.log10(time)),
            "y": up(row[AVERAGE_PRECISION]),
            "family": row["family"],
            "title": f"{row['family']} · {row['similarity']}: MAP {row[AVERAGE_PRECISION]:.4f} "
            f"in {significant(time)} s",
            "on_front": any(row is one for one in front),
            "label": f"{row['family']} · {row['similarity']}",
        }
        for row, time in zip(rows, times, strict=True)
    ]
    return {
        "width": WIDTH,
        "height": _SCATTER_HEIGHT,
        "left": _SCATTER_LEFT,
        "right": WIDTH - _RIGHT,
        "top": _TOP,
        "bottom": _SCATTER_HEIGHT - _FOOT,
        "x_ticks": [(across(decade), plain(10.0**decade)) for decade in decades],
        "y_ticks": [(up(tick), f"{tick:.2f}") for tick in ticks],
        "points": points,
        "front": _steps([point for point in points if point["on_front"]]),
    }


def _steps(points: list[dict[str, Any]]) -> str:
    """The front as an SVG path: level until the next point, then up."""
    found = sorted(points, key=lambda point: point["x"])
    if not found:
        return ""
    path = f"M {found[0]['x']:.1f} {found[0]['y']:.1f}"
    for point in found[1:]:
        path += f" H {point['x']:.1f} V {point['y']:.1f}"
    return f"{path} H {WIDTH - _RIGHT}"


def _low(row: Row) -> float:
    return float(row[AVERAGE_PRECISION] if row["MAP_low"] is None else row["MAP_low"])


def _high(row: Row) -> float:
    return float(row[AVERAGE_PRECISION] if row["MAP_high"] is None else row["MAP_high"])


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    return lambda value: round(start + (value - low) / (high - low) * (end - start), 1)


def _linear_ticks(low: float, high: float) -> list[float]:
    """Round values around the range, at most eight or so."""
    step = next((s for s in _STEPS if (high - low) / s <= 7), _STEPS[-1])
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]
