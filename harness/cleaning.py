"""What runs that were killed left behind: temporary indices on servers, folders under reports.

An index is ours where its name and its owner tag are exactly as harness writes them
(`indexers.backends._engine_temporary`); what merely begins like one is listed and left. So is one
of ours that carries an alias or is hidden, since someone may have put it to use. A folder is ours
where it bears the mark of the study that it lies in. What a running study holds is told, and left
alone: that of a study of these reports whose lock is held, and every index of an owner of whom one
index is being searched, written or merged. So is, unless its owner is named, what may be that of a
study that runs elsewhere: a young index of an owner of whom these reports know nothing. Between two
steps a study asks nothing of its index, for as long as it waits or computes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from harness.cleaning_folders import NOT_OURS, WorkFolder
from indexers.address import Address, address_of
from indexers.backends import _engine_temporary as temporary
from indexers.backends._engine_errors import Refused, refusal
from indexers.backends._engine_http import HttpTransport
from indexers.backends._engine_root import check_let_in
from indexers.errors import BackendError, HarnessError
from indexers.http_request import HttpRequest, Listing, names_one
from indexers.index_types import BackendConfig

TIMEOUT_S = 30.0
FIGURES = HttpRequest(
    "GET",
    ("_cat", "indices", temporary.ALL),
    {
        "format": "json",
        "bytes": "b",
        "expand_wildcards": "all",
        "h": "index,docs.count,store.size",
    },
)
STATS = ("_stats", Listing("search,indexing,merge"))
COUNTED = {
    "level": "indices",
    "expand_wildcards": "open,hidden",
    "filter_path": "indices.*.total.search.query_total,indices.*.total.search.query_current"
    ",indices.*.total.search.fetch_current,indices.*.total.indexing.index_total"
    ",indices.*.total.indexing.index_current,indices.*.total.merges.current",
}
WATCHED_S = 1.0
"""How long counters are watched for changes: a study sends dozens of requests in it."""
OLD_H = 24.0
"""Age in hours from which nobody is taken to be at work on an index any more."""
GONE = "was gone already: someone else removed it meanwhile"
SHOWN_ALIASES = 3
CLOSED = 400


@dataclass(frozen=True, slots=True)
class Leftover:
    """An index that a server finds by a name that begins as those of temporary indices.

    Attributes:
        backend: whose server it is.
        server: address without credentials.
        index: name; as the server tells it, where the index is not ours.
        uuid: of the index; empty where the server tells none.
        owner: tag in its name and its mapping; None for an index that is not ours.
        created: UTC, ISO 8601; None where the server does not tell.
        documents: None where the server does not tell, as for a red index.
        size_bytes: of all copies, as stored; None as for documents.
        in_use: by what, such as the folder of a running study, or None.
        kept: why it is left alone though nothing was seen at work on it, or None.
        removed: whether it is gone by our doing, by the server's word.
    """

    backend: str
    server: str
    index: str
    uuid: str
    owner: str | None
    created: str | None
    documents: int | None
    size_bytes: int | None
    in_use: str | None = None
    removed: bool = False
    kept: str | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.index

    @property
    def free(self) -> bool:
        """Whether it may be removed."""
        return self.owner is not None and self.in_use is None and self.kept is None


class Server:
    """One engine, asked without any client, for OpenSearch and Elasticsearch answer alike."""

    def __init__(self, backend: str, config: BackendConfig) -> None:
        self.backend = backend
        self._to: Address = address_of(backend, config)

    @property
    def shown(self) -> str:
        """Its address, without credentials."""
        return self._to.shown

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is not as safe as it could be on the way to it."""
        return self._to.warnings

    @property
    def place(self) -> tuple[str, str]:
        """Backend and server, as a study notes them."""
        return self.backend, f"{self._to.host}:{self._to.port}{self._to.path}"

    def leftovers(self, owner: str | None, running: dict[str, str]) -> list[Leftover]:
        """Our temporary indices, the oldest first; then what only begins like one.

        Args:
            owner: of whom; None for everyone.
            running: owner tag -> folder of the study that runs and holds it.

        Raises:
            EngineUnavailable: no answer came.
            Refused: the server does not let us look.
        """
        there = [one for one in temporary.found(self._call) if _is_of(one, owner)]
        owned = {one.name: one.owner for one in there if one.owner is not None}
        figures = self._figures() if there else {}
        changing = self._changing(owned) if owned else set()
        active = {owned[name]: "requests right now" for name in changing}
        held = {**active, **running}
        listed = [self._leftover(one, figures.get(one.name, {}), held) for one in there]
        return sorted(listed, key=lambda one: (one.owner is None, one.created or "", one.index))

    def remove(self, one: Leftover) -> bool:
        """Remove an index, if it still is the one that was listed; False where it is gone already.

        Raises:
            BackendError: it is not ours, another one by now, carries an alias, or the server
                refuses.
            EngineUnavailable: no answer came.
        """
        if one.owner is None:
            raise BackendError(f"{shown(one.index)} is not removed: it is not ours")
        return temporary.remove(self._call, one.index, one.owner, one.uuid, _kept)

    def _figures(self) -> dict[str, dict[str, Any]]:
        """Documents and sizes by index; empty where the server does not tell of one of them."""
        with suppress(Refused):
            told = self._call(FIGURES, what="reading sizes of indices").get("rows")
            rows = told if isinstance(told, list) else []
            return {row["index"]: row for row in rows if isinstance(row, dict) and "index" in row}
        return {}

    def _changing(self, names: Collection[str]) -> set[str]:
        """Those of these indices that are searched, written or merged while we watch."""
        before = self._counts(names)
        time.sleep(WATCHED_S)
        after = self._counts(names)
        return {
            name
            for name in names
            if before.get(name) != after.get(name) or _in_flight(after.get(name))
        }

    def _counts(self, names: Collection[str]) -> dict[str, Any]:
        what = "reading counters of indices"
        try:
            return _indices(
                self._call(HttpRequest("GET", (temporary.ALL, *STATS), COUNTED), what=what)
            )
        except Refused:  # a block on one index refuses those of all
            return {name: counts for one in names for name, counts in self._counts_of(one)}

    def _counts_of(self, name: str) -> list[tuple[str, Any]]:
        request = HttpRequest("GET", (name, *STATS), COUNTED)
        try:
            return list(_indices(self._call(request, what=f"reading counters of {name}")).items())
        except Refused as error:
            # a closed one has none; of one that may not be seen anything may be true
            return [] if error.status == CLOSED else [(name, {})]

    def _leftover(
        self, one: temporary.Found, row: dict[str, Any], held: dict[str, str]
    ) -> Leftover:
        return Leftover(
            backend=self.backend,
            server=self.shown,
            index=one.name,
            uuid=one.uuid,
            owner=one.owner,
            created=None if one.created_ms is None else _date(one.created_ms),
            documents=_count(row.get("docs.count")),
            size_bytes=_count(row.get("store.size")),
            in_use=None if one.owner is None else held.get(one.owner),
            kept=_kept(one),
        )

    def _call(self, request: HttpRequest, *, what: str, timeout_s: float = 0) -> dict[str, Any]:
        """One request, as `_engine_admin.Call` says; a list is given as `rows`."""
        transport = HttpTransport(self._to, timeout_s or TIMEOUT_S)
        try:
            status, reply = transport(request)
        finally:
            transport.close()
        if request.method == "GET":  # what may be seen, may yet be read-only
            check_let_in(self._to, status, reply)
        if not 200 <= status < 300:
            raise refusal(f"{what} at {self.shown}", status, reply)
        try:
            told = orjson.loads(reply)
        except ValueError:
            raise Refused(f"{self.shown} is no search engine: it answers no JSON", status) from None
        return told if isinstance(told, dict) else {"rows": told}


