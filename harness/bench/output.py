"""The folder of `--out`: looked at before anything is measured, written to at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness.report.files import write_bytes
from harness.tuning.store import STUDY_FILE
from indexers.errors import SettingError


def make_folder(folder: Path) -> None:
    """Make the folder if it is missing, and see that files can be made there.

    Raises:
        SettingError: they cannot, or the folder is that of a study.
    """
    if os.path.lexists(folder / STUDY_FILE):
        raise SettingError(
            f"--out {folder}: holds a study ({STUDY_FILE}), whose report would be replaced; give "
            "another folder"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as fault:
        raise _unwritable(folder, fault) from fault


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, each whole or not at all; the folder is made if missing.

    Args:
        folder: where.
        files: name -> content.

    Raises:
        SettingError: they cannot be written there.
    """
    try:
        for name, content in files.items():
            write_bytes(folder / name, content)
    except OSError as fault:
        raise _unwritable(folder, fault) from fault


def text_bytes(text: str) -> bytes:
    """UTF-8; line ends stay as they are."""
    return text.encode("utf-8", errors="surrogateescape")


def _unwritable(folder: Path, fault: OSError) -> SettingError:
    return SettingError(
        f"--out {folder}: cannot be written ({fault.strerror or fault}); give another folder"
    )
