"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import BinaryIO, cast


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A binary file beside `path` that takes its place on success and vanishes on error.

    Missing parent folders are made. Readers of `path` see the old file or the new one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False
    ) as file:
        part = Path(file.name)
        try:
            yield cast(BinaryIO, file)
            file.close()
            part.chmod(0o644)  # temporary files are private, reports are for the team
            part.replace(path)
        except BaseException:
            file.close()
            part.unlink(missing_ok=True)
            raise


def free_path(path: Path) -> Path:
    """The first of `path-1`, `path-2`, … that is not taken, by whatever it may be."""
    names = (path.with_name(f"{path.name}-{number}") for number in count(1))
    return next(name for name in names if not os.path.lexists(name))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file atomically."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: Path, content: str) -> None:
    """Write a whole UTF-8 file atomically; line ends stay as they are."""
    write_bytes(path, content.encode("utf-8", errors="surrogateescape"))
