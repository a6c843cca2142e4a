"""What only some backends can do; `isinstance` tells which."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from indexers.index_types import Documents, IndexHandle, IndexSpec
from indexers.types import I64


@runtime_checkable
class Updatable(Protocol):
    """A backend whose indexes can be written into while they are searched."""

    def update(self, handle: IndexHandle, documents: Documents, ordinals: I64) -> None:
        """Index documents again, as they are.

        Args:
            handle: of an index built with `IndexSpec.updatable`.
            documents: as it was built from.
            ordinals: int64 (m,), of those to be indexed.

        Raises:
            BackendError: they could not be.
        """
        ...

    def settle(self, handle: IndexHandle) -> float:
        """Bring the index back to how it was built, as far as that can be after updates.

        Gives the deleted documents that it still holds, as a share of those it has.

        Raises:
            BackendError: it could not be.
        """
        ...


@runtime_checkable
class OnServer(Protocol):
    """A backend whose server may lack what an index needs, and may hold what a run left."""

    def accept(self, spec: IndexSpec) -> None:
        """Look whether the server can hold such an index, before anything is built.

        Raises:
            EngineUnavailable: it is away, or of a version that does not work at all.
            BackendError: it lacks something; the message names it.
        """
        ...

    def left(self) -> list[str]:
        """Names of the indices that carry this config's owner tag; they are only looked at.

        Raises:
            BackendError: the server does not tell.
        """
        ...


@runtime_checkable
class Pressed(Protocol):
    """A backend whose server tells how hard its memory is pressed."""

    def pressure(self) -> dict[str, float]:
        """Figures of all its nodes together; empty where it does not tell.

        `heap_used_percent` is that of the fullest; `gc_ms`, `gc_count` (collections of every kind)
        and `breaker_trips` (of every circuit breaker) are counted from the start of each node.
        """
        ...
