"""Load on an index that the user built, scored like every other row."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from harness.report.trec import write_run
from harness.tuning.attached import Asked, asked, has_changed, transport_to, without_handle
from harness.tuning.encode import Encoded, encode_texts
from harness.tuning.names import label
from harness.tuning.outcome import Circumstances, Measured, Scoring, failed_trial, measured_trial
from harness.tuning.patience import check_was_there
from harness.tuning.plan import Planned
from harness.tuning.session import Session
from harness.tuning.trial import Trial
from indexers.backends import _engine_existing as existing
from indexers.errors import BackendError, LoadError, SettingError
from indexers.http_request import Transport
from loadtest.profile import AttachedIndex, LoadProfile, LoadResult

UNKNOWN = "unknown-ids"
"""Flag: some answers are no documents of the corpus."""

ProfileOf = Callable[[Session, str, int], LoadProfile]
"""Session, backend and number of queries -> the load of the next trial there."""


def run_attached(session: Session, trials: Sequence[Planned], profile_of: ProfileOf) -> None:
    """Measure these rows; each is stored as soon as it is done."""
    if not trials:
        return
    folder = session.work / "attached"
    folder.mkdir()
    try:
        encoded = encode_texts(session.corpus, folder)
        with closing(transport_to(session.config, trials[0].point.setting.backend)) as send:
            for planned in trials:
                name = planned.point.setting.backend
                act = partial(_run, session, planned, encoded, send, profile_of)
                try:
                    session.patience.persist(name, act, session.looking(name).check)
                except (BackendError, LoadError, SettingError) as error:
                    session.progress.say(f"{label(planned.point.setting)}: {error}")
                    session.store.put(failed_trial(planned, error))
                    session.progress.trial_done(f"{label(planned.point.setting)} failed")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(
    session: Session, planned: Planned, encoded: Encoded, send: Transport, profile_of: ProfileOf
) -> None:
    setting = planned.point.setting
    assert setting.index is not None
    told = asked(session.config, setting, session.corpus, session.k, send)
    target = AttachedIndex(
        engine=setting.backend,
        config=session.config.access(setting.backend),
        index=setting.index,
        bodies=told.bodies,
        ids=session.ids,
        id_field=session.config.id_field,
        k=session.k,
    )
    profile = profile_of(session, setting.backend, len(target.runnable))
    before = existing.segments(send, setting.index)
    result = session.runner.run(target, profile)
    check_was_there(session.looking(setting.backend), result)
    drifted = existing.segments(send, setting.index) != before
    size = existing.size_bytes(send, setting.index)
    measured = _measured(session, planned, encoded, result, profile, size, drifted=drifted)
    write_run(
        session.plan.folder / "runs" / f"{planned.key}.run.gz",
        session.plan.name,
        session.corpus.query_ids,
        session.corpus.ids,
        measured.answers,
    )
    changed = has_changed(session.store, session.config, send)
    trial = _told(measured.trial, told, result, changed=changed)
    session.store.put(trial, measured.samples)
    session.patience.finished(setting.backend)
    session.progress.trial_done(label(setting))


def _measured(
    session: Session,
    planned: Planned,
    encoded: Encoded,
    result: LoadResult,
    profile: LoadProfile,
    size: int | None,
    *,
    drifted: bool,
) -> Measured:
    scoring = Scoring(session.corpus, session.truth, encoded)
    met = Circumstances(
        profile=profile,
        null=session.null[True],
        drifted=drifted,
        index_bytes=size,
        backend_version=session.versions.get(planned.point.setting.backend),
    )
    return measured_trial(planned, result, scoring, met)


def _told(trial: Trial, asked: Asked, result: LoadResult, *, changed: bool) -> Trial:
    """With what is to be known of an index that is not ours."""
    flags = (*trial.flags, UNKNOWN) if result.unknown else trial.flags
    remarks = without_handle(trial.remarks, asked, result.unknown, changed=changed)
    return replace(trial, flags=tuple(sorted(flags)), remarks=remarks)
