"""Digests of files, remembered for large ones."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from harness.collection import cache
from harness.collection.lines import shown
from indexers.errors import CorpusError

REMEMBER_BYTES = 8 * 2**20
"""Smaller files are hashed faster than the cache is worth."""

_SETTLED_S = 2.0
_HEX_DIGITS = 32


def of_text(*parts: str) -> str:
    """32 hex digits over the parts, told apart by their lengths."""
    state = hashlib.blake2b(digest_size=_HEX_DIGITS // 2)
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        state.update(len(content).to_bytes(8, "big") + content)
    return state.hexdigest()


def of_file(path: Path) -> str:
    """32 hex digits over the bytes of a file.

    That of a large file is remembered with its absolute path, size and times, and so found
    without reading it again.

    Raises:
        CorpusError: the file cannot be read.
    """
    try:
        stat = path.stat()
        if stat.st_size < REMEMBER_BYTES:
            return _hashed(path)
        name = f"digests/{_signature(path, stat)}"
        kept = cache.read(name)
        return _hashed_and_kept(path, name, stat) if kept is None else kept.decode("ascii")
    except OSError as fault:
        raise CorpusError(
            f"{shown(path)}: cannot be read ({fault.strerror or fault}); it must be a readable file"
        ) from fault


def _hashed(path: Path) -> str:
    with path.open("rb") as stream:
        state = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=_HEX_DIGITS // 2))
    return state.hexdigest()


def _signature(path: Path, stat: os.stat_result) -> str:
    times = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    return of_text(str(path.resolve()), str(stat.st_size), *map(str, times))


def _hashed_and_kept(path: Path, name: str, stat: os.stat_result) -> str:
    found = _hashed(path)
    # a file written a moment ago may change again within one tick of its clock
    if time.time() - stat.st_mtime > _SETTLED_S:
        cache.write(name, found.encode())
    return found
