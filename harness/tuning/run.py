"""Measures the missing trials of a study: fingerprints, builds, load, scores, rows."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from harness.report.trec import write_run
from harness.settings import Setting
from harness.tuning.attached import is_attached
from harness.tuning.attached_run import run_attached
from harness.tuning.builds import builds
from harness.tuning.encode import Encoded
from harness.tuning.hashing import Hashing, hashing_of
from harness.tuning.names import label
from harness.tuning.outcome import (
    Circumstances,
    Measured,
    Scoring,
    failed_trial,
    measured_trial,
)
from harness.tuning.patience import check_there, check_was_there
from harness.tuning.plan import Planned, load_profile
from harness.tuning.prepare import encoded_for, target_of, without_signatures
from harness.tuning.pressure import during, pressure
from harness.tuning.production import in_production, indexing, worn
from harness.tuning.references import (
    exact_nearest,
    exact_references,
    kth_of,
    similarity_reference,
)
from harness.tuning.session import (
    Session,
    keep_learnt,
    put_reference,
    put_unusable,
    refer_to_other,
    refer_to_text,
    referred,
)
from harness.tuning.trial import Trial
from indexers.errors import BackendError, EngineUnavailable, IndexMissing, LoadError
from indexers.index_types import Documents, IndexHandle, IndexSpec
from indexers.types import F64
from loadtest.profile import LoadProfile

FIRST_WARMUP_REMOTE = 1200
"""Requests before the first trial on a server: a fresh node needs them to settle."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Fingerprints, ready to be indexed, asked and scored."""

    encoded: Encoded
    code_kth: Mapping[str | None, F64]
    """Filter, or None -> as `kth_of`; empty for texts."""


def run(session: Session, missing: Sequence[Planned]) -> None:
    """Measure these trials; each is stored as soon as it is done."""
    _calibrate(session, missing)
    for ground in session.grounds.values():
        put_reference(session, similarity_reference(ground.neighbours, ground))
    ours = [p for p in missing if not is_attached(p)]
    grouped = groupby(ours, key=lambda p: hashing_of(p.point.setting))
    for number, (hashing, trials) in enumerate(grouped):
        _run_hashing(session, hashing, list(trials), session.work / f"hashing-{number}")
    run_attached(session, [p for p in missing if is_attached(p)], _profile)
    refer_to_other(session)
    refer_to_text(session)


def _calibrate(session: Session, missing: Sequence[Planned]) -> None:
    """Drive nothing first, to know what the client alone can send."""
    for name in sorted({p.point.setting.backend for p in missing}):
        remote = session.backends[name][0].remote
        if remote in session.null:
            continue
        profile = load_profile(session.config, name)
        session.null[remote] = session.runner.calibrate(
            remote, profile, k=session.k, queries=len(session.corpus.query_ids)
        )


def _run_hashing(
    session: Session, hashing: Hashing | None, trials: list[Planned], folder: Path
) -> None:
    folder.mkdir()
    try:
        prepared = _prepare(session, hashing, folder)
        for spec, served in builds(trials, session.plan.trials, session.config.build):
            _run_build(session, in_production(spec, session.config), served, prepared)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _prepare(session: Session, hashing: Hashing | None, folder: Path) -> Prepared:
    """Fingerprint for every setting of the plan, whatever of it is missing."""
    corpus, progress = session.corpus, session.progress
    encoded = encoded_for(
        session.plan,
        hashing,
        corpus,
        session.vectors,
        folder,
        seed=session.config.seed,
        progress=progress,
    )
    if hashing is None:
        return Prepared(encoded, {})
    put_unusable(session, hashing.name, encoded)
    keep_learnt(session, hashing.name, encoded)
    known = referred(session, hashing, encoded)
    code_kth = {}
    for filter_, ground in session.grounds.items():
        rows = ground.passing.rows
        count = len(corpus.ids) if rows is None else len(rows)
        with progress.stage(f"{hashing.name} exact search", count) as advance:
            cutoff, passing = session.truth.cutoff, ground.passing
            nearest = exact_nearest(encoded, corpus, cutoff, advance, passing)
        code_kth[filter_] = kth_of(nearest, encoded)
        if not known:
            for row in exact_references(encoded, nearest, corpus, ground):
                put_reference(session, row)
    return Prepared(encoded, code_kth)


