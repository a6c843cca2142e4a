"""What the load process is told and what it says: pickles, each after its length.

Both ends are the same program on the same machine, so that pickles are safe and exact.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from loadtest.profile import LoadProfile, Target

LENGTH = struct.Struct(">Q")
MAX_BYTES = 1 << 32


@dataclass(frozen=True, slots=True)
class Measure:
    """Put this load on a built index."""

    target: Target
    profile: LoadProfile


@dataclass(frozen=True, slots=True)
class Calibrate:
    """Put this load on an index that answers at once.

    Attributes:
        url: of a null server; None to answer in process.
        k: answers a query.
        queries: number of queries, all runnable.
    """

    url: str | None
    profile: LoadProfile
    k: int
    queries: int


@dataclass(frozen=True, slots=True)
class Failure:
    """The load could not be put.

    Attributes:
        kind: name of a class of `indexers.errors`.
        text: its message, one line.
    """

    kind: str
    text: str


def encode(message: object) -> bytes:
    """The message as it goes through a pipe."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def write(stream: BinaryIO, message: object) -> None:
    """Send one message."""
    stream.write(encode(message))
    stream.flush()


def decode(read: Callable[[int], bytes]) -> object:
    """Receive one message.

    Args:
        read: gives exactly as many bytes as asked for.

    Raises:
        ValueError: what was read is no message.
    """
    (length,) = LENGTH.unpack(read(LENGTH.size))
    if length > MAX_BYTES:
        raise ValueError(f"a message of {length} bytes is no message")
    body = read(length)
    try:
        return pickle.loads(body)
    except Exception as error:  # unpickling nonsense raises nearly anything
        raise ValueError(f"not a pickle: {error}") from error


def read_exactly(fd: int, size: int) -> bytes:
    """Read so many bytes, waiting for them.

    Raises:
        EOFError: the other end is closed.
    """
    parts = bytearray()
    while len(parts) < size:
        part = os.read(fd, size - len(parts))
        if not part:
            raise EOFError("the other end of the pipe is closed")
        parts += part
    return bytes(parts)
