"""What runs that were killed left behind: temporary indices on servers, folders under reports.

An index is ours where its name is one of a temporary index and its mapping carries the same
owner tag. A folder is ours where it lies in that of a study. What a running study holds is told,
and left alone: that of a study of these reports whose lock is held, and every index of an owner
of whom one index is being searched, written or merged. So is, unless its owner is named, what may
be that of a study that runs elsewhere: a young index of an owner of whom these reports know
nothing. Between two steps a study asks nothing of its index, for as long as it waits or computes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from harness.cleaning_folders import WorkFolder
from indexers.address import Address, address_of
from indexers.backends import _engine_admin as admin
from indexers.backends._engine_errors import Refused, refusal
from indexers.backends._engine_http import HttpTransport
from indexers.backends._engine_root import check_let_in
from indexers.errors import HarnessError
from indexers.index_types import BackendConfig, HttpRequest

TIMEOUT_S = 30.0
TAGS = f"/{admin.PREFIX}-*/{admin.META_PATH}"
FIGURES = (
    f"/_cat/indices/{admin.PREFIX}-*?format=json&bytes=b&expand_wildcards=all"
    "&h=index,docs.count,store.size,creation.date"
)
COUNTS = (
    f"/{admin.PREFIX}-*/_stats/search,indexing,merge?level=indices&expand_wildcards=open,hidden"
    "&filter_path=indices.*.total.search.query_total,indices.*.total.search.query_current"
    ",indices.*.total.search.fetch_current,indices.*.total.indexing.index_total"
    ",indices.*.total.indexing.index_current,indices.*.total.merges.current"
)
WATCHED_S = 1.0
"""How long counters are watched for changes: a study sends dozens of requests in it."""
OLD_H = 24.0
"""Age in hours from which nobody is taken to be at work on an index any more."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A temporary index that stands on a server.

    Attributes:
        backend: whose server it is.
        server: address without credentials.
        index: name.
        owner: tag in its mapping.
        created: UTC, ISO 8601; None where the server does not tell.
        documents: None where the server does not tell, as for a red index.
        size_bytes: of all copies, as stored; None as for documents.
        in_use: by what, such as the folder of a running study, or None.
        kept: why it is left alone though nothing was seen at work on it, or None.
        removed: whether it has been removed.
    """

    backend: str
    server: str
    index: str
    owner: str
    created: str | None
    documents: int | None
    size_bytes: int | None
    in_use: str | None = None
    removed: bool = False
    kept: str | None = None

    @property
    def free(self) -> bool:
        """Whether it may be removed."""
        return self.in_use is None and self.kept is None


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
        """Our temporary indices, the oldest first.

        Args:
            owner: of whom; None for everyone.
            running: owner tag -> folder of the study that runs and holds it.

        Raises:
            EngineUnavailable: no answer came.
            Refused: the server does not let us look.
        """
        reply = self._call("GET", TAGS, what="looking for indices")
        tags = {name: entry["mappings"]["_meta"]["harness"] for name, entry in reply.items()}
        owned = {
            name: str(tag["owner"])
            for name, tag in tags.items()
            if isinstance(tag, dict) and admin.is_ours(name, str(tag.get("owner")))
        }
        owned = {name: whose for name, whose in owned.items() if owner in (None, whose)}
        figures = self._figures() if owned else {}
        changing = self._changing() if owned else set()
        active = {owned[name]: "requests right now" for name in changing if name in owned}
        found = [
            self._leftover(name, whose, figures.get(name, {}), {**active, **running}.get(whose))
            for name, whose in owned.items()
        ]
        return sorted(found, key=lambda one: (one.created or "", one.index))

    def remove(self, one: Leftover) -> None:
        """Remove an index, if it still is the one that was listed.

        Raises:
            BackendError: it does not carry its tag any more, or the server refuses.
            EngineUnavailable: no answer came.
        """
        admin.drop(self._call, one.index, one.owner)

    def _figures(self) -> dict[str, dict[str, Any]]:
        rows = self._call("GET", FIGURES, what="reading sizes of indices")
        return {row["index"]: row for row in rows.get("rows", ())}

    def _changing(self) -> set[str]:
        """Names of our indices that are searched, written or merged while we watch."""
        before = self._call("GET", COUNTS, what="reading counters of indices")
        time.sleep(WATCHED_S if before else 0)
        after = self._call("GET", COUNTS, what="reading counters of indices")
        first, then = before.get("indices", {}), after.get("indices", {})
        return {
            name
            for name, counts in then.items()
            if counts != first.get(name) or _in_flight(counts) or _in_flight(first[name])
        }

    def _leftover(self, name: str, owner: str, row: dict[str, Any], in_use: str | None) -> Leftover:
        created = row.get("creation.date")
        return Leftover(
            backend=self.backend,
            server=self.shown,
            index=name,
            owner=owner,
            created=None if created is None else _date(int(created)),
            documents=_count(row.get("docs.count")),
            size_bytes=_count(row.get("store.size")),
            in_use=in_use,
        )

    def _call(
        self, method: str, path: str, body: object = None, *, what: str, timeout_s: float = 0
    ) -> dict[str, Any]:
        """One request, as `admin.Call` says; a list is given as `rows`."""
        transport = HttpTransport(self._to, timeout_s or TIMEOUT_S)
        try:
            sent = b"" if body is None else orjson.dumps(body)
            status, reply = transport(HttpRequest(method, path, sent))
        finally:
            transport.close()
        if method == "GET":  # what may be seen, may yet be read-only
            check_let_in(self._to, status, reply)
        if not 200 <= status < 300:
            raise refusal(f"{what} at {self.shown}", status, reply)
        try:
            told = orjson.loads(reply)
        except ValueError:
            raise Refused(f"{self.shown} is no search engine: it answers no JSON", status) from None
        return told if isinstance(told, dict) else {"rows": told}


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
        if one.owner in known or _age_h(one, now) >= older_than_h
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
    return (now - datetime.fromisoformat(one.created)).total_seconds() / 3600


def _in_flight(counts: dict[str, Any]) -> bool:
    """Whether a request or a merge is going on, by the counters of an index."""
    return any(
        value
        for group in counts["total"].values()
        for name, value in group.items()
        if name.endswith("current")
    )


def remove(
    server: Server, leftovers: Iterable[Leftover], failed: Callable[[str], None]
) -> list[Leftover]:
    """Remove what no running study holds; gives all of them as they are then.

    Args:
        server: where they stand.
        leftovers: as listed.
        failed: told of each that could not be removed.
    """
    after = []
    for one in leftovers:
        if one.free:
            try:
                server.remove(one)
                one = replace(one, removed=True)
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
    return None if value is None else int(str(value))


def _date(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%FT%TZ}"
