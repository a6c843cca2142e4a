"""What the terminal shows of a load."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping

from harness.load.figures import Figures, document, per_second, shown_flags, verdict
from harness.report.numbers import significant
from harness.tuning.sla import Sla, null_ms

STATISTICS = ("mean", "p50", "p90", "p95", "p99", "max")
ROUNDED = (
    "Locust's page rounds response times to whole milliseconds, and above 100 ms to two digits; "
    "the figures here do not"
)


def show(figures: Figures, sla: Sla | None, *, as_json: bool) -> None:
    """Print the figures as JSON, or verdict, statistics and what to beware of."""
    if as_json:
        json.dump(document(figures, sla), sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
        sys.stdout.write("\n")
    else:
        sys.stdout.write("\n".join(_lines(figures, sla)) + "\n")
    sys.stdout.flush()


def _lines(figures: Figures, sla: Sla | None) -> Iterator[str]:
    row, profile = figures.row, figures.profile
    if figures.interrupted:
        yield f"Interrupted after {figures.lasted_s:.3g} s; until then:"
    yield verdict(figures, sla)
    yield f"{figures.what}, {figures.where}"
    if not row.samples:
        return
    yield ""
    yield " " * 12 + "".join(name.rjust(9) for name in STATISTICS)
    yield _row("latency ms", row.latency_ms)
    yield _row("at most ms", row.upper_ms)
    yield _row("service ms", row.service_ms)
    yield ""
    yield (
        f"{row.samples:,} requests in {figures.lasted_s:,.3g} s: {per_second(row.rate_per_s)}/s of "
        f"{per_second(profile.rate_per_s)}/s, {row.errors:,} errors"
    )
    if profile.zipf_exponent is not None:
        yield f"queries drawn by Zipf's law with exponent {profile.zipf_exponent:g}"
    if row.indexed_per_s is not None:
        yield f"documents indexed again meanwhile: {per_second(row.indexed_per_s)}/s"
    if row.qps is not None:
        yield f"capacity: {row.qps:,.0f}/s by {profile.users} users in closed loop"
    yield from _quality(figures)
    yield from _notes(figures, sla)


def _row(name: str, values: Mapping[str, float | None] | None) -> str:
    told = values or {}
    return name.ljust(12) + "".join(significant(told.get(s)).rjust(9) for s in STATISTICS)


def _quality(figures: Figures) -> Iterator[str]:
    stored = figures.stored.quality if figures.stored else {}
    if figures.row.quality:
        told = [
            f"{name} {value:.3f}{_beside(value, stored.get(name))}"
            for name, value in figures.row.quality.items()
            if value is not None
        ]
        yield f"quality of these answers: {', '.join(told)}"
    elif stored:
        told = [f"{name} {value:.3f}" for name, value in stored.items() if value is not None]
        yield f"quality in the study: {', '.join(told)}"


def _beside(value: float, stored: float | None) -> str:
    """The study's value, where it is another."""
    return "" if stored is None or abs(value - stored) < 5e-4 else f" (study {stored:.3f})"


def _notes(figures: Figures, sla: Sla | None) -> Iterator[str]:
    row = figures.row
    if found := shown_flags(figures, sla):
        yield f"flags: {', '.join(found)}"
    yield from row.remarks
    yield f"the client alone needs {significant(null_ms(row, 'latency', 'p50'))} ms at p50"
    if figures.shared_cores:
        yield "load generator and index shared one machine's cores: latencies include that"
    if figures.loop == "page":
        yield ROUNDED
