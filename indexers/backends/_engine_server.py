"""The server of an engine: how it is reached and looked at, and what of ours is removed there."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from indexers.address import address_of
from indexers.backends import _engine_admin as admin
from indexers.backends import _engine_temporary as temporary
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_pressure import pressure
from indexers.backends._engine_root import ask_version, seen_version
from indexers.errors import BackendError, EngineUnavailable
from indexers.http_request import HttpRequest
from indexers.index_types import BackendConfig, BackendInfo, IndexHandle, IndexSpec

HEALTH = HttpRequest("GET", ("_cluster", "health"))


class EngineServer(ABC):
    """A server, whichever of the two engines it is.

    Attributes:
        name: of the backend.
        flavour: the engine's own name.
        dialect: what it says in its own way.

    Raises:
        SettingError: no URL, a URL that is none, or an owner tag that cannot be in a name.
    """

    name: ClassVar[str]
    flavour: ClassVar[str]
    dialect: ClassVar[Dialect]

    def __init__(self, config: BackendConfig) -> None:
        temporary.check_owner(config.owner)
        self._config = config
        self._to = address_of(self.name, config)

    @abstractmethod
    def _call(self, request: HttpRequest, *, what: str, timeout_s: float = 0) -> dict[str, Any]:
        """One administrative request by the official client, as `Call` says."""

    @abstractmethod
    def _accept(self, version: tuple[int, ...], spec: IndexSpec | None = None) -> None:
        """Refuse a server, or a pair of client and server, that cannot work.

        Args:
            version: of the server, its first two numbers.
            spec: what it is to hold; None before that is known.

        Raises:
            EngineUnavailable: it is one.
            MissingPackage: the client is not installed.
            BackendError: the server lacks what such an index needs.
        """

    def check(self) -> BackendInfo:
        """Look at the server before anything is built.

        Where nothing is to be, it is enough that it is there: its version is told where these
        credentials may ask for it.

        Raises:
            EngineUnavailable: unreachable, red, something else than this engine, or of a version
                that does not work.
            MissingPackage: the client is not installed.
        """
        if self._config.reads_only:
            seen = seen_version(self._to, self.flavour, self._config.timeout_s)
            return BackendInfo(seen, self._to.warnings, {"flavour": self.flavour})
        version, numbers = ask_version(self._to, self.flavour, self._config.timeout_s)
        self._accept(numbers)
        health = self._call(HEALTH, what="reading the cluster's health")
        if health["status"] == "red":
            raise EngineUnavailable(
                f"the cluster at {self._to.shown} is red: repair it, or remove the indices "
                "that _cluster/health?level=indices shows as red"
            )
        warnings = self._to.warnings
        if health["status"] == "yellow":
            warnings += (
                f"the cluster at {self._to.shown} is yellow: replicas are missing; "
                "only temporary indices must be green",
            )
        limits = self._call(self.dialect.limit, what="reading the server's limits")
        facts = {
            "flavour": self.flavour,
            "nodes": str(health["number_of_data_nodes"]),
            "max_clause_count": str(self.dialect.clause_limit(limits)),
        }
        return BackendInfo(version, warnings, facts)

    def accept(self, spec: IndexSpec) -> None:
        """Look whether the server can hold such an index.

        Raises:
            EngineUnavailable: it is away, or of a version that does not work at all.
            BackendError: it lacks something.
        """
        _, numbers = ask_version(self._to, self.flavour, self._config.timeout_s)
        self._accept(numbers, spec)
        admin.check_replicas(self._call, spec.layout.replicas)

    def drop(self, handle: IndexHandle) -> None:
        """Remove the index; it is no error if it is gone already.

        Raises:
            BackendError: it is another index of that name.
            EngineUnavailable: the server is gone.
        """
        name, owner = handle.location, self._config.owner
        if handle.uuid is None:
            temporary.remove(self._call, name, owner)
        else:
            temporary.remove_made(self._call, name, owner, handle.uuid)

    def left(self) -> list[str]:
        """Names of the indices that carry our owner tag, sorted."""
        return [one.name for one in temporary.owned(self._call, self._config.owner)]

    def sweep(self) -> list[str]:
        """Remove all indices that carry our owner tag; gives their names."""
        return temporary.remove_all(self._call, self._config.owner)

    def pressure(self) -> dict[str, float]:
        """Heap, garbage collection and circuit breakers of the server, as `_engine_pressure` says;
        empty where it does not tell."""
        return pressure(self._call)

    def state(self, handle: IndexHandle) -> str:
        """Its segments; empty where the server is away, which the next request will tell."""
        with contextlib.suppress(BackendError):
            return self.segments(handle)
        return ""

    def segments(self, handle: IndexHandle) -> str:
        """What the index consists of: a change during a trial is drift."""
        return admin.segments(self._call, handle.location)
