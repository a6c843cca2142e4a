"""Load on one setting of a study: its index is built again, driven, and removed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from harness.collection.types import Corpus
from harness.load.choice import Chosen, choose_trial
from harness.load.drive import Driven, drive, free_port, serve
from harness.load.figures import Figures, row_of
from harness.load.local import is_local
from harness.load.options import LoadOptions
from harness.progress import Progress
from harness.tuning import corpora
from harness.tuning.builds import TemporaryIndexes, builds
from harness.tuning.connect import Connected, connect, note_standing, sweep_standing, tell_standing
from harness.tuning.encode import Encoded, Inputs
from harness.tuning.hashing import hashing_of
from harness.tuning.names import name_of
from harness.tuning.outcome import Circumstances, Scoring, measured_trial
from harness.tuning.passing import ground_of, passing_of
from harness.tuning.plan import load_profile
from harness.tuning.prepare import encoded_for, target_of, without_signatures
from harness.tuning.production import in_production, indexing
from harness.tuning.run import FIRST_WARMUP_REMOTE
from harness.tuning.sla import Sla
from harness.tuning.store import STUDY_FILE, Store, open_study
from harness.tuning.trial import Trial
from harness.tuning.vectors import find_neighbours, read_vectors
from harness.tuning.work import PATIENCE_S, work_folder
from indexers.errors import SettingError
from indexers.store import save_ids
from loadtest.profile import LoadProfile, LoadResult, Target
from loadtest.runner import LoadRunner
from loadtest.writing import Writer

Ended = Callable[[Figures, Sla], None]
"""Told of a load that is over, and of its limit."""


def load_study(options: LoadOptions, progress: Progress, ended: Ended) -> None:
    """Build the index of one trial again, put the load, and remove the index.

    Args:
        options: with a study.
        progress: where it is said how it goes.
        ended: told of the load; with `web` of every run.

    Raises:
        InputError: the study, the trial or the corpus cannot be used; nothing was built.
        EngineUnavailable: the server is unreachable or red; nothing was built.
        BackendError, LoadError: the index or the load broke.
        StudyError: the study is in use or damaged.
    """
    assert options.study is not None
    folder = options.study
    if options.web:
        free_port(options.web_port)  # or refuses, before anything is built
    if not (folder / STUDY_FILE).is_file():
        raise SettingError(
            f"--study {folder}: holds no {STUDY_FILE}; name a folder that `harness tune` wrote, "
            "such as reports/NAME"
        )
    with open_study(folder) as store:
        chosen = choose_trial(options, store, folder)
        options.requests(load_profile(chosen.config, chosen.backend).rate_per_s)  # or refuses
        sweep_standing(chosen.config, store, progress)
        connected = connect(chosen.config, chosen.plan, store, [chosen.planned])[chosen.backend]
        for warning in connected.info.warnings:
            progress.say(f"{chosen.backend}: {warning}")
        _Load(options, store, chosen, connected, progress, ended).run()


@dataclass(frozen=True, slots=True)
class _Load:
    options: LoadOptions
    store: Store
    chosen: Chosen
    connected: Connected
    progress: Progress
    ended: Ended

    def run(self) -> None:
        """Read, build, drive and remove."""
        config, plan = self.chosen.config, self.chosen.plan
        corpus = corpora.open_corpus(config)
        vectors = read_vectors(config, corpus, self.progress)
        self.progress.say(f"{name_of(self.chosen.planned.point.setting)}: building its index again")
        indexes = TemporaryIndexes(lambda names: note_standing(config, plan, self.store, names))
        patience_s = 0.0
        try:
            with ExitStack() as stack:
                identity, say = self.store.identity(), self.progress.say
                work = stack.enter_context(work_folder(plan.folder, identity, say))
                runner = stack.enter_context(LoadRunner())
                self._drive(corpus, vectors, work, runner, indexes)
            patience_s = PATIENCE_S
        finally:
            tell_standing(indexes.sweep(patience_s), self.progress)

    def _drive(
        self,
        corpus: Corpus,
        vectors: Inputs | None,
        work: Path,
        runner: LoadRunner,
        indexes: TemporaryIndexes,
    ) -> None:
        encoded = self._encoded(corpus, vectors, work / "load")
        save_ids(work / "ids.json", corpus.ids)
        k = self.chosen.config.cutoff + bool((corpus.query_self >= 0).any())
        null = runner.calibrate(
            self.connected.backend.remote,
            load_profile(self.chosen.config, self.chosen.backend),
            k=k,
            queries=len(corpus.query_ids),
        )
        plan, planned = self.chosen.plan, self.chosen.planned
        spec, _ = next(builds([planned], plan.trials, self.chosen.config.build))
        with indexes.built(
            self.connected.backend,
            in_production(spec, self.chosen.config),
            without_signatures(encoded.documents, [planned]),
            encoded.folder / "index",
            self.progress.stage(f"building {spec.backend} {spec.kind}", len(corpus.ids)),
        ) as handle:
            ids = work / "ids.json"
            setting = planned.point.setting
            target = target_of(setting, k, self.connected.config, handle, encoded, ids)
            if self.options.web:
                with self._indexing(target, encoded):
                    self._serve(runner, target, null)
            else:
                self._measure(runner, target, null, corpus, vectors, encoded)

    def _encoded(self, corpus: Corpus, vectors: Inputs | None, folder: Path) -> Encoded:
        folder.mkdir()
        return encoded_for(
            self.chosen.plan,
            hashing_of(self.chosen.planned.point.setting),
            corpus,
            vectors,
            folder,
            seed=self.chosen.config.seed,
            progress=self.progress,
        )

    def _profile(self) -> LoadProfile:
        profile = load_profile(self.chosen.config, self.chosen.backend)
        return replace(
            profile,
            samples=self.options.requests(profile.rate_per_s),
            every_query=False,
            warmup_min=FIRST_WARMUP_REMOTE if self.connected.backend.remote else 200,
        )

    def _measure(
        self,
        runner: LoadRunner,
        target: Target,
        null: LoadResult,
        corpus: Corpus,
        vectors: Inputs | None,
        encoded: Encoded,
    ) -> None:
        """Drive by the clock, then score the answers."""
        config, backend, profile = self.chosen.config, self.connected.backend, self._profile()
        before = backend.state(target.handle)
        with self._indexing(target, encoded) as writer:
            driven = drive(runner, target, profile, self.progress)
        row = self._row(driven, profile, null)
        if isinstance(driven.seen, LoadResult):
            passing = passing_of(corpus, self.chosen.planned.point.setting.filter)
            searched, within = passing.corpus(corpus), passing.vectors(vectors)
            found = find_neighbours(config, searched, within, self.progress)
            neighbours = passing.neighbours(found)
            since = config.relevant_from
            ground = ground_of(corpus, passing, neighbours, config.cutoff, since)
            met = Circumstances(
                profile=profile,
                null=null,
                index_bytes=backend.size_bytes(target.handle, target.params),
                drifted=writer is None and backend.state(target.handle) != before,
                handle=target.handle,
                written=None if writer is None else writer.written,
            )
            scoring = Scoring(corpus, ground.truth, encoded, passing=passing)
            row = measured_trial(self.chosen.planned, driven.seen, scoring, met).trial
            # what exact search on the code finds is not looked for here
            row = replace(row, quality={n: v for n, v in row.quality.items() if v is not None})
        self.ended(self._figures(driven, row, profile), self.chosen.sla)

    def _indexing(self, target: Target, encoded: Encoded) -> AbstractContextManager[Writer | None]:
        """What the study indexes meanwhile."""
        backend, config = self.connected.backend, self.chosen.config
        return indexing(config, backend, target.handle, encoded.documents)

    def _serve(self, runner: LoadRunner, target: Target, null: LoadResult) -> None:
        """Let a person drive."""
        profile = self._profile()

        def ended(driven: Driven) -> None:
            figures = self._figures(driven, self._row(driven, profile, null), profile)
            self.ended(replace(figures, loop="page"), self.chosen.sla)

        serve(
            runner,
            target,
            profile,
            remote=self.connected.backend.remote,
            users=self.options.users,
            run_s=self.options.duration,
            port=self.options.web_port,
            progress=self.progress,
            ended=ended,
        )

    def _row(self, driven: Driven, profile: LoadProfile, null: LoadResult) -> Trial:
        planned = self.chosen.planned
        return row_of(planned.key, planned.point.setting, driven.seen, profile, null)

    def _figures(self, driven: Driven, row: Trial, profile: LoadProfile) -> Figures:
        chosen = self.chosen
        return Figures(
            what=name_of(row.setting),
            where=f"trial {row.key} of {chosen.plan.name}",
            row=row,
            profile=profile,
            lasted_s=driven.lasted_s,
            interrupted=driven.interrupted,
            stored=chosen.stored if chosen.stored and chosen.stored.quality else None,
            shared_cores=is_local(chosen.backend, self.connected.config.url),
        )
