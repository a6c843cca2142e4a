"""What a trial is made of: fingerprints, documents to index, and what a load asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.collection.types import Corpus
from harness.progress import Progress
from harness.settings import Setting
from harness.tuning.encode import Encoded, Inputs, encode, encode_texts
from harness.tuning.hashing import Hashing, hashing_of, largest_size
from harness.tuning.plan import Plan, Planned
from harness.tuning.specs import params_of
from indexers.index_types import BackendConfig, Documents, IndexHandle
from indexers.registry import family
from loadtest.profile import Target


def encoded_for(
    plan: Plan,
    hashing: Hashing | None,
    corpus: Corpus,
    vectors: Inputs | None,
    folder: Path,
    *,
    seed: int,
    progress: Progress,
) -> Encoded:
    """Fingerprints for every setting of the plan, whatever of it is measured.

    Args:
        plan: the study.
        hashing: that is used; None for texts.
        corpus: documents and queries.
        vectors: of both; None where no family hashes any.
        folder: empty, for everything of this hashing.
        seed: of the study.
        progress: told of the hashing.

    Raises:
        SettingError: what is hashed cannot be, such as a vector with NaN.
    """
    if hashing is None:
        return encode_texts(corpus, folder)
    of_vectors = family(hashing.family).source == "vector"
    inputs = vectors if of_vectors else Inputs(corpus.texts, corpus.query_texts)
    assert inputs is not None  # read before anything is built
    settings = [p.point.setting for p in plan.trials]
    with progress.stage(f"{hashing.name} fingerprints", len(corpus.ids)) as advance:
        return encode(
            hashing,
            inputs,
            corpus,
            folder,
            largest_size([s for s in settings if hashing_of(s) == hashing]),
            seed=seed,
            dimension=plan.dimension,
            progress=advance,
        )


def without_signatures(documents: Documents, trials: Sequence[Planned]) -> Documents:
    """Without the signatures where no trial re-ranks by them: they are large."""
    if documents.fingerprints is None or any(p.point.setting.rerank == "signature" for p in trials):
        return documents
    return replace(documents, fingerprints=replace(documents.fingerprints, signatures=None))


def target_of(
    setting: Setting,
    k: int,
    config: BackendConfig,
    handle: IndexHandle,
    encoded: Encoded,
    ids: Path,
) -> Target:
    """What a load on this setting asks.

    Args:
        setting: that the index serves.
        k: answers asked for.
        config: how the backend is reached.
        handle: of the built index.
        encoded: that it was built from, with the queries.
        ids: file of the document ids.
    """
    return Target(
        config=config,
        handle=handle,
        params=params_of(setting, k),
        queries=encoded.queries_folder,
        ids=ids,
        runnable=encoded.runnable,
        made_by=encoded.made_by,
    )
