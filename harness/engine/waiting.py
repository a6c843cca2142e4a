"""Waiting until a cluster can be used."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from harness.progress import duration
from indexers.errors import EngineUnavailable

USUAL_S = {1: 30.0, 3: 60.0}
"""Number of nodes -> how long a start takes on two cores once the image is there."""
POLL_S = 1.0
TELL_EVERY_S = 5.0
SETTLED_S = 5.0
"""How long a yellow cluster is given to become green."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a cluster says of itself.

    Attributes:
        status: `green`, `yellow`, `red`, or `none` where it does not answer.
        nodes: how many have joined.
    """

    status: str
    nodes: int = 0


def health(url: str, timeout_s: float = 3.0) -> Health:
    """Ask a cluster without credentials how it is."""
    import urllib3

    try:
        with urllib3.PoolManager(retries=False, timeout=timeout_s) as pool:
            reply = pool.request("GET", f"{url}/_cluster/health?timeout=1s")
        told: dict[str, Any] = orjson.loads(reply.data)
        return Health(str(told["status"]), int(told["number_of_nodes"]))
    except (urllib3.exceptions.HTTPError, ValueError, KeyError, TypeError):
        return Health("none")


def wait_until_usable(
    url: str,
    nodes: int,
    limit_s: float,
    say: Callable[[str], None],
    check: Callable[[], None],
) -> Health:
    """Wait for all nodes and green, or for yellow that does not mend.

    Yellow lasts where a kept index has replicas that no node can hold.

    Args:
        url: of the cluster.
        nodes: how many must have joined.
        limit_s: the longest that is waited.
        say: tells the one who waits.
        check: raises where waiting has become useless.

    Raises:
        EngineUnavailable: the limit is over.
    """
    started = told = time.monotonic()
    yellow_since: float | None = None
    while True:
        found, now = health(url), time.monotonic()
        joined = found.nodes >= nodes
        yellow_since = (yellow_since or now) if joined and found.status == "yellow" else None
        if joined and found.status == "green":
            return found
        if yellow_since is not None and now - yellow_since >= SETTLED_S:
            return found
        check()
        if now - started >= limit_s:
            raise EngineUnavailable(
                f"{url} is not usable after {duration(limit_s)} ({_state(found, nodes)}): look at "
                "docker logs of its containers, or give it longer with --timeout"
            )
        if now - told >= TELL_EVERY_S:
            told = now
            say(_line(now - started, found, nodes, limit_s))
        time.sleep(POLL_S)


def _state(found: Health, nodes: int) -> str:
    if found.status == "none":
        return "no answer yet"
    return f"{found.status}, {found.nodes} of {nodes} nodes"


def _line(passed_s: float, found: Health, nodes: int, limit_s: float) -> str:
    left_s = USUAL_S[nodes] - passed_s
    left = f"about {duration(left_s)} left" if left_s > 0 else "longer than usual"
    return (
        f"starting: {_state(found, nodes)}; {duration(passed_s)} passed, {left} "
        f"(at most {duration(limit_s)})"
    )
