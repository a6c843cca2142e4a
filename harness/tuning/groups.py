"""Settings held under several filters: their rows taken together, as one to be chosen. Pure.

What is deployed is a setting without its filter, so it is judged under all filters of the study:
by the mean of its objectives and by the worst of its latencies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, inf

from harness.settings import ATTACHED, Setting
from harness.tuning.sla import Sla, stat_ms, upper_ms
from harness.tuning.trial import Trial


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows to choose among, and what they stand for.

    Attributes:
        trials: one for each setting without its filter, under the key of its worst row; the rows
            themselves where the study has one filter or none.
        rows: key -> the row of that key, as measured.
        filters: how many filters each trial was held under, no filter counted as one.
    """

    trials: tuple[Trial, ...]
    rows: Mapping[str, Trial] = field(default_factory=dict)
    filters: int = 1


def grouped(trials: Sequence[Trial], sla: Sla, objective: str) -> Grouped:
    """Take the rows of each setting together; those that lack one under some filter are left out.

    Args:
        trials: all rows of a study, failed ones too: they tell its filters.
        sla: the limit, whose statistic tells the worst row.
        objective: whose mean is taken.
    """
    # an attached index is asked as its user asks it, whatever filters are swept
    filters = {t.setting.filter for t in trials if t.setting.kind != ATTACHED}
    finished = sorted((t for t in trials if t.status == "ok"), key=lambda t: t.key)
    if len(filters) <= 1:
        return Grouped(tuple(finished), {t.key: t for t in finished})
    groups: dict[Setting, list[Trial]] = {}
    for trial in finished:
        groups.setdefault(replace(trial.setting, filter=None), []).append(trial)
    whole = [
        _together(rows, sla, objective)
        for rows in groups.values()
        if {t.setting.filter for t in rows} == filters or rows[0].setting.kind == ATTACHED
    ]
    return Grouped(
        tuple(sorted(whole, key=lambda t: t.key)), {t.key: t for t in finished}, len(filters)
    )


def _together(rows: Sequence[Trial], sla: Sla, objective: str) -> Trial:
    worst = max(rows, key=lambda t: (stat_ms(t, sla), upper_ms(t, sla), t.key))
    values = [t.quality.get(objective) for t in rows]
    known = [value for value in values if value is not None]
    # under a filter without the objective, the setting is not known to hold
    mean = fsum(known) / len(known) if len(known) == len(rows) else None
    bounds = {sla.stat: _finite(max(upper_ms(t, sla) for t in rows))}
    return replace(
        worst,
        quality={objective: mean},
        upper_ms=bounds,
        latency_ms=(worst.latency_ms or {}) | {sla.stat: _worst(rows, lambda t: stat_ms(t, sla))},
        samples=min(t.samples for t in rows),
        index_bytes=max((t.index_bytes for t in rows if t.index_bytes is not None), default=None),
        flags=tuple(sorted({flag for t in rows for flag in t.flags})),
    )


def _worst(rows: Sequence[Trial], value: Callable[[Trial], float]) -> float | None:
    return _finite(max(map(value, rows)))


def _finite(value: float) -> float | None:
    return None if value == inf else value
