"""Segments of an engine's index merged while its progress is told, within a deadline.

The request is left waiting in a thread of its own rather than made a task of the engine: a task
leaves a record in the engine's own index `.tasks`, which would be there after us, and may not be
ours to remove. A merge goes on where its connection breaks; it is then waited for, and asked for
again where it came to nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from indexers.backends._engine_admin import Call, refresh, shard_segments
from indexers.backends._engine_errors import Refused, reason
from indexers.errors import BackendError, EngineUnavailable
from indexers.http_request import HttpRequest

LIMIT_S = 3600.0
"""Of one index's merge."""
PATIENCE_S = 120.0
"""How long a server that went away meanwhile is waited for."""
POLL_S = 0.5
TRIES = 3
"""Merges without an error that may leave too many segments."""
MERGING = {"filter_path": "_all.primaries.merges.current"}
AWAY = (429, 502, 503, 504)

Tell = Callable[[str], None]
"""Told what is done meanwhile."""


def merge(
    call: Call, name: str, segments: int, tell: Tell, patience_s: float | None = None
) -> None:
    """Merge each shard to at most so many segments.

    Args:
        call: to the server.
        name: of the index.
        segments: at least 1.
        tell: told what is done meanwhile.
        patience_s: how long a server that went away is waited for; None for `PATIENCE_S`.

    Raises:
        BackendError: it failed, or did not come to that.
        EngineUnavailable: it took too long, or the server is gone.
    """
    deadline = time.monotonic() + LIMIT_S
    request = HttpRequest("POST", (name, "_forcemerge"), {"max_num_segments": str(segments)})
    for _ in range(TRIES):
        while not _merged(call, name, request, tell, deadline):
            tell("waiting for the server")
            limit_s = PATIENCE_S if patience_s is None else patience_s
            _wait_until_idle(call, name, tell, deadline, limit_s)
        refresh(call, name)  # searches keep the old segments until then
        most = max(shard_segments(call, name), default=0)
        if most <= segments:
            return
    raise BackendError(f"{name} has {most} segments in a shard after merging to {segments}")


def _merged(call: Call, name: str, request: HttpRequest, tell: Tell, deadline: float) -> bool:
    """Ask once, and wait for the answer; whether one came."""
    asked = _Asked(call, name, request, deadline)
    while not asked.done.wait(POLL_S):
        if time.monotonic() > deadline:
            raise EngineUnavailable(f"merging {name} took longer than {LIMIT_S:g} s")
        tell(_shown(call, name))
    if isinstance(asked.error, EngineUnavailable) or (
        isinstance(asked.error, Refused) and asked.error.status in AWAY
    ):
        return False
    if asked.error is not None:
        raise asked.error
    failures = asked.reply.get("_shards", {}).get("failures") or ()
    if failures:
        raise BackendError(f"merging {name} failed: {reason(failures[0].get('reason'))}")
    return True


class _Asked:
    """A request that waits in a thread; it does not keep the process from ending."""

    def __init__(self, call: Call, name: str, request: HttpRequest, deadline: float) -> None:
        self.done = threading.Event()
        self.reply: dict[str, Any] = {}
        self.error: BaseException | None = None
        limit_s = max(1.0, deadline - time.monotonic())

        def ask() -> None:
            try:
                self.reply = call(request, what=f"merging {name}", timeout_s=limit_s)
            except BaseException as error:  # told by the thread that waits
                self.error = error
            self.done.set()

        threading.Thread(target=ask, name="merge", daemon=True).start()


def _shown(call: Call, name: str) -> str:
    try:
        counts = shard_segments(call, name)
    except BackendError:  # the merge itself tells
        return "merging"
    return f"merging: {sum(counts)} segments in {len(counts)} shards"


def _wait_until_idle(call: Call, name: str, tell: Tell, deadline: float, patience_s: float) -> None:
    """Wait until the server answers, and merges nothing of this index any more."""
    gone_by = time.monotonic() + patience_s
    request = HttpRequest("GET", (name, "_stats", "merge"), MERGING)
    while time.monotonic() < deadline:
        try:
            reply = call(request, what=f"merging {name}")
            if not reply.get("_all", {}).get("primaries", {}).get("merges", {}).get("current"):
                shard_segments(call, name)  # refused until the shards have started
                return
            tell(_shown(call, name))
            gone_by = time.monotonic() + patience_s
        except (EngineUnavailable, Refused) as error:
            if isinstance(error, Refused) and error.status not in AWAY:
                raise
            if time.monotonic() > gone_by:
                if isinstance(error, EngineUnavailable):
                    error.waited_s = patience_s
                raise
        time.sleep(POLL_S)
    raise EngineUnavailable(f"merging {name} took longer than {LIMIT_S:g} s")