def _is_of(one: temporary.Found, owner: str | None) -> bool:
    """Whether an index belongs to an owner, or would by the beginning of its name."""
    if owner is None or one.owner == owner:
        return True
    return one.owner is None and one.name.startswith(f"{temporary.PREFIX}-{owner}-")


def _kept(one: temporary.Found) -> str | None:
    """Why an index is left, whoever works on it; None for one that is ours and in nobody's use."""
    if one.problem is not None:
        return f"{NOT_OURS}: {one.problem}"
    if one.aliases:
        names = ", ".join(map(shown, one.aliases[:SHOWN_ALIASES]))
        more = f" and {rest} more" if (rest := len(one.aliases) - SHOWN_ALIASES) > 0 else ""
        return f"it carries the alias {names}{more}: it may be in use; {_by_hand(one)}"
    if one.hidden:
        return f"it is hidden, as harness makes none; {_by_hand(one)}"
    return None


def _by_hand(one: temporary.Found) -> str:
    """What removes an index that `clean` leaves."""
    whole = f"DELETE {HttpRequest('DELETE', (one.name,)).target} removes it"
    alias = one.aliases[0] if len(one.aliases) == 1 else ""
    if not names_one(alias):
        return whole
    detach = HttpRequest("DELETE", (one.name, "_alias", alias)).target
    return f"{whole}, or DELETE {detach} and this command again"


