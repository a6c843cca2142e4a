"""A study on disk: one SQLite file that a killed run leaves whole."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import sqlite3
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.report.files import free_path
from harness.settings import Setting
from harness.tuning.ownership import IDENTITY
from harness.tuning.trial import Trial
from indexers.errors import SettingError, StudyError
from indexers.types import I32

FORMAT = 1
STUDY_FILE = "study.sqlite"
LOCK = ".lock"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS trials (
    key TEXT PRIMARY KEY, status TEXT NOT NULL, row TEXT NOT NULL,
    latency_ms BLOB, service_ms BLOB, query BLOB, answers BLOB
) STRICT;
"""
_COLUMNS = {
    "meta": ["name", "value"],
    "trials": ["key", "status", "row", "latency_ms", "service_ms", "query", "answers"],
}
_KEPT = ("format", "standing", "identity", "deploy_files")
"""Facts that outlive a start anew."""
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_PRIMARY = 0xFF
"""An extended error code of SQLite has the primary one in its lowest byte."""


class Store:
    """Rows and raw samples of one study. Each write is a transaction of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            _check_ours(path)
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.executescript(_SCHEMA)
            found = self.meta("format")
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & _PRIMARY not in _DAMAGED:
                raise StudyError(
                    f"study {path} cannot be opened ({error}): see that no other program holds it, "
                    "and run again"
                ) from error
            raise DamagedStudy(
                f"study {path} is damaged ({error}): move it away or run with --fresh"
            ) from error
        if found is None:
            self.put_meta("format", FORMAT)
        elif found != FORMAT:
            raise DamagedStudy(f"study {path} has format {found}, not {FORMAT}: run with --fresh")

    def meta(self, name: str) -> Any:
        """A stored fact, or None."""
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def put_meta(self, name: str, value: object) -> None:
        """Store a fact that JSON can hold."""
        self._db.execute(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value, sort_keys=True))
        )

    def identity(self) -> str:
        """16 hex digits that no other study has, drawn once."""
        held = self.meta("identity")
        if not (isinstance(held, str) and IDENTITY.fullmatch(held)):
            held = secrets.token_hex(8)
            self.put_meta("identity", held)
        return str(held)

    def put(self, trial: Trial, samples: dict[str, NDArray[Any]] | None = None) -> None:
        """Store a row with its raw samples, in place of an earlier one of the same key.

        Args:
            trial: the row.
            samples: latency_ms and service_ms (float64), query and answers (int32).
        """
        raw = {name: zlib.compress(_bytes(array), 1) for name, array in (samples or {}).items()}
        self._db.execute(
            "INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                trial.key,
                trial.status,
                json.dumps(asdict(trial), sort_keys=True, allow_nan=False),
                *(raw.get(name) for name in ("latency_ms", "service_ms", "query", "answers")),
            ),
        )

    def trials(self) -> dict[str, Trial]:
        """All rows by key."""
        rows = self._db.execute("SELECT row FROM trials ORDER BY key")
        found = (_trial(json.loads(row)) for (row,) in rows)
        return {trial.key: trial for trial in found}

    def latencies(self, key: str) -> tuple[NDArray[np.float64], I32]:
        """Open-loop latencies in ms and the query row of each.

        Raises:
            StudyError: the trial has no samples.
        """
        row = self._db.execute(
            "SELECT latency_ms, query FROM trials WHERE key = ?", (key,)
        ).fetchone()
        if row is None or row[0] is None:
            raise StudyError(f"study {self.path}: trial {key} has no stored samples")
        latency = np.frombuffer(zlib.decompress(row[0]), dtype="<f8")
        return latency, np.frombuffer(zlib.decompress(row[1]), dtype="<i4")

    def forget(self, keys: Iterable[str]) -> None:
        """Remove the rows of these keys, as far as there are any."""
        self._db.execute("BEGIN")
        self._db.executemany("DELETE FROM trials WHERE key = ?", [(key,) for key in keys])
        self._db.execute("COMMIT")

    def clear(self) -> None:
        """Forget every row and fact, but not what may still stand on servers, whose that is, and
        what was put into `deploy/`."""
        kept = ", ".join(f"'{name}'" for name in _KEPT)
        self._db.executescript(
            f"BEGIN; DELETE FROM trials; DELETE FROM meta WHERE name NOT IN ({kept}); COMMIT;"
        )

    def close(self) -> None:
        """Close the file."""
        self._db.close()


class DamagedStudy(StudyError):
    """What only starting anew helps with."""


def _check_ours(path: Path) -> None:
    """Refuse a file that is no study's, or is another's too: nothing is written into it.

    Raises:
        StudyError: it is one.
        sqlite3.DatabaseError: it cannot be read.
    """
    if not os.path.lexists(path):
        return
    if not is_plain(path):
        raise StudyError(
            f"{path} is a link, or has a second name, so that another study would be written into: "
            "put a copy in its place, or choose another --out"
        )
    if not is_plain_beside(path):
        raise StudyError(
            f"{path} has a journal that is a link or no plain file: remove it, or choose another "
            "--out"
        )
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as db:
        foreign = is_foreign(db)
    if foreign:
        raise StudyError(
            f"{path} is a database of another program, and a study would write into it: choose "
            "another --out"
        )


def is_plain(path: Path) -> bool:
    """Whether it is a file, no link, and has no other name."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def is_plain_beside(path: Path) -> bool:
    """Whether what SQLite opens beside a database is plain, or not there: a pipe has no end."""
    beside = (path.with_name(path.name + end) for end in ("-journal", "-wal", "-shm"))
    return all(is_plain(one) for one in beside if os.path.lexists(one))


