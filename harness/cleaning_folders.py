"""The studies under a folder of reports: which run, and which left a work folder behind."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from harness.tuning.store import STUDY_FILE
from harness.tuning.work import WORK

LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """Temporary files that a killed study left in its folder.

    Attributes:
        path: of the work folder.
        size_bytes: of its files.
        removed: whether it has been removed.
    """

    path: str
    size_bytes: int
    removed: bool = False


def studies(reports: Path) -> list[Path]:
    """Folders of studies directly under that of the reports."""
    return sorted(path.parent for path in reports.glob(f"*/{STUDY_FILE}") if not path.is_symlink())


def running_owners(reports: Path) -> dict[str, str]:
    """Owner tag -> folder, of the studies that a process holds right now."""
    return {
        owner: str(folder)
        for folder in studies(reports)
        if _is_held(folder)
        for _, _, owner in standing(folder)
    }


def stopped_owners(reports: Path) -> set[str]:
    """Owner tags of the studies that no process holds right now."""
    return {
        owner
        for folder in studies(reports)
        if not _is_held(folder)
        for _, _, owner in standing(folder)
    }


def standing(folder: Path) -> list[tuple[str, str, str]]:
    """Backend, server and owner tag of what a study notes that may stand on servers."""
    try:
        uri = f"{(folder / STUDY_FILE).resolve().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as db:
            row = db.execute("SELECT value FROM meta WHERE name = 'standing'").fetchone()
        noted = json.loads(row[0]) if row else []
        return [(one["backend"], one["server"], one["owner"]) for one in noted]
    except (sqlite3.Error, ValueError, KeyError, TypeError):
        return []  # not a study of ours, or a damaged one: nothing is known of it


def work_folders(reports: Path) -> list[WorkFolder]:
    """Work folders of studies that do not run."""
    found = [folder / WORK for folder in studies(reports) if not _is_held(folder)]
    return [
        WorkFolder(str(path), _size_bytes(path))
        for path in found
        if path.is_dir() and not path.is_symlink()
    ]


def remove_folder(one: WorkFolder) -> WorkFolder:
    """Remove a work folder, unless its study has been started again meanwhile.

    Raises:
        OSError: it cannot be removed.
    """
    path = Path(one.path)
    with _lock(path.parent) as held:
        if not held:
            return one
        shutil.rmtree(path)
    return replace(one, removed=True)


def _is_held(folder: Path) -> bool:
    with _lock(folder) as held:
        return not held


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Hold a study against other runs until the end of the block; gives whether it is held.

    A study without a lock file never ran to the end of its start: it is held, too, in vain.
    """
    try:
        lock = os.open(folder / LOCK, os.O_RDWR)
    except FileNotFoundError:
        yield True
        return
    except OSError:  # another user's: it cannot be told whether it runs
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
