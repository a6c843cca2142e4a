"""Temporary files of a study, and how long it waits to leave nothing on a server.

The folder bears a mark of the study whose it is. What bears none, or holds what is not made here
(links, mounts), may be someone else's: it is neither emptied nor removed.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexers.errors import SettingError

WORK = ".harness-work"
"""Folder for temporary files within that of the study."""
PATIENCE_S = 15.0
"""How long a finished study waits for a server that went away, to remove what is left there."""


def check_work(folder: Path, identity: str) -> None:
    """Refuse a work folder that is not this study's.

    Args:
        folder: of the study.
        identity: of its file.

    Raises:
        SettingError: it is one.
    """
    if problem := problem_of(folder / WORK, identity):
        raise SettingError(
            f"{folder / WORK} is not this study's: {problem}; move it away, or choose another --out"
        )


@contextmanager
def work_folder(folder: Path, identity: str) -> Iterator[Path]:
    """A folder for temporary files, emptied of what a killed run left in it.

    Args:
        folder: of the study.
        identity: of its file.

    Raises:
        SettingError: there is one that is not this study's.
    """
    check_work(folder, identity)
    work = folder / WORK
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    (work / mark_of(identity)).touch(exist_ok=False)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def mark_of(identity: str) -> str:
    """Name of the empty file that tells whose a work folder is."""
    return f"study-{identity}"


def problem_of(work: Path, identity: str) -> str | None:
    """Why a work folder is not provably this study's; None where it is, is empty, or is not there.

    Args:
        work: the folder; nothing in it is followed.
        identity: of the study's file.
    """
    try:
        itself = work.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISDIR(itself.st_mode):
        return "it is a symbolic link" if stat.S_ISLNK(itself.st_mode) else "it is no folder"
    names = os.listdir(work)  # noqa: PTH208 - names, not paths
    if names and mark_of(identity) not in names:
        return "it does not bear the mark of this study"
    return _foreign(work, itself.st_dev)


def _foreign(work: Path, device: int) -> str | None:
    """What in a work folder is not made by harness, which makes plain files and folders."""
    for place, folders, files in os.walk(work, onerror=_raise):
        for name in (*folders, *files):
            found = (Path(place) / name).lstat()
            plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
            if found.st_dev != device or not (plain or stat.S_ISDIR(found.st_mode)):
                return f"it holds {name!r:.80}, a link or a mount, which harness does not make"
    return None


def _raise(error: OSError) -> None:
    raise error