def shown(name: str) -> str:
    """A name from a server or a disk for people: whole, on one line, harmless to a terminal."""
    return name if name.isprintable() else repr(name)


def without_young(
    leftovers: Iterable[Leftover], known: Collection[str], older_than_h: float
) -> list[Leftover]:
    """All of them, those marked as kept that may be of a study that runs elsewhere.

    Args:
        leftovers: as listed.
        known: owner tags of studies that are known not to run.
        older_than_h: from which age on an index is taken to be nobody's, in hours.
    """
    now = datetime.now(UTC)
    return [
        one
        if not one.free or one.owner in known or _age_h(one, now) >= older_than_h
        else replace(
            one,
            kept=f"younger than {older_than_h:g} h and of no study in --reports: it may be at "
            f"work elsewhere; --owner {one.owner} removes it",
        )
        for one in leftovers
    ]


def _age_h(one: Leftover, now: datetime) -> float:
    if one.created is None:
        return 0.0
    # the server's clock may be ahead of ours
    return max(0.0, (now - datetime.fromisoformat(one.created)).total_seconds() / 3600)


def _indices(reply: dict[str, Any]) -> dict[str, Any]:
    found = reply.get("indices")
    return found if isinstance(found, dict) else {}


def _in_flight(counts: dict[str, Any] | None) -> bool:
    """Whether a request or a merge is going on, by the counters of an index.

    One that is closed has none; counters that are none that an engine tells are taken for work.
    """
    if counts is None:
        return False
    try:
        groups = [group.items() for group in counts["total"].values()]
    except (AttributeError, KeyError, TypeError):
        return True
    return any(value for group in groups for name, value in group if name.endswith("current"))


def remove(
    server: Server, leftovers: Iterable[Leftover], failed: Callable[[str], None]
) -> list[Leftover]:
    """Remove what is ours and nobody's work; gives all of them as they are then.

    Args:
        server: where they stand.
        leftovers: as listed.
        failed: told of each that could not be removed.
    """
    after = []
    for one in leftovers:
        if one.free:
            try:
                gone = server.remove(one)
                one = replace(one, removed=gone, kept=None if gone else GONE)
            except HarnessError as error:
                failed(str(error))
        after.append(one)
    return after


def document(leftovers: Iterable[Leftover], folders: Iterable[WorkFolder]) -> dict[str, Any]:
    """For JSON."""
    return {
        "indices": [asdict(one) for one in leftovers],
        "folders": [asdict(one) for one in folders],
    }


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,18}", value) else None


def _date(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%FT%TZ}"
