"""Temporary files of a study, and how long it waits to leave nothing on a server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WORK = ".harness-work"
"""Folder for temporary files within that of the study."""
PATIENCE_S = 15.0
"""How long a finished study waits for a server that went away, to remove what is left there."""


@contextmanager
def work_folder(folder: Path) -> Iterator[Path]:
    """A folder for temporary files, emptied of what a killed run left in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