def is_foreign(db: sqlite3.Connection) -> bool:
    """Whether a database is another program's; a user may have added a table beside ours."""
    held = db.execute("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')")
    kinds = {name: kind for name, kind in held if not name.startswith("sqlite_")}
    ours = [name for name in kinds if name in _COLUMNS]
    if kinds.keys() - _COLUMNS.keys() and len(ours) < len(_COLUMNS):
        return True
    return any(kinds[name] != "table" or _columns(db, name) != _COLUMNS[name] for name in ours)


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _bytes(array: NDArray[Any]) -> bytes:
    little = array.dtype.newbyteorder("<")
    return np.ascontiguousarray(array, dtype=little).tobytes()


def _trial(row: dict[str, Any]) -> Trial:
    return Trial(
        **{
            **row,
            "setting": Setting(**row["setting"]),
            "flags": tuple(row["flags"]),
            "remarks": tuple(row["remarks"]),
        }
    )


@contextmanager
def open_study(folder: Path, *, replace_damaged: bool = False) -> Iterator[Store]:
    """The study of this folder, held against other runs until the end of the block.

    A folder that this block made is removed again where it ends in an error before a row.

    Args:
        folder: made where it is missing.
        replace_damaged: start anew where the file cannot be read.

    Raises:
        SettingError: the folder cannot be written.
        StudyError: another run holds it, or it is damaged.
    """
    path = folder / STUDY_FILE
    with suppress(sqlite3.Error):  # which the opening will tell
        _check_ours(path)
    new = not path.exists()
    made = _missing_parents(folder)
    locked_before = os.path.lexists(folder / LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise SettingError(
            f"folder {folder} cannot be written ({error.strerror}): choose another with --out"
        ) from error
    try:
        _hold(lock, folder)
        store = _open(path, replace_damaged)
        try:
            yield store
        except BaseException:
            # a note of what may still stand on a server is worth keeping
            new = new and not store.trials() and not store.meta("standing")
            raise
        else:
            new = False
        finally:
            store.close()
            if new:
                _remove(folder, made, () if locked_before else (LOCK,))
    finally:
        os.close(lock)


def _open(path: Path, replace_damaged: bool) -> Store:
    try:
        return Store(path)
    except DamagedStudy:
        if not replace_damaged:
            raise
    # kept: it may hold more than anyone knows now, such as what still stands on servers
    path.rename(free_path(path.with_name(f"{STUDY_FILE}.damaged")))
    return Store(path)


def _missing_parents(folder: Path) -> list[Path]:
    """The folder and those above it that are not there yet, innermost first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def _remove(folder: Path, made: list[Path], more: tuple[str, ...]) -> None:
    """Take away what a study that came to nothing has written; the user's own files stay."""
    for name in (STUDY_FILE, f"{STUDY_FILE}-journal", *more):
        (folder / name).unlink(missing_ok=True)
    for name in ("judgments.qrels", "neighbours.qrels.gz"):
        (folder / "truth" / name).unlink(missing_ok=True)
    for path in (folder / "truth", folder / "runs", *made):
        with suppress(OSError):  # not empty, or never made
            path.rmdir()


def _hold(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StudyError(
            f"study {folder} is in use by another run: wait for it, or choose another --out"
        ) from None
