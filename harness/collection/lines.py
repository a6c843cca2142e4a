"""Numbered lines of a file, plain or gzip; whatever stops the reading is told in one line."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from indexers.errors import InputError

LINE_LIMIT_BYTES = 64 * 2**20
"""A longer line is refused: a file without line ends must not fill the memory."""

_GZIP = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LOOK_BYTES = 8192


def brief(value: object) -> str:
    """The value on one short line, for messages."""
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:76]}…{shown[-1]}"


def shown(path: Path) -> str:
    """The path as it was given, quoted where it would break a line."""
    text = str(path)
    return text if text.isprintable() else repr(text)


def numbered(path: Path, error: type[InputError]) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1, line ends kept.

    A UTF-8 byte order mark is dropped; gzip is recognised by its first bytes.

    Raises:
        InputError: of the given type; the file is missing, unreadable, binary, damaged, or has
            a line above `LINE_LIMIT_BYTES`.
    """
    try:
        with path.open("rb") as raw:
            yield from _lines(_decompressed(raw, path, error), path, error)
    except (EOFError, gzip.BadGzipFile, zlib.error) as fault:
        raise error(
            f"{shown(path)}: the gzip data is damaged or cut short ({fault}); fetch or pack it anew"
        ) from fault
    except OSError as fault:
        raise error(
            f"{shown(path)}: cannot be read ({fault.strerror or fault}); "
            "it must be a readable file, plain or .gz"
        ) from fault


def _decompressed(raw: io.BufferedReader, path: Path, error: type[InputError]) -> io.BufferedReader:
    if raw.peek(2)[:2] == _GZIP:
        # GzipFile reads ahead by itself; the buffer makes readline fast
        return io.BufferedReader(gzip.GzipFile(fileobj=raw))
    if path.suffix == ".gz":
        raise error(f"{shown(path)}: is no gzip file; pack it with gzip or drop .gz from its name")
    return raw


def _lines(
    stream: io.BufferedReader, path: Path, error: type[InputError]
) -> Iterator[tuple[int, bytes]]:
    start = stream.peek(_LOOK_BYTES)[:_LOOK_BYTES]
    if start[:2] in _UTF16_MARKS or b"\0" in start:
        raise error(f"{shown(path)}: is a binary file; it must be UTF-8 text, plain or .gz")
    read = partial(stream.readline, LINE_LIMIT_BYTES + 1)
    for number, line in enumerate(iter(read, b""), 1):
        if number == 1:
            line = line.removeprefix(_UTF8_MARK)
        if len(line) > LINE_LIMIT_BYTES:
            limit_mib = LINE_LIMIT_BYTES // 2**20
            raise error(f"{shown(path)} line {number}: is longer than {limit_mib} MiB; split it")
        if line and not line.isspace():
            yield number, line
