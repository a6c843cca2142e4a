"""A corpus read out of an index: its texts are fetched once, then a file serves every study."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from harness.collection import beir, digest, index_snapshot, reading
from harness.collection.index_documents import Wanted
from harness.collection.index_fields import check_fields
from harness.collection.index_snapshot import Snapshot
from harness.collection.source import RULES, CorpusId
from harness.collection.types import Corpus
from indexers.address import Address, address_of
from indexers.backends import _engine_existing as existing
from indexers.backends._engine_http import HttpTransport
from indexers.backends._engine_pit import PITS
from indexers.backends._engine_read import read_pages
from indexers.backends._engine_root import ask_version
from indexers.errors import BackendError, CorpusError, EngineUnavailable, SettingError
from indexers.flavours import FLAVOURS
from indexers.index_types import BackendConfig
from indexers.types import Progress, no_progress

TIMEOUT_S = 60.0
_TEXT = ("text",)

Stage = Callable[[str, int], AbstractContextManager[Progress]]
"""Counts so many documents under a title."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class IndexCorpus:
    """An index as a corpus.

    Attributes:
        wanted: what is read of it.
        queries: JSONL; None to draw documents.
        judgments: TSV or qrels of these queries; None where there are none.
    """

    wanted: Wanted
    queries: Path | None = None
    judgments: Path | None = None


def wanted_of(
    engine: str,
    access: BackendConfig,
    index: str,
    fields: tuple[str, ...],
    id_field: str | None = None,
    attributes: tuple[str, ...] = (),
) -> Wanted:
    """What is read of the index on this server.

    Raises:
        SettingError: the URL is none.
    """
    to = address_of(engine, access)
    return Wanted(engine, f"{to.host}:{to.port}{to.path}", index, fields, id_field, attributes)


def fetch(
    wanted: Wanted, access: BackendConfig, *, fresh: bool, stage: Stage, say: Say
) -> Snapshot:
    """The texts of an index as it is now; they are read where those that are kept are not that.

    Args:
        wanted: what is read.
        access: how the server is reached.
        fresh: read them whatever is kept.
        stage: counts documents.
        say: told where the server is away and what is kept must do.

    Raises:
        CorpusError: the index or its documents cannot be used.
        EngineUnavailable: the server is away, and nothing is kept.
    """
    kept = None if fresh else index_snapshot.stored(wanted)
    to = address_of(wanted.engine, access)
    try:
        return _current(wanted, to, kept, stage)
    except EngineUnavailable as error:
        if kept is None:
            raise
        say(f"{error}; the texts of index {wanted.index} as read at {kept.read} are used")
        return kept
    except SettingError:
        raise
    except BackendError as error:
        raise CorpusError(f"{to.shown}: {error}") from None


def _current(wanted: Wanted, to: Address, kept: Snapshot | None, stage: Stage) -> Snapshot:
    flavour = FLAVOURS[wanted.engine]
    version, numbers = ask_version(to, flavour, TIMEOUT_S)
    if numbers < PITS[wanted.engine].oldest:
        oldest = ".".join(map(str, PITS[wanted.engine].oldest))
        raise CorpusError(
            f"{to.shown} is {flavour} {version}: an index is read at one point in time, which "
            f"needs {oldest} or later; export the documents and give them with --corpus"
        )
    with closing(HttpTransport(to, TIMEOUT_S)) as send:
        found = existing.look(send, wanted.index)
        existing.count(send, wanted.index)  # wakes shards that rest
        state = existing.state(send, wanted.index)
        if kept is not None and kept.uuid == found.uuid and state and kept.state == state:
            return kept
        check_fields(wanted.index, found.mapping, wanted.fields)
        total = existing.count(send, wanted.index)
        if not total:
            raise CorpusError(
                f"index {wanted.index}: holds no documents; index some, or name another"
            )
        made = _read(wanted, to, found, total, stage)
        # what changed meanwhile is in it or not: nobody knows
        same = state is not None and existing.state(send, wanted.index) == state
    if same:
        _check_whole(made, total)
    made = replace(made, state=state if same else None)
    index_snapshot.settle(made)
    return made


def _check_whole(made: Snapshot, total: int) -> None:
    """Refuse a reading that lost documents of an index that stayed as it was."""
    seen = made.documents + sum(made.skipped.values())
    if seen != total:
        raise CorpusError(
            f"index {made.wanted.index}: {seen:,} of its {total:,} documents were read, though it "
            "did not change meanwhile; run the command again, and look at the server's log"
        )


def _read(
    wanted: Wanted, to: Address, found: existing.ExistingIndex, total: int, stage: Stage
) -> Snapshot:
    pages = read_pages(
        to, wanted.engine, wanted.index, wanted.read, shards=found.shards, timeout_s=TIMEOUT_S
    )
    with closing(pages), stage(f"reading index {wanted.index}", total) as progress:
        return index_snapshot.keep(
            wanted,
            pages,
            name=found.name,
            uuid=found.uuid,
            read=f"{datetime.now(UTC):%FT%TZ}",
            progress=progress,
        )


def identify(corpus: IndexCorpus, snapshot: Snapshot, *, seed: int) -> CorpusId:
    """Name and content digest.

    Raises:
        CorpusError: a file cannot be read.
    """
    parts = ["index", snapshot.uuid, snapshot.content]
    if corpus.queries is None:
        parts.append(f"{seed} {reading.SAMPLED_QUERIES}")
    else:
        parts += [digest.of_file(p) for p in (corpus.queries, corpus.judgments) if p is not None]
    slug = re.sub(r"[^a-z0-9]+", "-", corpus.wanted.index.lower()).strip("-")
    return CorpusId(slug[:60].rstrip("-") or "index", digest.of_text(RULES, *parts))


def read(
    corpus: IndexCorpus, snapshot: Snapshot, *, seed: int, progress: Progress = no_progress
) -> Corpus:
    """Read the corpus whole, from the texts that are kept.

    Documents are in the order of their ids: an index has no other.

    Raises:
        CorpusError: documents or queries cannot be used.
        JudgmentsError: judgments cannot be used, or match nothing.
    """
    identity, attributes = identify(corpus, snapshot, seed=seed), snapshot.wanted.attributes
    if corpus.queries is None:
        found = reading.read_file(snapshot.path, _TEXT, seed, progress, attributes)
        asked = f"{len(found.query_ids)} of its documents drawn as queries (seed {seed})"
        asked += "; no judgments"
    else:
        layout = beir.Layout(snapshot.path, corpus.queries, corpus.judgments)
        found = reading.read_folder(layout, _TEXT, progress, attributes)
        told = "no judgments" if corpus.judgments is None else f"judgments {corpus.judgments.name}"
        same = int((found.query_self >= 0).sum())
        asked = f"{corpus.queries.name}, {same} of the queries are documents themselves; {told}"
    return replace(
        found,
        name=identity.name,
        content=identity.content,
        skipped={**snapshot.skipped, **found.skipped},
        source=f"{provenance(snapshot)}; {asked}",
        file_rows=None,
    )


def provenance(snapshot: Snapshot) -> str:
    """Where the documents come from, for the report."""
    wanted = snapshot.wanted
    named = wanted.index if wanted.index == snapshot.name else f"{wanted.index} ({snapshot.name})"
    ids = "_id" if wanted.id_field is None else wanted.id_field
    return (
        f"index {named} of {wanted.engine} at {wanted.server}, read {snapshot.read}, "
        f"{snapshot.documents:,} documents, fields {' + '.join(wanted.fields)}, ids from {ids}"
    )
