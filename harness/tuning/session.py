"""What every trial of one run shares, and the rows of quality that are put beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from harness.collection.truth import neighbours, vector_neighbours
from harness.collection.types import Corpus, Neighbours
from harness.config import StudyConfig
from harness.measures.scores import Truth
from harness.progress import Progress
from harness.tuning.builds import TemporaryIndexes
from harness.tuning.encode import Encoded, Inputs
from harness.tuning.hashing import Hashing
from harness.tuning.names import TEXT_REFERENCE, exact_name
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
        truth: what answers are scored against.
        k: answers asked for: the cut-off, and one more where a query may find itself.
        ids: file of the document ids, for the load process.
        work: folder for temporary files.
        vectors: of documents and queries; None where no family hashes any.
        null: remote or not -> what the client alone needs.
        warmed: remote backends that have had their first, long warm-up.
    """

    config: StudyConfig
    plan: Plan
    store: Store
    corpus: Corpus
    neighbours: Neighbours
    truth: Truth
    backends: dict[str, tuple[Backend, BackendConfig]]
    runner: LoadRunner
    indexes: TemporaryIndexes
    progress: Progress
    k: int
    ids: Path
    work: Path
    vectors: Inputs | None = None
    null: dict[bool, LoadResult] = field(default_factory=dict)
    warmed: set[str] = field(default_factory=set)


def refer_to_other(session: Session) -> None:
    """Rank by the similarity that hashing loses against, where the neighbours are of another."""
    corpus, cutoff, name = session.corpus, session.truth.cutoff, session.neighbours.similarity_name
    if name == "cosine" and any(family(f).source == "text" for f in session.config.family):
        with session.progress.stage("exact Jaccard", len(corpus.ids)) as advance:
            by_jaccard = neighbours(corpus, k=cutoff, progress=advance)
        put_reference(session, similarity_reference(by_jaccard, session.truth))
    if session.vectors is None or name == "cosine":
        return
    with session.progress.stage("exact cosine", len(corpus.ids)) as advance:
        by_cosine = vector_neighbours(
            corpus,
            session.vectors.documents,
            session.vectors.queries,
            k=cutoff,
            progress=advance,
        )
    put_reference(session, similarity_reference(by_cosine, session.truth))


def refer_to_text(session: Session) -> None:
    """Rank by BM25 in process where no engine of the study did."""
    rows = session.store.trials().values()
    asked = any(t.setting.kind == TEXT and t.status == "ok" for t in rows)
    if asked or TEXT_REFERENCE in (session.store.meta("references") or {}):
        return
    with session.progress.stage(TEXT_REFERENCE, len(session.corpus.query_ids)) as advance:
        put_reference(session, text_reference(session.corpus, session.truth, advance))


def referred(session: Session, hashing: Hashing, encoded: Encoded) -> bool:
    """Whether an earlier run stored the references of this hashing; the last of them tells."""
    fingerprints = encoded.documents.fingerprints
    signed = fingerprints is not None and fingerprints.signatures is not None
    last = exact_name(hashing, "signature" if signed else ranked_by(encoded))
    return last in (session.store.meta("references") or {})


def put_reference(session: Session, row: ReferenceRow) -> None:
    """Store a row of quality only."""
    rows = session.store.meta("references") or {}
    kept = {"quality": row.quality, "measure_n": row.measure_n, "tied_share": row.tied_share}
    session.store.put_meta("references", {**rows, row.name: kept})


def put_unusable(session: Session, name: str, encoded: Encoded) -> None:
    """Store how many documents a hashing leaves out."""
    rows = session.store.meta("unusable") or {}
    session.store.put_meta("unusable", {**rows, name: encoded.unusable})
