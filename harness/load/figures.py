"""What a load gave, as a row that the rules of `harness tune` can judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from harness.settings import Setting
from harness.tuning.names import milliseconds
from harness.tuning.outcome import REACHED_SHARE
from harness.tuning.sla import Sla, feasible, flags, stat_ms, upper_ms, violation
from harness.tuning.trial import Trial
from loadtest.profile import LoadProfile, LoadResult
from loadtest.recorder import statistics, tells, upper_bounds
from loadtest.recording import Recording

Loop = Literal["open", "page"]


@dataclass(frozen=True, slots=True)
class Figures:
    """One load and what it gave.

    Attributes:
        what: the setting or index, for people.
        where: study and trial, or server.
        row: the figures, as a trial.
        profile: the load that was asked for.
        lasted_s: from the first request due to the last one sent.
        loop: `open`, or `page` where a person put the load from Locust's page.
        interrupted: whether it was cut short.
        stored: the study's own row; None for an attached index.
        shared_cores: whether load generator and index ran on one machine.
    """

    what: str
    where: str
    row: Trial
    profile: LoadProfile
    lasted_s: float
    loop: Loop = "open"
    interrupted: bool = False
    stored: Trial | None = None
    shared_cores: bool = True


def row_of(
    key: str,
    setting: Setting,
    seen: LoadResult | Recording,
    profile: LoadProfile,
    null: LoadResult,
) -> Trial:
    """The row of a load without its answers.

    Args:
        key: of the trial; empty for an attached index.
        setting: what was driven.
        seen: the result, or what was told of it until it was cut short.
        profile: the load that was asked for.
        null: the same load on an index that answers at once.
    """
    whole = seen if isinstance(seen, LoadResult) else None
    # a page's users come one after another: its rate is the person's
    behind = whole and whole.rate_per_s < REACHED_SHARE * profile.rate_per_s
    found = {
        "saturated": seen.saturated or bool(behind),
        "errors": seen.errors > 0,
        "cold": whole is not None and whole.unsettled,
    }
    return Trial(
        key=key,
        setting=setting,
        baseline=False,
        status="ok",
        latency_ms=statistics(seen.latency_ms),
        upper_ms=upper_bounds(seen.latency_ms, seen.query, seed=profile.seed),
        service_ms=statistics(seen.service_ms),
        rate_per_s=seen.rate_per_s,
        qps=None if whole is None else whole.qps,
        errors=seen.errors,
        samples=seen.ended if isinstance(seen, Recording) else len(seen.latency_ms),
        timeout_s=profile.timeout_s,
        flags=tuple(sorted(name for name, holds in found.items() if holds)),
        null_ms={"latency": statistics(null.latency_ms), "service": statistics(null.service_ms)},
        cold_ms=None if whole is None else whole.cold_ms,
        remarks=_remarks(seen),
    )


def _remarks(seen: LoadResult | Recording) -> tuple[str, ...]:
    if isinstance(seen, LoadResult):
        return tuple(f"failed request: {text}" for text in seen.error_texts)
    kept = len(seen.latency_ms)
    if kept == seen.ended:
        return ()
    return (f"latencies are of {kept:,} requests, drawn at random from {seen.ended:,}",)


def per_second(rate: float | None) -> str:
    """A rate for people: `99.93`, `1,000`."""
    rate = rate or 0.0
    return f"{rate:,.0f}" if rate >= 999.5 else f"{rate:.4g}"


def meets(figures: Figures, sla: Sla | None) -> bool | None:
    """Whether the load met the limit, by the rule of `harness tune`; None without a limit."""
    return None if sla is None or not figures.row.samples else feasible(figures.row, sla)


def verdict(figures: Figures, sla: Sla | None) -> str:
    """One sentence: the limit is met, or why not."""
    row = figures.row
    if not row.samples:
        return "Nothing was measured."
    rate = f"at {per_second(row.rate_per_s)} requests/s"
    if sla is None:
        return f"Measured {rate}; --sla-ms MS holds it against a limit."
    if not tells(sla.stat, row.samples):
        return f"Undecided {rate}: {violation(row, sla)}; let it run longer, or at a higher rate."
    if not feasible(row, sla):
        return f"Misses the SLA {rate}: {violation(row, sla)}."
    return (
        f"Meets the SLA {rate}: {sla.stat} {milliseconds(stat_ms(row, sla))} (at most "
        f"{milliseconds(upper_ms(row, sla))} with 95 % confidence; limit {sla.limit_ms:g} ms)."
    )


def shown_flags(figures: Figures, sla: Sla | None) -> tuple[str, ...]:
    """The row's flags, with those that depend on the limit where there is one."""
    return figures.row.flags if sla is None else flags(figures.row, sla)


def document(figures: Figures, sla: Sla | None) -> dict[str, Any]:
    """What `--json` prints."""
    row, profile = figures.row, figures.profile
    return {
        "schema_version": 1,
        "what": figures.what,
        "where": figures.where,
        "key": row.key or None,
        "sla": None if sla is None else {"limit_ms": sla.limit_ms, "stat": sla.stat},
        "meets": meets(figures, sla),
        "verdict": verdict(figures, sla),
        "load": {
            "loop": figures.loop,
            "rate_per_s": profile.rate_per_s,
            "users": profile.users,
            "zipf_exponent": profile.zipf_exponent,
            "requests": row.samples,
            "lasted_s": figures.lasted_s,
            "interrupted": figures.interrupted,
            "shared_cores": figures.shared_cores,
        },
        "latency_ms": row.latency_ms,
        "upper_ms": row.upper_ms,
        "service_ms": row.service_ms,
        "rate_per_s": row.rate_per_s,
        "qps": row.qps,
        "errors": row.errors,
        "self_agreement": row.self_agreement,
        "indexed_per_s": row.indexed_per_s,
        "flags": list(shown_flags(figures, sla)),
        "quality": row.quality or None,
        "stored_quality": figures.stored.quality if figures.stored else None,
        "remarks": list(row.remarks),
    }
