"""One colour a family, one marker a backend and kind, in both drawing libraries.

Colours are those of Okabe and Ito (2008), which people with any colour vision tell apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.report.model import names
from harness.settings import TEXT_KINDS

PICK = "#D4A000"
FRONT = "#6B7280"
LIMIT = "#B42318"

_BASELINE = "#777777"
_KNOWN = {
    "simhash": "#0072B2",
    "minhash": "#D55E00",
    **dict.fromkeys(TEXT_KINDS.values(), _BASELINE),
}
_OTHERS = (
    *("#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#5B4B8A"),
    *("#882255", "#117733", "#A3A500", "#44AA99"),  # of Tol (2021), for a tenth family
)


class Marker(NamedTuple):
    """The same shape as matplotlib and plotly name it."""

    matplotlib: str
    plotly: str


_MARKERS = (
    Marker("o", "circle"),
    Marker("s", "square"),
    Marker("D", "diamond"),
    Marker("^", "triangle-up"),
    Marker("v", "triangle-down"),
    Marker("p", "pentagon"),
    Marker("h", "hexagon"),
    Marker("P", "cross"),
    Marker("X", "x"),
)
DASHES = ((6, 3), (2, 2), (8, 3, 2, 3), (4, 4))
"""Line patterns of reference rows, lengths of dash and gap."""


def colours(families: Iterable[str]) -> dict[str, str]:
    """Family -> colour; known families keep theirs in every report."""
    found = names(families)
    others = [family for family in found if family not in _KNOWN]
    chosen = {family: _OTHERS[i % len(_OTHERS)] for i, family in enumerate(others)}
    return {family: chosen.get(family) or _KNOWN[family] for family in found}


def markers(places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Marker]:
    """(backend, kind) -> marker; table indexes first, since they are what is swept."""
    found = sorted(set(places), key=lambda place: (place[1] != "lsh", place[1], place[0]))
    return {place: _MARKERS[i % len(_MARKERS)] for i, place in enumerate(found)}


def heat_share(value: float, limits: tuple[float, float]) -> float:
    """Where a value stands between the limits, 0 to 1; 0.5 where they are equal."""
    low, high = limits
    return 0.5 if high <= low else (value - low) / (high - low)


_HEAT = ((0xEF, 0xF6, 0xFB), (0x9C, 0xC4, 0xE0), (0x3B, 0x86, 0xBF), (0x0B, 0x3C, 0x6F))


def heat_colour(share: float) -> str:
    """A single-hue scale from light to dark, readable without colour vision."""
    place = min(max(share, 0.0), 1.0) * (len(_HEAT) - 1)
    index = min(int(place), len(_HEAT) - 2)
    part = place - index
    mixed = (round(a + (b - a) * part) for a, b in zip(_HEAT[index], _HEAT[index + 1], strict=True))
    return "#" + "".join(f"{channel:02X}" for channel in mixed)