def _run_build(
    session: Session, spec: IndexSpec, trials: Sequence[Planned], prepared: Prepared
) -> None:
    """Measure the trials that one index serves; if it breaks for good, the rest of them have
    failed."""
    looking = session.looking(spec.backend)
    documents = without_signatures(prepared.encoded.documents, trials)
    left = list(trials)

    def look() -> None:
        session.indexes.remove_left(looking)
        looking.check()
        session.warmed.discard(spec.backend)

    def measure() -> None:
        while left:
            _run_on_one(session, spec, left, documents, prepared)

    try:
        session.patience.persist(spec.backend, measure, look)
    except BackendError as error:
        session.progress.say(f"{_shown(spec)}: {error}")
        for planned in left:
            _finish(session, failed_trial(planned, error))


def _run_on_one(
    session: Session,
    spec: IndexSpec,
    left: list[Planned],
    documents: Documents,
    prepared: Prepared,
) -> None:
    """Build an index and measure on it, until nothing is left or it is worn."""
    backend = session.backends[spec.backend][0]
    with session.indexes.built(
        backend,
        spec,
        documents,
        prepared.encoded.folder / "index",
        session.progress.stage(f"building {_shown(spec)}", len(session.corpus.ids)),
    ) as handle:
        while left:
            _run_trial(session, left[0], handle, prepared)
            left.pop(0)
            if left and worn(session.config, backend, handle):
                return


def _shown(spec: IndexSpec) -> str:
    return f"{spec.backend} {spec.kind} {spec.family or ''}".rstrip()


def _run_trial(session: Session, planned: Planned, handle: IndexHandle, prepared: Prepared) -> None:
    setting, encoded = planned.point.setting, prepared.encoded
    backend, config = session.backends[setting.backend]
    profile = _profile(session, setting.backend, len(encoded.runnable))
    target = target_of(setting, session.k, config, handle, encoded, session.ids)
    before, pressed = backend.state(handle), pressure(backend)
    try:
        with indexing(session.config, backend, handle, encoded.documents) as writer:
            result = session.runner.run(target, profile)
    except (EngineUnavailable, IndexMissing):
        raise
    except (BackendError, LoadError) as error:
        if backend.remote:
            check_there(session.looking(setting.backend))
        _finish(session, failed_trial(planned, error))
        return
    check_was_there(session.looking(setting.backend), result)
    met = Circumstances(
        profile=profile,
        null=session.null[backend.remote],
        server=during(pressed, pressure(backend)),
        index_bytes=backend.size_bytes(handle, target.params),
        drifted=writer is None and backend.state(handle) != before,
        handle=handle,
        written=None if writer is None else writer.written,
        backend_version=session.versions.get(setting.backend),
    )
    _keep(session, measured_trial(planned, result, _scoring(session, setting, prepared), met))


def _scoring(session: Session, setting: Setting, prepared: Prepared) -> Scoring:
    ground, code_kth = session.grounds[setting.filter], prepared.code_kth.get(setting.filter)
    return Scoring(session.corpus, ground.truth, prepared.encoded, code_kth, ground.passing)


def _profile(session: Session, backend_name: str, queries: int) -> LoadProfile:
    profile = load_profile(session.config, backend_name, queries)
    if not session.backends[backend_name][0].remote or backend_name in session.warmed:
        return profile
    session.warmed.add(backend_name)
    return replace(profile, warmup_min=FIRST_WARMUP_REMOTE)


def _keep(session: Session, measured: Measured) -> None:
    """Write the answers, then the row: a row that is there is whole."""
    trial = measured.trial
    write_run(
        session.plan.folder / "runs" / f"{trial.key}.run.gz",
        session.plan.name,
        session.corpus.query_ids,
        session.corpus.ids,
        measured.answers,
    )
    session.store.put(trial, measured.samples)
    session.patience.finished(trial.setting.backend)
    session.progress.trial_done(label(trial.setting))


def _finish(session: Session, trial: Trial) -> None:
    session.store.put(trial)
    session.progress.trial_done(f"{label(trial.setting)} failed")
