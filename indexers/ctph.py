"""Digests of context triggered piecewise hashing (Kornblum 2006), by the package `ppdeep`.

Loads little, since `serve` is run by processes of their own: told in `indexers.ctph_processes`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from indexers.normaliser import normalise

# the values of `indexers.types.Status`, which would load numpy
OK, EMPTY, TOO_SHORT, LOW_ENTROPY = range(4)
BETWEEN = b"\xff"
"""Parts texts on their way to `serve`: no UTF-8 has it."""
ENOUGH_BYTES = 32
"""From here on a text whose digest is degenerate is not too short: it repeats itself."""
REPEATS = 8
"""A text that is this often the same piece has nothing to cut it by."""
_PROBE = 64


def digests(texts: Iterable[str]) -> tuple[bytes, list[bytes]]:
    """Statuses of raw texts, a byte each, and digests of their UTF-8 once normalised.

    A digest is ASCII, `block size:part:part`, where the second part is that of twice the block
    size; empty where the status is not OK. The status is EMPTY where nothing is left after
    normalising; LOW_ENTROPY where the text is one piece repeated, or its digest degenerate;
    TOO_SHORT where it is degenerate and the text has less than 32 bytes.
    """
    import ppdeep

    statuses, made = bytearray(), []
    for text in texts:
        data = normalise(text).encode("utf-8", "surrogatepass")
        repeats = periodic(data)
        digest = ppdeep.hash(data) if data and not repeats else "::"
        _, first, second = digest.split(":")
        good = first and second and not degenerate(first)
        if good:
            statuses.append(OK)
        elif not data:
            statuses.append(EMPTY)
        else:
            statuses.append(TOO_SHORT if len(data) < ENOUGH_BYTES else LOW_ENTROPY)
        made.append(digest.encode("ascii") if good else b"")
    return bytes(statuses), made


def periodic(data: bytes) -> bool:
    """Whether a text is one piece repeated, at least eight times (the last one may be cut)."""
    period = data.find(data[:_PROBE], 1)
    return 0 < period * REPEATS <= len(data) and data[period:] == data[:-period]


def degenerate(part: str) -> bool:
    """Whether a digest's first part says too little of a text to tell it from others.

    It does with fewer than four different characters, or where fewer than half of its 3-grams
    are different: pieces that repeat.
    """
    different = len(set(part))
    # every character but the last two starts a 3-gram: mostly enough to know, and quicker
    if different < 4 or 2 * (different - 2) >= len(part) - 2:
        return different < 4
    return 2 * len(set(zip(part, part[1:], part[2:], strict=False))) < len(part) - 2


def serve() -> None:
    """Read texts from standard input until it ends, then write their statuses and digests."""
    read = sys.stdin.buffer.read().split(BETWEEN)
    statuses, made = digests(text.decode("utf-8", "surrogatepass") for text in read)
    sys.stdout.buffer.write(statuses + b"\n".join(made))
