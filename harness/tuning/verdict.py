"""What the study says, in sentences. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from harness.tuning.names import milliseconds, name_of
from harness.tuning.pick import Choice
from harness.tuning.sla import Sla, feasible, flags, stat_ms, upper_ms, violation
from harness.tuning.trial import Trial
from loadtest.recorder import needed, tells

HASHED_BY_ENGINE = "min_hash"
USEFUL_SHARE = 0.5
"""A pick that keeps less of the reference's quality than this is called not useful."""


def verdict(
    choice: Choice, trials: Sequence[Trial], sla: Sla, objective: str, reference: float | None
) -> str:
    """One or two sentences; the first decides.

    Args:
        choice: what was picked.
        trials: all rows, for the reasons where nothing was.
        sla: the limit.
        objective: the measure that decided.
        reference: quality of the better of exact similarity and BM25 on the objective.
    """
    if choice.pick is None:
        return _nothing(choice, trials, sla, objective)
    told = _told(choice, choice.pick, sla, objective)
    recommended = choice.enough or choice.pick
    useless = _useless(choice.together(recommended), objective, reference)
    if choice.enough is not None:
        # that filter is an approximate index as well, but one that the engine makes by itself
        hashed = choice.enough.setting.kind == HASHED_BY_ENGINE
        needless = "No fingerprints of one's own are" if hashed else "No approximate index is"
        first = f"{needless} needed: {_told(choice, choice.enough, sla, objective)}."
        return f"{first}{useless and ' '}{useless} The best approximate setting is {told}."
    if choice.pick.baseline:
        swept = any(not t.baseline for t in trials)
        first = (
            f"No approximate setting meets the SLA, but a baseline does: {told}."
            if swept
            else f"This study sweeps no approximate setting; its best baseline is {told}."
        )
        return f"{first}{useless and ' '}{useless}"
    return f"{useless} The best setting is {told}." if useless else f"Use {told}."


def _useless(trial: Trial, objective: str, reference: float | None) -> str:
    """A sentence where the trial keeps less than half of the reference; else empty."""
    if reference is None:
        return ""
    if reference <= 0:
        return "Whether that is useful is not known: the reference scores 0 as well."
    share = (trial.quality.get(objective) or 0.0) / reference
    if share >= USEFUL_SHARE:
        return ""
    return f"Meets the SLA, not useful: it keeps {share:.0%} of the reference's {reference:.3f}."


def _told(choice: Choice, row: Trial, sla: Sla, objective: str) -> str:
    trial = choice.together(row)
    quality = trial.quality.get(objective) or 0.0
    bound = milliseconds(upper_ms(trial, sla))
    what, mean, worst = name_of(row.setting), "", ""
    if choice.filters > 1:
        what = f"{name_of(replace(row.setting, filter=None))}, held under {choice.filters} filters"
        mean, worst = "mean ", f", the slowest under {_filter_told(row)}"
    return (
        f"{what}: {mean}{objective} {quality:.3f} at {sla.stat} "
        f"{milliseconds(stat_ms(trial, sla))} (at most {bound} with 95 % confidence; "
        f"limit {sla.limit_ms:g} ms{worst})"
    )


def _filter_told(row: Trial) -> str:
    return row.setting.filter or "no filter"


def _nothing(choice: Choice, trials: Sequence[Trial], sla: Sla, objective: str) -> str:
    finished = [t for t in trials if t.status == "ok"]
    if not finished:
        return "No trial finished: nothing can be said about the SLA."
    together = list(choice.held.values()) if choice.filters > 1 else finished
    if choice.filters > 1 and choice.nearest_miss is None:
        return (
            f"No setting finished under all {choice.filters} filters with {objective}: measure "
            "filters apart, or choose backends that serve them all."
        )
    if any(feasible(t, sla) for t in together):
        return f"No finished trial carries {objective}: choose another objective."
    start = f"No setting meets the SLA of {sla.limit_ms:g} ms on {sla.stat}"
    row = choice.nearest_miss
    if row is None:
        return f"{start}: scale the server up, or relax the limit."
    miss, mean = choice.together(row), ""
    if choice.filters > 1:
        start, mean = f"{start} under all {choice.filters} filters", "mean "
    quality = miss.quality.get(objective) or 0.0
    return (
        f"{start}: {_remedy(miss, sla)}. Nearest miss: {name_of(miss.setting)} with {mean}"
        f"{objective} {quality:.3f}; {violation(miss, sla)}."
    )


def _remedy(miss: Trial, sla: Sla) -> str:
    """What would make the nearest miss feasible."""
    # a trial that was cut short because it fell behind has few samples for that reason
    if not tells(sla.stat, miss.samples) and "saturated" not in miss.flags:
        return f"measure more requests (--samples {needed(sla.stat)}), or choose another --sla-stat"
    if "saturated" in miss.flags and "client-bound" in flags(miss, sla):
        return "the load generator itself cannot carry this rate here: lower the rate"
    if "saturated" in miss.flags:
        return "scale the server up, or lower the rate"
    by = upper_ms(miss, sla) - sla.limit_ms
    if math.isinf(by):
        return "scale the server up, or lower the rate"
    return f"scale the server up, or relax the limit by {milliseconds(by)}"
