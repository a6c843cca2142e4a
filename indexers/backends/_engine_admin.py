"""Temporary indices of an engine: made, described, found again and removed.

Only an index whose name is one of ours and whose mapping carries our owner tag is ever removed.
"""

from __future__ import annotations

import re
import secrets
from typing import Any, Protocol

from indexers.backends._engine_errors import Refused
from indexers.errors import BackendError, EngineUnavailable, SettingError

PREFIX = "harness"
LONGEST_OWNER = 200
META_PATH = "_mapping?filter_path=*.mappings._meta.harness&expand_wildcards=all"
REMOVAL_LIMIT_S = 10.0
"""Of one request when removing: a server that hangs must not hold up the end of a run."""


class Call(Protocol):
    """One administrative request; gives the parsed reply.

    Raises:
        Refused: the engine answered with an error.
        EngineUnavailable: no answer came within the time.
    """

    def __call__(
        self, method: str, path: str, body: object = None, *, what: str, timeout_s: float = 0
    ) -> dict[str, Any]:
        """Send; `what` is told in errors; without a time the configured one counts."""
        ...


def check_owner(owner: str) -> None:
    """Refuse tags that cannot be part of an index name.

    Raises:
        SettingError: it is one.
    """
    if not re.fullmatch(r"[a-z0-9-]+", owner) or len(owner) > LONGEST_OWNER:
        raise SettingError(
            f"owner {owner!r:.80} is out of range: 1 to {LONGEST_OWNER} of a-z, 0-9 and -"
        )


def new_name(owner: str) -> str:
    """A name for a temporary index."""
    return f"{PREFIX}-{owner}-{secrets.token_hex(4)}"


def is_ours(name: str, owner: str) -> bool:
    """Whether a name can be one of ours."""
    return re.fullmatch(rf"{PREFIX}-{re.escape(owner)}-[0-9a-f]{{8}}", name) is not None


def owners(call: Call, pattern: str) -> dict[str, str | None]:
    """Index names that match -> owner tag; nothing where none does."""
    try:
        path = f"/{pattern}/{META_PATH}"
        reply = call("GET", path, what=f"looking for {pattern}", timeout_s=REMOVAL_LIMIT_S)
    except Refused as error:
        if error.status == 404:
            return {}
        raise
    tags = {name: entry["mappings"]["_meta"]["harness"] for name, entry in reply.items()}
    return {name: tag.get("owner") for name, tag in tags.items() if isinstance(tag, dict)}


def delete(call: Call, name: str) -> None:
    """Remove an index known to be ours, read-only or not; it is no error if it is gone."""
    try:
        _delete(call, name)
    except Refused as error:
        if error.status != 403:
            raise
        # a read-only index takes this setting, and takes it alone
        body = {"index.blocks.read_only": False}
        path = f"/{name}/_settings"
        call("PUT", path, body, what=f"unlocking {name}", timeout_s=REMOVAL_LIMIT_S)
        _delete(call, name)


def _delete(call: Call, name: str) -> None:
    try:
        call("DELETE", f"/{name}", what=f"removing {name}", timeout_s=REMOVAL_LIMIT_S)
    except Refused as error:
        if error.status != 404:
            raise


def drop(call: Call, name: str, owner: str) -> None:
    """Remove an index if it is ours.

    Raises:
        BackendError: it is someone else's.
    """
    if not is_ours(name, owner):
        raise BackendError(f"{name} is not removed: no temporary index of owner {owner!r}")
    tags = owners(call, name)
    if name in tags and tags[name] == owner:
        delete(call, name)
    elif exists(call, name):
        raise BackendError(f"{name} is not removed: it does not carry the owner tag {owner!r}")


def exists(call: Call, name: str) -> bool:
    """Whether there is such an index."""
    try:
        path = f"/{name}/_settings?filter_path=*.settings.index.uuid"
        call("GET", path, what=f"reading {name}", timeout_s=REMOVAL_LIMIT_S)
    except Refused as error:
        if error.status == 404:
            return False
        raise
    return True


def sweep(call: Call, owner: str) -> list[str]:
    """Remove all our indices; gives their names, sorted."""
    found = owners(call, f"{PREFIX}-{owner}-*")
    names = sorted(name for name, tag in found.items() if tag == owner and is_ours(name, owner))
    for name in names:
        delete(call, name)
    return names


def check_replicas(call: Call, replicas: int) -> None:
    """Refuse replicas that no node can take: an index with them would never be green.

    Raises:
        BackendError: there are too few nodes.
    """
    if not replicas:
        return
    path = "/_cluster/health?filter_path=number_of_data_nodes"
    nodes = int(call("GET", path, what="counting nodes")["number_of_data_nodes"])
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
    path = f"/_cluster/health/{name}?wait_for_status=green&timeout={max(1, int(timeout_s))}s"
    try:
        reply = call("GET", path, what=f"waiting for {name}", timeout_s=timeout_s + 5)
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
    call("POST", f"/{name}/_refresh", what=f"refreshing {name}")


def count(call: Call, name: str) -> int:
    """How many documents searches see."""
    path = f"/{name}/_count?filter_path=count,_shards.failed"
    reply = call("GET", path, what=f"counting {name}")
    if reply.get("_shards", {}).get("failed"):
        raise BackendError(f"counting {name} failed: some of its shards did not answer")
    return int(reply["count"])


def shard_segments(call: Call, name: str) -> list[int]:
    """How many segments searches look into, of each copy of each shard."""
    path = f"/{name}/_segments?filter_path=indices.*.shards.*.num_search_segments"
    reply = call("GET", path, what=f"reading {name}")
    shards = [s for index in reply.get("indices", {}).values() for s in index["shards"].values()]
    return [int(copy["num_search_segments"]) for copies in shards for copy in copies]


def size_bytes(call: Call, name: str) -> int:
    """Bytes of an index as stored, replicas apart."""
    path = f"/{name}/_stats/store?filter_path=_all.primaries.store.size_in_bytes"
    reply = call("GET", path, what=f"measuring {name}")
    return int(reply["_all"]["primaries"]["store"]["size_in_bytes"])


def segments(call: Call, name: str) -> str:
    """What the index consists of: `name:documents:bytes` of each segment, sorted."""
    reply = call("GET", f"/{name}/_segments?filter_path=indices.*.shards", what=f"reading {name}")
    shards = [s for index in reply["indices"].values() for s in index["shards"].values()]
    parts = [
        f"{segment}:{facts['num_docs']}:{facts['size_in_bytes']}"
        for copies in shards
        for copy in copies
        for segment, facts in copy.get("segments", {}).items()
    ]
    return " ".join(sorted(parts))
