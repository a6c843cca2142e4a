"""The deploy folder of a study: replaced whole where what it holds changes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

NAME = "deploy"
_PREFIX = f".{NAME}."


def put_deploy(folder: Path, files: Mapping[str, bytes] | None) -> None:
    """Make `deploy/` hold exactly these files; without any it goes.

    The new folder is written beside it and renamed, so that no half of it is ever seen.

    Args:
        folder: of the study.
        files: name -> content; None where nothing is to be deployed.
    """
    for left in folder.glob(f"{_PREFIX}*"):  # by a run that was killed
        shutil.rmtree(left, ignore_errors=True)
    place = folder / NAME
    if files is not None and held(place) == dict(files):
        return
    aside = Path(tempfile.mkdtemp(dir=folder, prefix=_PREFIX))
    try:
        if files is not None:
            (aside / "new").mkdir()
            for name, content in files.items():
                (aside / "new" / name).write_bytes(content)
        if place.exists():
            place.rename(aside / "old")
        if files is not None:
            (aside / "new").rename(place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def held(place: Path) -> dict[str, bytes] | None:
    """What a deploy folder holds; None where it is none of ours."""
    if not place.is_dir() or any(not path.is_file() for path in place.iterdir()):
        return None
    return {path.name: path.read_bytes() for path in place.iterdir()}
