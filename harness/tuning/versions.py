"""Rows of one study that were measured on several versions of a library or server.

The version is no part of a trial's key: an upgrade alone throws no row away, but is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from harness.tuning.plan import Planned
from harness.tuning.trial import Trial


def resumed_with(
    stored: Iterable[Trial], versions: Mapping[str, str], missing: Collection[Planned]
) -> Iterator[str]:
    """What is said when a study goes on with another version than some of its rows are of.

    Args:
        stored: its rows.
        versions: backend -> version of today; empty where it does not tell.
        missing: what is measured now, in place of rows that may be stored.
    """
    again = {planned.key for planned in missing}
    for name, counts in _counted(t for t in stored if t.key not in again).items():
        now = versions.get(name)
        others = {version: count for version, count in counts.items() if version != now}
        if now and others:
            yield (
                f"{name} is version {now} now; stored and kept: {_rows(others)}; --fresh measures "
                "all again"
            )


def mixed_notes(trials: Iterable[Trial]) -> Iterator[str]:
    """For the report: a backend whose rows are of several versions, a line each."""
    for name, counts in _counted(trials).items():
        if len(counts) > 1:
            yield (
                f"{name}: {_rows(counts)} stand side by side: differences between them may be "
                "the version's; --fresh measures all again"
            )


def _counted(trials: Iterable[Trial]) -> dict[str, Counter[str]]:
    """Backend -> version -> finished rows; those that name none are left out."""
    found: dict[str, Counter[str]] = {}
    for trial in trials:
        if trial.status == "ok" and trial.backend_version is not None:
            found.setdefault(trial.setting.backend, Counter())[trial.backend_version] += 1
    return dict(sorted(found.items()))


def _rows(counts: Mapping[str, int]) -> str:
    """`3 rows of 2.19.1 and 1 row of 2.20.0`."""
    told = [
        f"{count} {'row' if count == 1 else 'rows'} of {version}"
        for version, count in sorted(counts.items())
    ]
    return " and ".join(told)
