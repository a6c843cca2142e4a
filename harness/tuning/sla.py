"""Whether a trial meets the limit, and what makes its figures doubtful. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.tuning.names import milliseconds
from harness.tuning.trial import Trial
from loadtest.recorder import tells

CLIENT_BOUND_SHARE = 0.2
NOISY_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class Sla:
    """A latency limit in ms on one statistic: `p99`, `p95`, `p90`, `p50` or `mean`."""

    limit_ms: float
    stat: str = "p99"


def stat_ms(trial: Trial, sla: Sla) -> float:
    """The trial's SLA statistic in ms; infinite where it has none."""
    return _number((trial.latency_ms or {}).get(sla.stat))


def upper_ms(trial: Trial, sla: Sla) -> float:
    """One-sided 95 % upper bound of the SLA statistic in ms; infinite where there is none."""
    return _number(trial.upper_ms.get(sla.stat))


def null_ms(trial: Trial, kind: str, stat: str) -> float:
    """What the client alone needs, in ms; 0 where it was not measured, infinite where it failed.

    Args:
        trial: carries the null backend's figures at its own rate.
        kind: `latency` or `service`.
        stat: the statistic.
    """
    if not trial.null_ms:
        return 0.0
    return _number(trial.null_ms[kind].get(stat))


def feasible(trial: Trial, sla: Sla) -> bool:
    """Whether the bound, not just the estimate, is within the limit of a trial that kept up."""
    return (
        trial.status == "ok"
        and "saturated" not in trial.flags
        and upper_ms(trial, sla) <= sla.limit_ms
    )


def flags(trial: Trial, sla: Sla) -> tuple[str, ...]:
    """The trial's own flags and those that depend on the limit, sorted."""
    found = set(trial.flags)
    if trial.status == "ok":
        if null_ms(trial, "latency", sla.stat) > CLIENT_BOUND_SHARE * sla.limit_ms:
            found.add("client-bound")
        if trial.samples and not tells(sla.stat, trial.samples):
            found.add("short-sample")
        if NOISY_RATIO * stat_ms(trial, sla) < upper_ms(trial, sla) < math.inf:
            found.add("noisy")
    return tuple(sorted(found))


def violation(trial: Trial, sla: Sla) -> str:
    """Why the trial is not feasible, for people."""
    if trial.status != "ok":
        return trial.error or "not measured"
    if "saturated" in trial.flags:
        return "it could not keep up with the rate"
    if not tells(sla.stat, trial.samples):
        return f"{trial.samples} samples cannot bound a {sla.stat}"
    bound, stat = upper_ms(trial, sla), stat_ms(trial, sla)
    if math.isinf(stat):
        return f"too many requests failed for a {sla.stat}"
    return (
        f"{sla.stat} {milliseconds(stat)}, upper bound {milliseconds(bound)}, "
        f"against {sla.limit_ms:g} ms"
    )


def _number(value: float | None) -> float:
    return math.inf if value is None else value
