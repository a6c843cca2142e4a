"""The setting to use: a pure function of the stored rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.tuning.front import pareto
from harness.tuning.groups import grouped
from harness.tuning.sla import Sla, feasible, null_ms, stat_ms, upper_ms
from harness.tuning.trial import Trial


@dataclass(frozen=True, slots=True)
class Choice:
    """What the rows say.

    Attributes:
        pick: the setting to use; a baseline only where no swept setting is feasible.
        runner_up: what the same rule picks without the pick.
        nearest_miss: where nothing is feasible, the finished trial closest to the limit.
        front: keys of the trials that no other beats on (objective, SLA statistic).
        filters: of the study, no filter counted as one. Above 1, a setting without its filter is
            what is chosen (`harness.tuning.groups`), and every row named here is its worst one.
        held: key of a row that stands for a setting under several filters -> that setting's rows
            taken together.
        enough: a feasible baseline as good as the swept pick: within the tolerance of the best
            feasible swept setting, as the pick is.
    """

    pick: Trial | None
    runner_up: Trial | None
    nearest_miss: Trial | None
    front: tuple[str, ...]
    enough: Trial | None
    filters: int = 1
    held: Mapping[str, Trial] = field(default_factory=dict)

    def together(self, trial: Trial) -> Trial:
        """The setting's rows under all filters taken together; the row itself where it has one."""
        return self.held.get(trial.key, trial)


def choose(trials: Sequence[Trial], sla: Sla, objective: str, tolerance: float) -> Choice:
    """Pick among finished trials; see `Choice`.

    Args:
        trials: rows of one study, in any order.
        sla: the limit.
        objective: name of the measure to maximise.
        tolerance: objectives within this of the best count as equal.
    """
    groups = grouped(trials, sla, objective)
    scored = [t for t in groups.trials if t.quality.get(objective) is not None]
    meets = [t for t in scored if feasible(t, sla)]
    swept = [t for t in meets if not t.baseline]
    pool = swept or meets
    pick = cheapest_of_best(pool, sla, objective, tolerance)
    rest = [t for t in pool if pick is not None and t.key != pick.key]
    runner_up = cheapest_of_best(rest, sla, objective, tolerance)
    miss = None if pick else min(scored, key=lambda t: _distance(t, sla), default=None)
    needed = max((_value(t, objective) for t in swept), default=float("inf")) - tolerance
    as_good = [t for t in meets if t.baseline and _value(t, objective) >= needed]
    enough = cheapest_of_best(as_good, sla, objective, tolerance)
    chosen = (pick, runner_up, miss, enough)
    pick, runner_up, miss, enough = (t and groups.rows[t.key] for t in chosen)
    front = front_keys(scored, sla, objective)
    held = {t.key: t for t in scored} if groups.filters > 1 else {}
    return Choice(pick, runner_up, miss, front, enough, groups.filters, held)


def cheapest_of_best(
    pool: Sequence[Trial], sla: Sla, objective: str, tolerance: float
) -> Trial | None:
    """Within `tolerance` of the best objective: lowest SLA statistic, service p50, size (held
    against sizes of the same alone, see `Trial.index_bytes_of`), key.

    Latencies closer than what the client alone needs are ties: that difference is not the
    setting's own.
    """
    if not pool:
        return None
    best = max(_value(t, objective) for t in pool)
    left = [t for t in pool if _value(t, objective) >= best - tolerance]
    left = _lowest(left, lambda t: stat_ms(t, sla), lambda t: null_ms(t, "latency", sla.stat))
    left = _lowest(left, _service_p50, lambda t: null_ms(t, "service", "p50"))
    return min(_smallest(left), key=lambda t: t.key)


def front_keys(trials: Sequence[Trial], sla: Sla, objective: str) -> tuple[str, ...]:
    """Keys of the trials on the front, by rising SLA statistic."""
    known = [t for t in trials if np.isfinite(stat_ms(t, sla))]
    known.sort(key=lambda t: (stat_ms(t, sla), t.key))
    mask = pareto(
        np.array([_value(t, objective) for t in known], dtype=np.float64),
        np.array([stat_ms(t, sla) for t in known], dtype=np.float64),
    )
    return tuple(t.key for t, on_front in zip(known, mask, strict=True) if on_front)


def _lowest(
    trials: list[Trial], value: Callable[[Trial], float], blur: Callable[[Trial], float]
) -> list[Trial]:
    low = min(trials, key=lambda t: (value(t), t.key))
    return [t for t in trials if value(t) - value(low) <= blur(t) or value(t) == value(low)]


def _smallest(trials: Sequence[Trial]) -> list[Trial]:
    """The smallest of those whose sizes are of the same; no size counts as the largest."""
    known = {t.index_bytes_of for t in trials} - {None}
    if not known:
        return list(trials)
    of_one = [[t for t in trials if t.index_bytes_of == part] for part in known]
    return [min(same, key=lambda t: (t.index_bytes or 0, t.key)) for same in of_one]


def _service_p50(trial: Trial) -> float:
    value = (trial.service_ms or {}).get("p50")
    return float("inf") if value is None else value


def _distance(trial: Trial, sla: Sla) -> tuple[bool, float, float, str]:
    return ("saturated" in trial.flags, upper_ms(trial, sla), stat_ms(trial, sla), trial.key)


def _value(trial: Trial, objective: str) -> float:
    value = trial.quality.get(objective)
    return float("-inf") if value is None else value
