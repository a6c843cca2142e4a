"""Opening what a load is put on, in the load process; it alone imports this module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from indexers import registry, store
from indexers.address import Address, address_of
from indexers.protocols import Searcher
from indexers.types import I32
from loadtest.attached import AttachedSearcher
from loadtest.attached_answers import AnswerSearcher
from loadtest.profile import AttachedIndex, LoadProfile, Target
from loadtest.schedule import worker_count
from loadtest.transport import Http


@dataclass(frozen=True, slots=True)
class Opened:
    """An index ready to be asked.

    Attributes:
        remote: whether searching waits on a socket.
        runnable: int32 (m,), rows of the queries that may be asked.
        queries: number of all queries.
        k: answers kept per query; 0 where nothing is judged by them.
    """

    searcher: Searcher
    remote: bool
    runnable: I32
    queries: int
    k: int


@contextmanager
def opened(target: Target | AttachedIndex, profile: LoadProfile) -> Iterator[Opened]:
    """The target, open until the end of the block.

    Raises:
        HarnessError: it cannot be opened.
    """
    if isinstance(target, AttachedIndex):
        http = http_to(address_of(target.engine, target.config), profile)
        try:
            searcher = _attached(target, http)
            yield Opened(searcher, True, target.runnable, len(target.bodies), target.k)
        finally:
            http.close()
    else:
        with _built(target, profile) as found:
            yield found


def _attached(target: AttachedIndex, http: Http) -> Searcher:
    if target.ids is None:
        return AttachedSearcher(target.index, target.bodies, http)
    ids = _ids(target.ids, target.ids.stat().st_mtime_ns)
    return AnswerSearcher(target.index, target.bodies, ids, target.id_field, http)


@contextmanager
def _built(target: Target, profile: LoadProfile) -> Iterator[Opened]:
    backend = registry.backend(target.handle.spec.backend)(target.config)
    queries = store.load_queries(target.queries, **target.made_by)
    prints = queries.fingerprints
    count = len(queries.texts) if prints is None else len(prints)
    ids = _ids(target.ids, target.ids.stat().st_mtime_ns)
    remote = backend.remote and target.config.url is not None
    http = http_to(address_of(target.engine, target.config), profile) if remote else None
    try:
        searcher = backend.open(target.handle, target.params, queries, ids, http)
        try:
            yield Opened(searcher, backend.remote, target.runnable, count, target.params.k)
        finally:
            searcher.close()
    finally:
        if http is not None:
            http.close()


def http_to(to: Address, profile: LoadProfile) -> Http:
    """Connections for as many requests as this load has on their way at once."""
    connections = max(profile.users, worker_count(profile, remote=True))
    return Http(to, connections, profile.timeout_s)


@lru_cache(maxsize=1)
def _ids(path: Path, _changed_ns: int) -> list[str]:
    """The ids in a file; read once, however many trials ask for them."""
    return store.load_ids(path)
