"""The studies under a folder of reports: which run, and which left a work folder behind.

Whatever lies there may be hostile: a folder, a file or a link that someone else put there. A study
is a plain folder directly under that of the reports with a plain study file that nothing else is
linked to. A link is followed only to see who runs, which keeps and never frees.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from harness.tuning.ownership import IDENTITY, PossibleLeftover, is_own, noted
from harness.tuning.store import (
    LOCK,
    STUDY_FILE,
    is_foreign,
    is_plain,
    is_plain_beside,
)
from harness.tuning.work import WORK, problem_of, remove_work

NOT_OURS = "not ours, left"
STARTED = "is left: its study was started again meanwhile"


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """Temporary files that a killed study left in its folder.

    Attributes:
        path: of the work folder, or of a link that is not followed.
        size_bytes: of its files; 0 of what is not looked into.
        removed: whether it has been removed.
        kept: why it is left alone, or None.
    """

    path: str
    size_bytes: int
    removed: bool = False
    kept: str | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path

    @property
    def free(self) -> bool:
        """Whether it may be removed."""
        return self.kept is None


@dataclass(frozen=True, slots=True)
class StudyNotes:
    """What a study file tells of itself.

    Attributes:
        identity: of the file; None where it drew none yet.
        standing: where an index of it may stand, by its own word.
    """

    identity: str | None
    standing: tuple[PossibleLeftover, ...]


def studies(reports: Path) -> list[Path]:
    """Folders of studies directly under that of the reports."""
    return [folder for folder in _entries(reports) if _is_study(folder)]


def reachable(reports: Path) -> list[Path]:
    """Folders with what may be a study file, links followed; for reading what they note."""
    return [folder for folder in _entries(reports) if (folder / STUDY_FILE).is_file()]


def running_owners(reports: Path) -> dict[str, str]:
    """Owner tag -> folder, of the studies that a process holds right now.

    What this names is left, so that a study reached by a link, or with another name, counts too.
    """
    return {
        one.owner: str(folder)
        for folder in reachable(reports)
        if _is_held(folder)
        for one in notes(folder).standing
    }


def stopped_owners(reports: Path) -> set[str]:
    """Owner tags of the studies that no process holds right now, as far as they are their own.

    A note can name any owner: of a tag that is not this file's own it proves nothing.
    """
    return {one.owner for folder in studies(reports) if not _is_held(folder) for one in own(folder)}


def own(folder: Path) -> list[PossibleLeftover]:
    """Where an index that is provably of this study may stand."""
    told = notes(folder)
    identity = told.identity
    if identity is None:
        return []
    return [one for one in told.standing if is_own(one.owner, identity, folder)]


def notes(folder: Path) -> StudyNotes:
    """What a study file tells; nothing where it is none of ours, or damaged."""
    path = (folder / STUDY_FILE).resolve()
    if not path.is_file() or not is_plain_beside(path):  # reading a pipe has no end
        return StudyNotes(None, ())
    # one that was killed while it wrote can be read as it stands, and is not mended from here
    for way in ("mode=ro", "immutable=1"):
        # deeply nested JSON, too, is none that a study writes
        with contextlib.suppress(sqlite3.Error, ValueError, TypeError, RecursionError):
            with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?{way}", uri=True)) as db:
                if is_foreign(db):
                    return StudyNotes(None, ())
                identity, standing = (_told(db, name) for name in ("identity", "standing"))
            drawn = isinstance(identity, str) and IDENTITY.fullmatch(identity)
            return StudyNotes(str(identity) if drawn else None, tuple(noted(standing)))
    return StudyNotes(None, ())


def _told(db: sqlite3.Connection, name: str) -> object:
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return json.loads(row[0]) if row else None


def work_folders(reports: Path) -> list[WorkFolder]:
    """Work folders of studies that do not run, and what cannot be proved to be one."""
    found = []
    for entry in _entries(reports):
        if entry.is_symlink():
            if os.path.lexists(entry / WORK) and _leads_out(entry, reports):
                found.append(WorkFolder(str(entry), 0, kept=f"{NOT_OURS}: a symbolic link"))
        elif os.path.lexists(entry / WORK) and not _runs(entry):
            found.append(_work_folder(entry))
    return found


def _work_folder(folder: Path) -> WorkFolder:
    work = folder / WORK
    if problem := _problem(folder, notes(folder).identity):
        return WorkFolder(str(work), 0, kept=f"{NOT_OURS}: {problem}")
    return WorkFolder(str(work), _size_bytes(work))


def _problem(folder: Path, identity: str | None) -> str | None:
    """Why the work folder of a folder is not provably that of the study of this identity."""
    if not _is_study(folder):
        return f"no {STUDY_FILE} of its own is beside it"
    if _is_odd(folder / LOCK):
        return f"{LOCK} beside it is a link or no plain file"
    if identity is None:
        return f"{STUDY_FILE} beside it is no study, or damaged"
    return problem_of(folder / WORK, identity)


def remove_folder(one: WorkFolder) -> WorkFolder:
    """Remove a work folder, unless its study was started again, or it was changed, meanwhile.

    Raises:
        OSError: it cannot be removed.
    """
    folder = Path(one.path).parent
    with _lock(folder) as held:
        if not held:
            return replace(one, kept=STARTED)
        identity = notes(folder).identity
        problem = _problem(folder, identity)
        if problem is not None or identity is None:
            return replace(one, kept=f"{NOT_OURS}: {problem}")
        remove_work(folder, identity)
    return replace(one, removed=True)


def _entries(reports: Path) -> list[Path]:
    """Folders directly under that of the reports, and links to some."""
    try:
        return sorted(path for path in reports.iterdir() if path.is_dir())
    except OSError:  # not there, or not to be read
        return []


def _is_study(folder: Path) -> bool:
    return not folder.is_symlink() and is_plain(folder / STUDY_FILE)


def _is_odd(path: Path) -> bool:
    """Whether something is there that is no plain file."""
    return os.path.lexists(path) and not is_plain(path)


def _runs(folder: Path) -> bool:
    """Whether a study runs there: a lock that is a link tells nothing of it."""
    return _is_study(folder) and is_plain(folder / LOCK) and _is_held(folder)


def _leads_out(link: Path, reports: Path) -> bool:
    return link.resolve().parent != reports.resolve()


def _is_held(folder: Path) -> bool:
    with _lock(folder) as held:
        return not held


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Hold a study against other runs until the end of the block; gives whether it is held.

    A study without a lock file never ran to the end of its start: it is held, too, in vain.
    """
    try:
        if _is_odd(folder / LOCK):
            yield False
            return
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield True
        return
    except OSError:  # another user's, or a link: it cannot be told whether it runs
        yield False
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(lock)


def _size_bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
