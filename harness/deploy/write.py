"""The deploy folder of a study: replaced whole where what it holds changes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from itertools import count
from pathlib import Path

NAME = "deploy"
OURS = {
    *("README.md", "fingerprint.json", "index.json", "query.json", "ingest.py", "query.py"),
    "weights.npz",
}
"""All that a deploy folder may hold of ours."""
_PREFIX = f".{NAME}."


def put_deploy(folder: Path, files: Mapping[str, bytes] | None) -> Path | None:
    """Make `deploy/` hold exactly these files; without any it goes.

    The new folder is written beside it and renamed, so that no half of it is ever seen. An old one
    in which a user put something, such as an index, is kept as `deploy-1`, `deploy-2`, and so on.

    Args:
        folder: of the study.
        files: name -> content; None where nothing is to be deployed.

    Returns:
        where the old one is kept, if it is.
    """
    for left in folder.glob(f"{_PREFIX}*"):  # by a run that was killed
        shutil.rmtree(left, ignore_errors=True)
    place = folder / NAME
    if files is not None and held(place) == dict(files):
        return None
    kept = _free(folder) if _holds_more(place) else None
    aside = Path(tempfile.mkdtemp(dir=folder, prefix=_PREFIX))
    try:
        if files is not None:
            (aside / "new").mkdir()
            for name, content in files.items():
                (aside / "new" / name).write_bytes(content)
        if place.exists():
            place.rename(kept or aside / "old")
        if files is not None:
            (aside / "new").rename(place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return kept


def _holds_more(place: Path) -> bool:
    """Whether there is anything that we did not put there."""
    return place.is_dir() and any(
        path.name not in OURS or not path.is_file() for path in place.iterdir()
    )


def _free(folder: Path) -> Path:
    """The first of the names for an old folder that is not taken."""
    names = (folder / f"{NAME}-{number}" for number in count(1))
    return next(path for path in names if not path.exists())


def held(place: Path) -> dict[str, bytes] | None:
    """What a deploy folder holds; None where it is none of ours."""
    if not place.is_dir() or any(not path.is_file() for path in place.iterdir()):
        return None
    return {path.name: path.read_bytes() for path in place.iterdir()}
