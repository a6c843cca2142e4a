"""Which trial of a stored study is driven, under which limit and load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.config import StudyConfig
from harness.load.options import LoadOptions
from harness.tuning import corpora
from harness.tuning.attached import is_attached
from harness.tuning.kept import kept_config, same_server
from harness.tuning.pick import choose
from harness.tuning.plan import Plan, Planned, make_plan
from harness.tuning.sla import Sla
from harness.tuning.store import Store
from harness.tuning.summary import objective_of
from harness.tuning.trial import Trial
from harness.tuning.vectors import vectors_id
from indexers.address import masked
from indexers.errors import SettingError


@dataclass(frozen=True, slots=True)
class Chosen:
    """One setting of a stored study, before anything of it is built.

    Attributes:
        config: of the study, with the limit and load of today.
        stored: the study's own row; None where it was not measured.
    """

    config: StudyConfig
    plan: Plan
    planned: Planned
    stored: Trial | None

    @property
    def sla(self) -> Sla:
        """The limit."""
        return Sla(self.config.sla_ms, self.config.sla_stat)

    @property
    def backend(self) -> str:
        """Name of the setting's backend."""
        return self.planned.point.setting.backend


def choose_trial(options: LoadOptions, store: Store, folder: Path) -> Chosen:
    """The trial of this key, or the study's pick.

    Raises:
        InputError: the study holds no such trial or no pick, or its corpus has changed.
    """
    config = kept_config(store, folder, options.access)
    _check_servers(config, options)
    identity = corpora.identify(config)
    vectors = vectors_id(config, identity.content)
    plan = make_plan(config, identity.name, identity.content, vectors)
    if plan.name != store.meta("study"):
        raise SettingError(
            f"{folder} holds study {store.meta('study')}, and its configuration now gives "
            f"{plan.name}: corpus, server or version have changed since; run its `harness tune` "
            "command again with --fresh"
        )
    rows = store.trials()
    key = _whole_key(options.key, plan) if options.key else _pick(config, store, rows)
    planned = next(p for p in plan.trials if p.key == key)
    if is_attached(planned):
        raise SettingError(
            f"trial {key} is of the attached index {planned.point.setting.index}: drive it with "
            "`harness load --index NAME --queries FILE --body FILE`, or another trial with --key"
        )
    return Chosen(_of_today(config, options), plan, planned, rows.get(key))


def _check_servers(config: StudyConfig, options: LoadOptions) -> None:
    for name in options.named:
        measured = getattr(config, name, None)
        if not same_server(measured, options.access[name.removesuffix("_url")].url):
            flag = f"--{name.replace('_', '-')}"
            where = "no such engine" if measured is None else masked(measured)
            raise SettingError(f"{flag}: the study was measured on {where}; leave the flag out")


def _whole_key(given: str, plan: Plan) -> str:
    found = [p.key for p in plan.trials if p.key.startswith(given)]
    if len(found) != 1:
        told = "no trial" if not found else f"{len(found)} trials"
        raise SettingError(
            f"--key {given}: {told} of {plan.folder} begin so; trials.csv there lists the keys"
        )
    return found[0]


def _pick(config: StudyConfig, store: Store, rows: Mapping[str, Trial]) -> str:
    """Of the study's own limit: another one judges the load, it does not choose."""
    carried = store.meta("carried") or ()
    objective = objective_of(config.objective, config.cutoff, carried)
    sla = Sla(config.sla_ms, config.sla_stat)
    choice = choose(list(rows.values()), sla, objective, config.tolerance)
    if choice.pick is None:
        near = choice.nearest_miss
        which = "" if near is None else f"; the nearest miss is {near.key}"
        raise SettingError(f"study {config.out} has no pick: name a trial with --key{which}")
    return choice.pick.key


_TODAYS = ("sla_ms", "sla_stat", "rate", "users", "replay")


def _of_today(config: StudyConfig, options: LoadOptions) -> StudyConfig:
    today = {name: getattr(options, name) for name in _TODAYS}
    given = {name: value for name, value in today.items() if value is not None}
    return config.model_copy(update=given)
