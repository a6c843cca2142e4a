"""Temporary files of a study, and how long it waits to leave nothing on a server.

The folder bears a mark of the study whose it is. What bears none, or holds what is not made here
(links, mounts), may be someone else's: it is neither emptied nor removed.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.report.files import free_path
from harness.tuning.store import is_plain
from indexers.errors import SettingError

WORK = ".harness-work"
"""Folder for temporary files within that of the study."""
PATIENCE_S = 15.0
"""How long a finished study waits for a server that went away, to remove what is left there."""
MOUNTS = Path("/proc/self/mountinfo")
_MOUNT_POINT = 4
"""Field of a line of `MOUNTS` (https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html)."""


@contextmanager
def work_folder(folder: Path, identity: str, say: Callable[[str], None]) -> Iterator[Path]:
    """A folder for temporary files, emptied of what a killed run left in it.

    One that is not provably this study's is kept under another name.

    Args:
        folder: of the study.
        identity: of its file.
        say: told of what is kept, and where.

    Raises:
        SettingError: it cannot be kept, as where something is mounted.
    """
    work = folder / WORK
    if problem := problem_of(work, identity):
        kept = free_path(work)
        try:
            work.rename(kept)
        except OSError as error:
            raise SettingError(
                f"{work} is not this study's ({problem}) and cannot be renamed ({error.strerror}): "
                "take it away, or choose another --out"
            ) from None
        say(f"{WORK} was not this study's ({problem}): it is kept as {kept}")
    elif work.exists():
        remove_work(folder, identity)
    work.mkdir()
    (work / mark_of(identity)).touch(exist_ok=False)
    try:
        yield work
    finally:
        with suppress(OSError):
            remove_work(folder, identity)


def mark_of(identity: str) -> str:
    """Name of the empty file that tells whose a work folder is."""
    return f"study-{identity}"


def remove_work(folder: Path, identity: str) -> None:
    """Remove a work folder whose it is has been looked at; its mark goes last.

    So one that is half removed when the process is killed can still be known.

    Args:
        folder: of the study; no link at its end is followed, and none below it.
        identity: of its file.

    Raises:
        OSError: it cannot be removed.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    outside = os.open(folder, flags)
    try:
        inside = os.open(WORK, flags, dir_fd=outside)
        try:
            _remove_within(inside, last=mark_of(identity))
        finally:
            os.close(inside)
        os.rmdir(WORK, dir_fd=outside)
    finally:
        os.close(outside)


def _remove_within(folder: int, *, last: str) -> None:
    for name in sorted(os.listdir(folder), key=lambda name: name == last):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            shutil.rmtree(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)


def problem_of(work: Path, identity: str) -> str | None:
    """Why a work folder is not provably this study's; None where it is, is empty, or is not there.

    Args:
        work: the folder; nothing in it is followed.
        identity: of the study's file.
    """
    try:
        return _problem(work, identity)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"it cannot be looked through ({error.strerror})"
    except RecursionError:
        return "it is too deep to be looked through"


def _problem(work: Path, identity: str) -> str | None:
    itself = work.lstat()
    if not stat.S_ISDIR(itself.st_mode):
        return "it is a symbolic link" if stat.S_ISLNK(itself.st_mode) else "it is no folder"
    names = os.listdir(work)  # noqa: PTH208 - names, not paths
    if names and not _is_mark(work / mark_of(identity)):
        return "it does not bear the mark of this study"
    return _foreign(work, itself.st_dev)


def _is_mark(path: Path) -> bool:
    return is_plain(path) and path.lstat().st_size == 0


def _foreign(work: Path, device: int) -> str | None:
    """What in a work folder is not made by harness, which makes plain files and folders."""
    mounted = _mounts()
    for place, folders, files in os.walk(work, onerror=_raise):
        for name in (*folders, *files):
            path = Path(place) / name
            found = path.lstat()
            plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
            if not (plain or stat.S_ISDIR(found.st_mode)):
                return f"it holds {name!r:.80}, a link or no plain file, which harness never makes"
            if found.st_dev != device or str(path.resolve()) in mounted:
                return f"it holds {name!r:.80}, which is mounted there"
    return "it is mounted there" if str(work.resolve()) in mounted else None


def _mounts() -> set[str]:
    """Where something is mounted, as far as the system tells; a mount can be of the same device."""
    try:
        lines = MOUNTS.read_bytes().split(b"\n")  # a name may hold what text takes for a line's end
    except OSError:
        return set()
    points = (line.split(b" ")[_MOUNT_POINT] for line in lines if line.count(b" ") > _MOUNT_POINT)
    return {os.fsdecode(re.sub(rb"\\([0-7]{3})", _unescaped, point)) for point in points}


def _unescaped(octal: re.Match[bytes]) -> bytes:
    return bytes([int(octal[1], 8)])


def _raise(error: OSError) -> None:
    raise error
