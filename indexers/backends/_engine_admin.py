"""Administrative requests to an engine: what the server is, and how an index of it stands."""

from __future__ import annotations

from typing import Any, Protocol

from indexers.backends._engine_errors import Refused
from indexers.errors import BackendError, EngineUnavailable
from indexers.http_request import HttpRequest


class Call(Protocol):
    """One administrative request; gives the parsed reply.

    Raises:
        Refused: the engine answered with an error.
        EngineUnavailable: no answer came within the time.
    """

    def __call__(self, request: HttpRequest, *, what: str, timeout_s: float = 0) -> dict[str, Any]:
        """Send; `what` is told in errors; without a time the configured one counts."""
        ...


def check_replicas(call: Call, replicas: int) -> None:
    """Refuse replicas that no node can take: an index with them would never be green.

    Raises:
        BackendError: there are too few nodes.
    """
    if not replicas:
        return
    request = HttpRequest("GET", ("_cluster", "health"), {"filter_path": "number_of_data_nodes"})
    nodes = int(call(request, what="counting nodes")["number_of_data_nodes"])
    if replicas >= nodes:
        allowed = f"0 to {nodes - 1}" if nodes > 1 else "0"
        raise BackendError(
            f"replicas {replicas} have no place: the cluster has {nodes} data "
            f"node{'s' * (nodes != 1)}, and each holds one copy of a shard at most; give "
            f"--replicas {allowed}, or add nodes"
        )


def wait_for_green(call: Call, name: str, timeout_s: float) -> None:
    """Wait for one index, whatever the rest of the cluster is.

    Raises:
        EngineUnavailable: it did not become green in time.
    """
    wait = {"wait_for_status": "green", "timeout": f"{max(1, int(timeout_s))}s"}
    request = HttpRequest("GET", ("_cluster", "health", name), wait)
    try:
        reply = call(request, what=f"waiting for {name}", timeout_s=timeout_s + 5)
    except Refused as error:
        if error.status != 408:
            raise
        reply = {"timed_out": True}
    if reply.get("timed_out") or reply.get("status") != "green":
        raise EngineUnavailable(
            f"index {name} did not become green in {timeout_s:g} s: look at "
            "_cluster/allocation/explain for what keeps its shard from starting"
        )


def refresh(call: Call, name: str) -> None:
    """Make everything indexed what searches see."""
    call(HttpRequest("POST", (name, "_refresh")), what=f"refreshing {name}")


def count(call: Call, name: str) -> int:
    """How many documents searches see."""
    told = {"filter_path": "count,_shards.failed"}
    reply = call(HttpRequest("GET", (name, "_count"), told), what=f"counting {name}")
    if reply.get("_shards", {}).get("failed"):
        raise BackendError(f"counting {name} failed: some of its shards did not answer")
    return int(reply["count"])


def shard_segments(call: Call, name: str) -> list[int]:
    """How many segments searches look into, of each copy of each shard."""
    told = {"filter_path": "indices.*.shards.*.num_search_segments"}
    reply = call(HttpRequest("GET", (name, "_segments"), told), what=f"reading {name}")
    shards = [s for index in reply.get("indices", {}).values() for s in index["shards"].values()]
    return [int(copy["num_search_segments"]) for copies in shards for copy in copies]


def size_bytes(call: Call, name: str) -> int:
    """Bytes of an index as stored, replicas apart."""
    told = {"filter_path": "_all.primaries.store.size_in_bytes"}
    reply = call(HttpRequest("GET", (name, "_stats", "store"), told), what=f"measuring {name}")
    return int(reply["_all"]["primaries"]["store"]["size_in_bytes"])


def segments(call: Call, name: str) -> str:
    """What the index consists of: `name:documents:bytes` of each segment, sorted."""
    told = {"filter_path": "indices.*.shards"}
    reply = call(HttpRequest("GET", (name, "_segments"), told), what=f"reading {name}")
    shards = [s for index in reply["indices"].values() for s in index["shards"].values()]
    parts = [
        f"{segment}:{facts['num_docs']}:{facts['size_in_bytes']}"
        for copies in shards
        for copy in copies
        for segment, facts in copy.get("segments", {}).items()
    ]
    return " ".join(sorted(parts))
