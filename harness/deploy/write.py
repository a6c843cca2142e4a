"""The deploy folder of a study: replaced whole where what it holds changes."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness.report.files import free_path

NAME = "deploy"
_PREFIX = f".harness-{NAME}-"
_ASIDE = re.compile(rf"{re.escape(_PREFIX)}[a-z0-9_]{{8}}", re.ASCII)
_NEW, _OLD = "new", "old"


def put_deploy(
    folder: Path, files: Mapping[str, bytes] | None, made: Mapping[str, str]
) -> Path | None:
    """Make `deploy/` hold exactly these files; without any it goes.

    The new folder is written beside it and renamed, so that no half of it is ever seen. An old one
    that is not as it was made, since a user put something into it or edited a file, is kept as
    `deploy-1`, `deploy-2`, and so on.

    Args:
        folder: of the study.
        files: name -> content; None where nothing is to be deployed.
        made: `digests` of the files that were put there last.

    Returns:
        where the old one is kept, if it is.
    """
    _remove_asides(folder, made)
    place = folder / NAME
    if files is not None and held(place) == dict(files):
        return None
    there = os.path.lexists(place)
    kept = free_path(place) if there and not _is_as_made(place, made) else None
    aside = Path(tempfile.mkdtemp(dir=folder, prefix=_PREFIX))
    try:
        if files is not None:
            (aside / _NEW).mkdir()
            for name, content in files.items():
                (aside / _NEW / name).write_bytes(content)
        if there:
            place.rename(kept or aside / _OLD)
        if files is not None:
            (aside / _NEW).rename(place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return kept


def digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Name -> digest, by which files are known again."""
    return {name: _digest(content) for name, content in files.items()}


def held(place: Path) -> dict[str, bytes] | None:
    """What a deploy folder holds; None where it is none of ours."""
    if place.is_symlink() or not place.is_dir():
        return None
    entries = list(place.iterdir())
    if any(path.is_symlink() or not path.is_file() for path in entries):
        return None
    return {path.name: path.read_bytes() for path in entries}


def _is_as_made(place: Path, made: Mapping[str, str]) -> bool:
    """Whether a folder holds nothing but files as they were put there."""
    files = held(place)
    return files is not None and all(
        made.get(name) == digest for name, digest in digests(files).items()
    )


def _remove_asides(folder: Path, made: Mapping[str, str]) -> None:
    """Remove an old folder that a run which was killed left aside, if it is as it was made."""
    for left in folder.glob(f"{_PREFIX}*"):
        if not _ASIDE.fullmatch(left.name) or left.is_symlink() or not left.is_dir():
            continue
        if all(path.name in (_NEW, _OLD) and _is_as_made(path, made) for path in left.iterdir()):
            shutil.rmtree(left, ignore_errors=True)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
