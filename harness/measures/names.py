"""Names of measures: one canonical spelling, and what a person may type for it."""

from __future__ import annotations

import re

from indexers.errors import SettingError

RECALL = "R"
PRECISION = "P"
F1 = "F1"
AVERAGE_PRECISION = "AP(norm=min)"
NDCG = "nDCG"
SUCCESS = "Success"
ANN_RECALL = "ANNRecall"
CODE_RECALL = "ANNRecall(truth=code)"

JUDGED = (RECALL, PRECISION, F1, AVERAGE_PRECISION, NDCG, SUCCESS)
"""Measures that need judgments."""
MEASURES = (*JUDGED, ANN_RECALL, CODE_RECALL)
"""All measures, in the order of reports."""

_ALIASES = {
    "recall": RECALL,
    "precision": PRECISION,
    "ap": AVERAGE_PRECISION,
    "map": AVERAGE_PRECISION,
    "map(norm=min)": AVERAGE_PRECISION,
    **{name.lower(): name for name in MEASURES},
}
_TYPED = re.compile(r"(?P<measure>[^@]+?)(?:@(?P<cutoff>[0-9]+))?")


def at(measure: str, cutoff: int) -> str:
    """The printed name of a measure at a cut-off: `at(NDCG, 10)` is `nDCG@10`."""
    return f"{measure}@{cutoff}"


def measure_names(cutoff: int) -> tuple[str, ...]:
    """Printed names of all measures, in the order of reports."""
    return tuple(at(measure, cutoff) for measure in MEASURES)


def parse_measure(name: str, cutoff: int) -> str:
    """The canonical name of what a person typed, such as `ndcg`, `AP@10` or `mAP`.

    Case and spaces do not matter; the cut-off may be left out.

    Raises:
        SettingError: no such measure is computed, or it is cut elsewhere than at `cutoff`.
    """
    typed = _TYPED.fullmatch("".join(name.split()))
    measure = _ALIASES.get(typed["measure"].lower()) if typed else None
    if typed is None or measure is None:
        allowed = ", ".join(measure_names(cutoff))
        raise SettingError(f"measure {name!r} is unknown: choose from {allowed}")
    if typed["cutoff"] is not None and int(typed["cutoff"]) != cutoff:
        raise SettingError(
            f"measure {name!r} is cut at {typed['cutoff']}, but answers are cut at {cutoff}: "
            f"write {at(measure, cutoff)}, or ask for --cutoff {typed['cutoff']}"
        )
    return at(measure, cutoff)
