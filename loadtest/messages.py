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

from indexers.types import F64, I32
from loadtest.profile import AttachedIndex, LoadProfile, Target

LENGTH = struct.Struct(">Q")
MAX_BYTES = 1 << 32


@dataclass(frozen=True, slots=True)
class Measure:
    """Put this load on a built index.

    Attributes:
        watched: send a `Tick` every second until the answer.
    """

    target: Target | AttachedIndex
    profile: LoadProfile
    watched: bool = False


@dataclass(frozen=True, slots=True)
class Serve:
    """Let a person put load on a built index from Locust's own page, until a `Stop`.

    A `Tick` comes every second, the first as soon as the page can be opened; then `Served`.

    Attributes:
        port: of the page, on 127.0.0.1.
        users: as many keep the profile's rate together; the page proposes that number.
        run_s: length of a run that the page proposes; None for one without an end.
    """

    target: Target | AttachedIndex
    profile: LoadProfile
    port: int
    users: int
    run_s: int | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """End what `Serve` began."""


@dataclass(frozen=True, slots=True)
class Served:
    """The page is closed."""


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
class Tick:
    """What happened since the last one.

    Attributes:
        phase: `warm-up`, `load`, `burst`, `rest` (asking what is unanswered without load), or
            `idle` (a page on which no run is going on).
        run: number of the run that a person started, from 1; 0 before the first.
        elapsed_s: since the first request of this load was due.
        sent: requests of this load, so far.
        sent_s: when the last of them was sent, since the first was due.
        errors: of them, how many failed, so far.
        saturated: whether a backlog ran past its limit, so far.
        latency_ms: float64 (m,), of the requests that ended meanwhile; infinite where they failed.
        service_ms: float64 (m,), likewise.
        query: int32 (m,), row of the query that each asked.
    """

    phase: str
    run: int
    elapsed_s: float
    sent: int
    sent_s: float
    errors: int
    saturated: bool
    latency_ms: F64
    service_ms: F64
    query: I32


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
