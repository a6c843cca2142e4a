"""Results worth keeping between runs, below the user's cache folder.

A cache that is missing, damaged or not writable is never an error: the result is made again.
Each file begins with a checksum, so that what is read is what was written.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

_CHECKSUM_BYTES = 16


def folder() -> Path | None:
    """`$XDG_CACHE_HOME/harness`, else `~/.cache/harness`; None where there is no home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # a relative path is to be ignored (XDG Base Directory Specification)
    if base and Path(base).is_absolute():
        return Path(base) / "harness"
    try:
        return Path.home() / ".cache" / "harness"
    except RuntimeError:
        return None


def read(name: str) -> bytes | None:
    """What was kept under this name (a relative path), or None where nothing whole is."""
    root = folder()
    if root is None:
        return None
    try:
        stored = (root / name).read_bytes()
    except OSError:
        return None
    content = stored[_CHECKSUM_BYTES:]
    return content if stored[:_CHECKSUM_BYTES] == _checksum(content) else None


def write(name: str, content: bytes) -> None:
    """Keep the content under this name, whole or not at all."""
    root = folder()
    if root is None:
        return
    with suppress(OSError):
        _replace(root / name, _checksum(content) + content)


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM_BYTES).digest()


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
