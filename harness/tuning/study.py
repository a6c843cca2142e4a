"""One call of `harness tune`: what is missing is measured, then the rows decide."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config import StudyConfig
from harness.measures.relevance import carried_measures
from harness.progress import Progress
from harness.tuning import corpora
from harness.tuning.announce import announce, put_facts
from harness.tuning.attached import look_at_attached, put_attached, with_rebuilt
from harness.tuning.conclude import Outcome, conclude
from harness.tuning.connect import (
    Connected,
    connect,
    note_standing,
    sweep_standing,
    tell_standing,
)
from harness.tuning.filters import Filtered, resolve, told
from harness.tuning.kept import keep_config
from harness.tuning.plan import Plan, Planned, make_plan, timeout_s
from harness.tuning.store import STUDY_FILE, Store, open_study
from harness.tuning.summary import objective_of
from harness.tuning.vectors import find_neighbours, read_vectors, vectors_id
from harness.tuning.versions import resumed_with
from harness.tuning.work import PATIENCE_S, WORK, work_folder
from indexers.errors import SettingError

if TYPE_CHECKING:
    from harness.collection.types import Corpus
    from harness.tuning.encode import Inputs


_TRUTHS = ("judgments.qrels", "judgments.*.qrels", "neighbours.qrels.gz", "neighbours.*.qrels.gz")
"""Of all documents, and under each filter."""


def tune(config: StudyConfig, *, command: str, fresh: bool = False, progress: Progress) -> Outcome:
    """Measure what is missing of the study, pick, and write the report.

    Args:
        config: the study.
        command: the command line, for the report.
        fresh: measure everything anew.
        progress: where the waiting is told.

    Raises:
        InputError: the corpus or a setting cannot be used; nothing was built.
        EngineUnavailable: a server is unreachable or red; nothing was built.
        StudyError: the study's folder is in use or damaged.
    """
    corpora.fetch(config, fresh=fresh, progress=progress)
    identity = corpora.identify(config)
    filtered = resolve(config, identity.content)
    config = filtered.config
    vectors = vectors_id(config, identity.content)
    plan = make_plan(config, identity.name, identity.content, vectors)
    if not plan.trials:
        reasons = "; ".join(reason for reason, _ in plan.impossible)
        raise SettingError(f"no setting of this study exists: {reasons}")
    _check_place(plan.folder)
    with open_study(plan.folder, replace_damaged=fresh) as store:
        _check_folder(plan, store, fresh=fresh)
        stored = {} if fresh else store.trials()
        missing = plan.missing(stored, timeout_s(config))
        missing = with_rebuilt(config, plan, missing, store, progress)
        sweep_standing(config, store, progress)
        if missing:
            _measure(filtered, plan, missing, store, fresh=fresh, progress=progress)
        keep_config(store, config)
        return conclude(config, plan, store, command=command, say=progress.say)


def _measure(
    filtered: Filtered,
    plan: Plan,
    missing: Sequence[Planned],
    store: Store,
    *,
    fresh: bool,
    progress: Progress,
) -> None:
    """Look at everything before anything is built, then run."""
    config = filtered.config
    corpus = filtered.corpus or corpora.open_corpus(config)
    _check_cutoff(config, corpus)
    carried = carried_measures(corpus.judgments, config.relevant_from)
    objective = objective_of(config.objective, config.cutoff, carried)
    if filtered.filters:
        from harness.tuning.grounds import check_carried

        check_carried(config, corpus, objective)
    connected = connect(config, plan, store, missing)
    attached = look_at_attached(config, missing, corpus, progress)
    vectors = read_vectors(config, corpus, progress)
    if fresh:
        _remove_written(plan.folder, store)
        store.clear()
    store.put_meta("study", plan.name)
    if attached is not None:
        put_attached(store, plan, missing, attached)
    for name, one in connected.items():
        for warning in one.info.warnings:
            progress.say(f"{name}: {warning}")
    announce(config, plan, missing, corpus, progress)
    for line in told(filtered.filters):
        progress.say(line)
    if not fresh:
        versions = {name: one.info.version for name, one in connected.items()}
        for line in resumed_with(store.trials().values(), versions, missing):
            progress.say(line)
    put_facts(store, config, corpus, connected)
    store.put_meta("carried", carried)
    with work_folder(plan.folder, store.identity(), progress.say) as work:
        _run(filtered, plan, missing, store, corpus, vectors, connected, work, progress)


def _run(
    filtered: Filtered,
    plan: Plan,
    missing: Sequence[Planned],
    store: Store,
    corpus: Corpus,
    vectors: Inputs | None,
    connected: dict[str, Connected],
    work: Path,
    progress: Progress,
) -> None:
    # these compile or load kernels: a study that only picks again does without
    from harness.report.trec import write_judgments, write_neighbours
    from harness.tuning.builds import TemporaryIndexes
    from harness.tuning.grounds import facts, grounds, write_truths
    from harness.tuning.patience import Patience
    from harness.tuning.references import truth_of
    from harness.tuning.run import run
    from harness.tuning.session import Session
    from indexers.store import save_ids
    from loadtest.runner import LoadRunner

    config = filtered.config
    neighbours = find_neighbours(config, corpus, vectors, progress)
    folder = plan.folder / "truth"
    path = folder / "neighbours.qrels.gz"
    cut = write_neighbours(path, corpus.query_ids, corpus.ids, corpus.query_self, neighbours)
    store.put_meta("cut_neighbours", cut)
    if corpus.judgments is not None:
        write_judgments(folder / "judgments.qrels", corpus.query_ids, corpus.ids, corpus.judgments)
    found = grounds(config, corpus, vectors, neighbours, progress)
    write_truths(folder, corpus, found)
    store.put_meta("filters", list(facts(filtered.filters, found)))
    ids = work / "ids.json"
    save_ids(ids, corpus.ids)
    patience_s = 0.0
    indexes = TemporaryIndexes(lambda names: note_standing(config, plan, store, names))
    try:
        with (
            LoadRunner() as runner,
            progress.trials(len(plan.trials), len(plan.trials) - len(missing)),
        ):
            session = Session(
                config=config,
                plan=plan,
                store=store,
                corpus=corpus,
                neighbours=neighbours,
                truth=truth_of(corpus, neighbours, config.cutoff, config.relevant_from),
                grounds=found,
                backends={name: (c.backend, c.config) for name, c in connected.items()},
                runner=runner,
                indexes=indexes,
                progress=progress,
                k=config.cutoff + bool((corpus.query_self >= 0).any()),
                ids=ids,
                work=work,
                patience=Patience(config.patience, progress.say),
                vectors=vectors,
                versions={n: c.info.version for n, c in connected.items() if c.info.version},
            )
            relevance = session.truth.relevance
            store.put_meta("relevant_from", relevance and relevance.relevant_from)
            run(session, missing)
            patience_s = PATIENCE_S
    finally:
        tell_standing(indexes.sweep(patience_s), progress)


def _remove_written(folder: Path, store: Store) -> None:
    """Remove the answers and truths of rows that are forgotten; what else is there stays."""
    written = [folder / "runs" / f"{key}.run.gz" for key in store.trials()]
    for pattern in _TRUTHS:
        written += (folder / "truth").glob(pattern)
    for path in written:
        with suppress(OSError):  # never written, or not to be removed: it is replaced where needed
            if not path.parent.is_symlink():
                path.unlink()


def _check_place(folder: Path) -> None:
    """What a study writes takes the place of nothing that is someone else's."""
    if (folder / STUDY_FILE).exists():
        return
    from harness.deploy.write import NAME
    from harness.report.write import WRITTEN

    for name in (NAME, WORK, "runs", "truth", "learnt", *WRITTEN):
        if os.path.lexists(folder / name):
            raise SettingError(
                f"{folder} holds {name} and no study ({STUDY_FILE}): a study would replace it; "
                "choose another --out, or move it away"
            )


def _check_folder(plan: Plan, store: Store, *, fresh: bool) -> None:
    """A folder holds one study: its facts and truth belong to all of its rows."""
    for name in ("runs", "truth", "learnt"):
        if (plan.folder / name).is_symlink():
            raise SettingError(
                f"{plan.folder / name} is a symbolic link, and a study would write into where it "
                "leads: put a folder in its place, or choose another --out"
            )
    held = store.meta("study")
    if held not in (None, plan.name) and not fresh:
        raise SettingError(
            f"{plan.folder} holds study {held}, and this command is study {plan.name}: choose "
            "another --out, or --fresh to start anew there"
        )


def _check_cutoff(config: StudyConfig, corpus: Corpus) -> None:
    if config.cutoff > len(corpus.ids):
        raise SettingError(
            f"cutoff {config.cutoff} is above the {len(corpus.ids)} documents of "
            f"{corpora.named(config)}: choose --cutoff 1 to {len(corpus.ids)}"
        )
