"""The texts of an index as they were read, kept below the user's cache folder.

A study needs the server no more once they are there. They are read again where the index has
changed since, and replaced whole or not at all.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.collection.index_documents import Wanted, Writer
from indexers.errors import CorpusError
from indexers.types import Progress

FILE = "snapshot.json"
FORMAT = 1
WITHOUT_ID = "document without an id"
BUSY_S = 24 * 3600.0
"""Files as young as this may belong to a run that is not done."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Texts of an index as they were.

    Attributes:
        wanted: what was read.
        name: of the index itself, where it was read by an alias.
        uuid: of the index.
        state: what changes with its documents; None where that could not be seen.
        content: 32 hex digits over ids and texts, in whatever order.
        documents: how many there are.
        skipped: reason -> count, of those left out.
        read: when, UTC, ISO 8601.
        size_bytes: of the file.
    """

    wanted: Wanted
    name: str
    uuid: str
    state: str | None
    content: str
    documents: int
    read: str
    size_bytes: int
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """JSON lines of `_id`, `text`, and the attributes by their whole names."""
        return self.wanted.folder / f"{self.content}.jsonl"


def stored(wanted: Wanted) -> Snapshot | None:
    """What was read before; None where nothing whole is there."""
    folder = wanted.folder
    try:
        told = json.loads((folder / FILE).read_text("utf-8"))
        if told.pop("format") != FORMAT:
            return None
        told.pop("wanted")
        found = Snapshot(wanted=wanted, **told)
        return found if found.path.stat().st_size == found.size_bytes else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def keep(
    wanted: Wanted,
    pages: Iterable[list[dict[str, Any]]],
    *,
    name: str,
    uuid: str,
    read: str,
    progress: Progress,
) -> Snapshot:
    """Write documents as they come, and put them in place of what was kept before.

    The snapshot has no state yet: see `settle`.

    Args:
        wanted: what is read.
        pages: hits with `_id` and `_source`.
        name: of the index itself.
        uuid: of the index.
        read: when.
        progress: called with the number of documents since the last call.

    Raises:
        CorpusError: a document cannot be used, an id is given twice, there are no documents or
            no texts, or the folder cannot be written.
    """
    folder = wanted.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as work:
            path = Path(work) / "documents.jsonl"
            with path.open("wb") as out:
                writer = Writer(wanted, out)
                for page in pages:
                    writer.add(page)
                    progress(len(page))
            writer.check(path)
            made = Snapshot(
                wanted=wanted,
                name=name,
                uuid=uuid,
                state=None,
                content=writer.content,
                documents=writer.count,
                read=read,
                size_bytes=path.stat().st_size,
                skipped={WITHOUT_ID: writer.without_id} if writer.without_id else {},
            )
            path.replace(made.path)
    except OSError as fault:
        raise CorpusError(
            f"{folder}: cannot be written ({fault.strerror or fault}); set XDG_CACHE_HOME to a "
            "folder with room for the texts of the index"
        ) from None
    return made


def settle(snapshot: Snapshot) -> None:
    """Make it the one that is found; older ones are removed.

    Raises:
        CorpusError: the folder cannot be written.
    """
    folder = snapshot.wanted.folder
    partial = folder / f"{FILE}.partial"
    try:
        partial.write_text(json.dumps({"format": FORMAT, **asdict(snapshot)}) + "\n", "utf-8")
        partial.replace(folder / FILE)
    except OSError as fault:
        raise CorpusError(f"{folder}: cannot be written ({fault.strerror or fault})") from None
    _tidy(folder, snapshot.path)


def _tidy(folder: Path, kept: Path) -> None:
    """Remove older texts, and what killed runs left; not what another run may be busy with."""
    before = time.time() - BUSY_S
    for old in (*folder.glob("*.jsonl"), *folder.glob(".part-*")):
        with suppress(OSError):
            if old == kept or old.stat().st_mtime > before:
                continue
            if old.is_dir():
                shutil.rmtree(old)
            else:
                old.unlink()
