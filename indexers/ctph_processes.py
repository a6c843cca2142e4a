"""CTPH digests of many texts, shared out to processes: the library is plain Python.

They are children started from the command line, not by `multiprocessing`: nothing of the caller
is imported again in them, so that any caller (a script without a main guard or on standard
input, a thread, a daemon) may have them, and each ends when its standard input does. Over the
pipes go texts in UTF-8, parted by a byte that it never holds; back come a byte of status for
each, and the digests as lines.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from indexers import ctph

SMALLEST = 1 << 17
"""Characters a process, below which starting it costs more than it saves."""
_COMMAND = "from indexers.ctph import serve; serve()"


def digests(texts: Sequence[str]) -> tuple[bytes, list[bytes]]:
    """What `ctph.digests` gives, by as many processes as this one may use cores.

    Equal for any number of them. Small blocks are hashed by this process.
    """
    shares = min(len(os.sched_getaffinity(0)), sum(map(len, texts)) // SMALLEST, len(texts))
    if shares < 2 or not sys.executable:
        return ctph.digests(texts)
    statuses, found = bytearray(len(texts)), [b""] * len(texts)
    # dealt out in turn, so that a run of long texts is shared too
    parts = [texts[share::shares] for share in range(shares)]
    with ThreadPoolExecutor(shares) as pool:
        for share, (judged, made) in enumerate(pool.map(_in_child, parts)):
            statuses[share::shares] = judged
            found[share::shares] = made
    return bytes(statuses), found


def _in_child(texts: Sequence[str]) -> tuple[bytes, list[bytes]]:
    """Digests by a process of its own; by this one where it cannot be had, or is ended."""
    path = os.pathsep.join(entry or os.curdir for entry in sys.path)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _COMMAND],
            input=ctph.BETWEEN.join([text.encode("utf-8", "surrogatepass") for text in texts]),
            capture_output=True,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
    except OSError:
        return ctph.digests(texts)
    if done.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    statuses, made = done.stdout[: len(texts)], done.stdout[len(texts) :].split(b"\n")
    if done.returncode or len(made) != len(texts):
        return ctph.digests(texts)
    return statuses, made
