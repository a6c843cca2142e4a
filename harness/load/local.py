"""Whether an index is on the machine that asks it."""

from __future__ import annotations

from indexers.address import address


def is_local(engine: str, url: str | None) -> bool:
    """Whether load generator and index share one machine's cores, by the server's address."""
    if url is None:
        return True
    return address(engine, url).local
