"""A temporary index from nothing to ready: made, filled, merged, counted."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import orjson

from indexers.backends import _engine_admin as admin
from indexers.backends import _engine_temporary as temporary
from indexers.backends._engine_admin import Call
from indexers.backends._engine_bulk import Lines
from indexers.backends._engine_errors import Refused, refusal
from indexers.backends._engine_merge import AWAY, PATIENCE_S, POLL_S, merge
from indexers.backends._engine_sending import Bulk
from indexers.errors import BackendError, EngineUnavailable, IndexMissing
from indexers.http_request import HttpRequest, Transport
from indexers.index_types import Layout
from indexers.types import Progress, say

EXISTS = "resource_already_exists_exception"
BULK = {"filter_path": "items.*.status,items.*.error"}
GONE = 404


class Lost(EngineUnavailable):
    """The index holds other documents than were sent, after the server was away meanwhile."""


class Taken(BackendError):
    """There is an index of this name already, which is not ours."""


@dataclass(slots=True)
class Build:
    """One build.

    Attributes:
        call: administrative requests.
        send: bulk requests; they go around the official client, whose share of the time this is.
        name: of the index.
        body: settings and mapping.
        layout: how it is kept.
        timeout_s: until it must be green.
        progress: counts documents.
        patience_s: how long a server that goes away is waited for; None for the usual time.
        alias: by which alone documents are sent, made with the index and gone with it: one that
            comes after the index was removed would make it anew by its name. None for an index
            that was there before.
        owner: of a temporary index; None for an index that is not.
        uuid: of the temporary index, once it is made.
    """

    call: Call
    send: Transport
    name: str
    body: dict[str, Any]
    layout: Layout
    timeout_s: float
    progress: Progress
    patience_s: float | None = None
    alias: str | None = None
    owner: str | None = None
    uuid: str | None = field(default=None, init=False)

    def run(self, lines: Callable[[], Iterator[Lines]]) -> int:
        """Build; gives the number of documents.

        A server that died may have forgotten what it had taken, since its log of changes need not
        be on disk. Then the index is built once more from nothing.

        Args:
            lines: all documents, anew at each call.

        Raises:
            Lost: it forgot some of them once more.
            BackendError: it could not be built.
        """
        admin.check_replicas(self.call, self.layout.replicas)
        self.create()
        try:
            return self._filled(lines())
        except Lost as error:
            say(self.progress, f"indexing once more: {error}")
            self._remove()
            self.create()
            return self._filled(lines())

    @contextlib.contextmanager
    def removed_on_error(self) -> Iterator[None]:
        """Nothing of ours stays where the block ends in an error."""
        try:
            yield
        except Taken:
            raise
        except BaseException:  # Ctrl-C too
            with contextlib.suppress(Exception):  # the first error is the one to tell
                self._remove()
            raise

    def _remove(self) -> None:
        if self.owner is not None and self.uuid is not None:
            temporary.remove_made(self.call, self.name, self.owner, self.uuid)
        elif self.owner is not None:  # the answer to its making got lost: its tag tells
            temporary.remove(self.call, self.name, self.owner)
        self.uuid = None

    def create(self) -> None:
        """Make the empty index and wait until it is whole.

        Raises:
            Taken: there is one of its name.
        """
        # without waiting: what keeps its shard from starting is told by the next request
        body = self.body if self.alias is None else self.body | {"aliases": {self.alias: {}}}
        wait = {"wait_for_active_shards": "0"}
        try:
            request = HttpRequest("PUT", (self.name,), wait, orjson.dumps(body))
            self.call(request, what=f"creating {self.name}")
        except Refused as error:
            if EXISTS in str(error):
                raise Taken(str(error)) from None
            raise
        if self.owner is not None:
            there = temporary.made(self.call, self.name)
            self.uuid = there.uuid
            temporary.check_made(there, self.owner)
        admin.wait_for_green(self.call, self.name, self.timeout_s)

    def fill(self, lines: Iterator[Lines]) -> tuple[int, bool]:
        """Send documents; gives how many, and whether the server was away meanwhile."""
        bulk = Bulk(self._bulk, math.inf if self.patience_s is None else self.patience_s)
        return bulk.run(lines, self.progress), bulk.unanswered

    def settle(self) -> None:
        """Make everything searchable, in as many segments as asked for, all copies there."""
        tell = partial(say, self.progress)
        tell("refreshing")
        self._patiently(lambda: admin.refresh(self.call, self.name))
        if self.layout.segments:
            tell("merging")
            merge(self.call, self.name, self.layout.segments, tell, self.patience_s)
        tell("waiting until all shards are there")
        admin.wait_for_green(self.call, self.name, self.timeout_s)

    def _filled(self, lines: Iterator[Lines]) -> int:
        sent, unanswered = self.fill(lines)
        self.settle()
        found = admin.count(self.call, self.name)
        if found == sent:
            return sent
        told = f"{self.name} has {found} documents, and {sent} were sent"
        if unanswered:
            self.progress(-sent)
            raise Lost(f"{told}: the server was away meanwhile")
        raise BackendError(f"{told}: someone else writes to it, or removes it; run again")

    def _bulk(self, lines: bytes) -> dict[str, Any]:
        what = f"indexing into {self.name}"
        request = HttpRequest("POST", (self.name, "_bulk"), BULK, lines)
        if self.alias is not None:
            by_alias = {**BULK, "require_alias": "true"}
            request = HttpRequest("POST", (self.alias, "_bulk"), by_alias, lines)
        status, reply = self.send(request)
        if status != 200:
            raise refusal(what, status, reply)
        try:
            parsed = orjson.loads(reply)
        except ValueError:
            raise EngineUnavailable(f"{what} failed: the reply is no JSON") from None
        items = parsed.get("items", []) if isinstance(parsed, dict) else []
        if any(told.get("status") == GONE for item in items for told in item.values()):
            raise IndexMissing(f"{self.name} is gone: someone removed it while it was filled")
        return parsed if isinstance(parsed, dict) else {}

    def _patiently(self, act: Callable[[], None]) -> None:
        """Do what may be done twice, waiting for a server that is away."""
        limit_s = PATIENCE_S if self.patience_s is None else self.patience_s
        gone_by = time.monotonic() + limit_s
        while True:
            try:
                act()
                return
            except (EngineUnavailable, Refused) as error:
                passing = not isinstance(error, Refused) or error.status in AWAY
                if not passing:
                    raise
                if time.monotonic() > gone_by:
                    if isinstance(error, EngineUnavailable):
                        error.waited_s = limit_s
                    raise
            time.sleep(POLL_S)
