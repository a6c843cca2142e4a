"""What every trial of one run shares, and the rows of quality that are put beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.collection.truth import neighbours, vector_neighbours
from harness.collection.types import Corpus, Neighbours
from harness.config import StudyConfig
from harness.measures.scores import Truth
from harness.progress import Progress
from harness.tuning.builds import TemporaryIndexes
from harness.tuning.encode import WEIGHTS, Encoded, Inputs
from harness.tuning.hashing import Hashing
from harness.tuning.names import TEXT_REFERENCE, exact_name, under
from harness.tuning.passing import Ground
from harness.tuning.patience import Patience, brief
from harness.tuning.plan import Plan
from harness.tuning.references import (
    ReferenceRow,
    ranked_by,
    similarity_reference,
    text_reference,
)
from harness.tuning.space import TEXT
from harness.tuning.store import Store
from indexers.index_types import BackendConfig
from indexers.protocols import Backend
from indexers.registry import family
from loadtest.profile import LoadResult
from loadtest.runner import LoadRunner


@dataclass(frozen=True, slots=True)
class Session:
    """What every trial of one run shares.

    Attributes:
        truth: what answers are scored against where there is no filter.
        grounds: filter of the plan's settings, or None -> what answers under it are held against.
        k: answers asked for: the cut-off, and one more where a query may find itself.
        ids: file of the document ids, for the load process.
        work: folder for temporary files.
        vectors: of documents and queries; None where no family hashes any.
        patience: waits for servers that go away.
        null: remote or not -> what the client alone needs.
        warmed: remote backends that have had their first, long warm-up.
        versions: backend -> version of its library or server, where it tells.
    """

    config: StudyConfig
    plan: Plan
    store: Store
    corpus: Corpus
    neighbours: Neighbours
    truth: Truth
    grounds: Mapping[str | None, Ground]
    backends: dict[str, tuple[Backend, BackendConfig]]
    runner: LoadRunner
    indexes: TemporaryIndexes
    progress: Progress
    k: int
    ids: Path
    work: Path
    patience: Patience
    vectors: Inputs | None = None
    null: dict[bool, LoadResult] = field(default_factory=dict)
    warmed: set[str] = field(default_factory=set)
    versions: Mapping[str, str] = field(default_factory=dict)

    def looking(self, name: str) -> Backend:
        """A backend, for looking whether its server is there."""
        return brief(self.backends[name][1], name)


def refer_to_other(session: Session) -> None:
    """Rank by the similarity that hashing loses against, where the neighbours are of another."""
    corpus, cutoff, name = session.corpus, session.truth.cutoff, session.neighbours.similarity_name
    if name == "cosine" and any(family(f).source == "text" for f in session.config.family):
        for ground in session.grounds.values():
            searched = ground.passing.corpus(corpus)
            with session.progress.stage("exact Jaccard", len(searched.ids)) as advance:
                by_jaccard = neighbours(searched, k=cutoff, progress=advance)
            found = ground.passing.neighbours(by_jaccard)
            put_reference(session, similarity_reference(found, ground))
    if session.vectors is None or name == "cosine":
        return
    for ground in session.grounds.values():
        searched = ground.passing.corpus(corpus)
        vectors = ground.passing.vectors(session.vectors)
        assert vectors is not None
        with session.progress.stage("exact cosine", len(searched.ids)) as advance:
            by_cosine = vector_neighbours(
                searched, vectors.documents, vectors.queries, k=cutoff, progress=advance
            )
        found = ground.passing.neighbours(by_cosine)
        put_reference(session, similarity_reference(found, ground))


def refer_to_text(session: Session) -> None:
    """Rank by BM25 in process where no engine of the study did."""
    rows = session.store.trials().values()
    asked = {t.setting.filter for t in rows if t.setting.kind == TEXT and t.status == "ok"}
    for filter_, ground in session.grounds.items():
        name = under(TEXT_REFERENCE, filter_)
        if filter_ in asked or name in (session.store.meta("references") or {}):
            continue
        with session.progress.stage(name, len(session.corpus.query_ids)) as advance:
            put_reference(session, text_reference(session.corpus, ground, advance))


def referred(session: Session, hashing: Hashing, encoded: Encoded) -> bool:
    """Whether an earlier run stored the references of this hashing; the last of them tells."""
    fingerprints = encoded.documents.fingerprints
    signed = fingerprints is not None and fingerprints.signatures is not None
    last = exact_name(hashing, "signature" if signed else ranked_by(encoded))
    stored = session.store.meta("references") or {}
    return all(under(last, filter_) in stored for filter_ in session.grounds)


def put_reference(session: Session, row: ReferenceRow) -> None:
    """Store a row of quality only."""
    rows = session.store.meta("references") or {}
    kept = {"quality": row.quality, "measure_n": row.measure_n, "tied_share": row.tied_share}
    session.store.put_meta("references", {**rows, row.name: kept})


def put_unusable(session: Session, name: str, encoded: Encoded) -> None:
    """Store how many documents a hashing leaves out."""
    rows = session.store.meta("unusable") or {}
    session.store.put_meta("unusable", {**rows, name: encoded.unusable})


def keep_learnt(session: Session, name: str, encoded: Encoded) -> None:
    """Keep the weights that a hashing learnt, so that a pick of it can be deployed later on."""
    held = encoded.folder / WEIGHTS
    if not held.exists():
        return
    digest = str(encoded.made_by["learnt"])
    kept = session.plan.folder / "learnt" / f"{digest}.npz"
    kept.parent.mkdir(exist_ok=True)
    held.replace(kept)
    rows = session.store.meta("learnt") or {}
    session.store.put_meta("learnt", {**rows, name: digest})
