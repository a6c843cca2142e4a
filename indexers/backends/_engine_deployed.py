"""An engine's index in production: made from deploy files, filled by id, asked.

Unlike a temporary index it has the caches on, refreshes as usual, and its documents carry the
user's ids as `_id`, so that indexing one again replaces it. It is never removed from here, and one
that was made otherwise is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from indexers.backends import _engine_admin as admin
from indexers.backends._engine import Engine
from indexers.backends._engine_build import BULK, Build
from indexers.backends._engine_bulk import Lines, blocks
from indexers.backends._engine_errors import Refused, reason
from indexers.backends._engine_http import HttpTransport
from indexers.backends._engine_layout import fitting
from indexers.backends._engine_root import ask_version
from indexers.deployed import Deployed
from indexers.errors import BackendError, SettingError
from indexers.http_request import HttpRequest
from indexers.index_name import checked_name
from indexers.index_types import Answer, Documents, IndexHandle, IndexSpec, Queries, SearchParams
from indexers.types import I64, Progress, Status

LONGEST_ID_BYTES = 512
"""Of a document's `_id`, in both engines."""


class DeployedIndex:
    """One index of a server.

    Args:
        engine: the server.
        name: of the index.
        deployed: how its documents and queries are made.

    Raises:
        EngineUnavailable: it is away, or another server.
    """

    def __init__(self, engine: Engine, name: str, deployed: Deployed) -> None:
        try:
            self._name = checked_name(name)
        except SettingError as error:
            raise SettingError(f"index {name!r:.80}: {error}") from None
        self._engine, self._deployed = engine, deployed
        config = engine._config
        _, numbers = ask_version(engine._to, engine.flavour, config.timeout_s)
        engine._accept(numbers, deployed.spec)

    def ensure(self, body: Mapping[str, Any]) -> bool:
        """Make the index unless there is one made alike; gives whether it was made.

        Args:
            body: settings and mapping; `_meta.harness.manifest` is held against what is there.

        Raises:
            SettingError: an index of this name was made otherwise.
        """
        if (mapping := self.mapping()) is not None:
            self._check(mapping)
            return False
        request = HttpRequest("PUT", (self._name,), body=orjson.dumps(body))
        self._engine._call(request, what=f"creating {self._name}")
        return True

    def mapping(self) -> dict[str, Any] | None:
        """Its mapping; None where there is no such index."""
        try:
            request = HttpRequest("GET", (self._name, "_mapping"))
            reply = self._engine._call(request, what=f"reading {self._name}")
        except Refused as error:
            if error.status == 404:
                return None
            raise
        if len(reply) != 1:
            raise SettingError(f"{self._name} is {len(reply)} indices: name one")
        mapping: dict[str, Any] = next(iter(reply.values())).get("mappings", {})
        return mapping

    def check(self) -> None:
        """Refuse an index that is missing, or made otherwise.

        Raises:
            SettingError: it is one.
        """
        if (mapping := self.mapping()) is None:
            raise SettingError(f"there is no index {self._name}: run ingest.py first")
        self._check(mapping)

    def _check(self, mapping: Mapping[str, Any]) -> None:
        tag = mapping.get("_meta", {}).get("harness")
        manifest = tag.get("manifest") if isinstance(tag, Mapping) else None
        self._deployed.check(manifest, f"index {self._name}")

    def put(self, documents: Iterable[Documents], progress: Progress) -> tuple[int, int]:
        """Index documents, each in place of an older one of its id.

        Those that give no fingerprint, or have no text, are not indexed, and an older one of
        their id is removed.

        Args:
            documents: some at a time; nothing of them is kept. Their ids are unique: of two
                with one id, either may stay.
            progress: called with the number of documents sent.

        Returns:
            How many were indexed, and how many were not.

        Raises:
            BackendError: documents were refused; the message names the first ids.
        """
        left_out: list[int] = []
        lines = self._lines(documents, left_out)
        timeout_s = self._engine._config.timeout_s
        with _Way(self._engine) as way:
            build = Build(
                self._engine._call,
                way,
                self._name,
                {},
                self._deployed.spec.layout,
                timeout_s,
                progress,
            )
            done, _ = build.fill(lines)
        admin.refresh(self._engine._call, self._name)
        return done, sum(left_out)

    def _send(self, lines: bytes) -> dict[str, Any]:
        what = f"indexing into {self._name}"
        return self._engine._call(
            HttpRequest("POST", (self._name, "_bulk"), BULK, lines), what=what
        )

    def _lines(self, documents: Iterable[Documents], left_out: list[int]) -> Iterator[Lines]:
        spec = self._deployed.spec
        for part in documents:
            rows = usable_rows(spec, part)
            missing = sorted(set(range(len(part.ids))) - set(rows.tolist()))
            if missing:
                self._remove([part.ids[row] for row in missing])
                left_out.append(len(missing))
            for block in blocks(spec, part, rows, self._engine.dialect):
                yield with_ids(block)

    def _remove(self, ids: Sequence[str]) -> None:
        lines = (b'{"delete":{"_id":%b}}\n' % orjson.dumps(name) for name in ids)
        replies = self._send(b"".join(lines)).get("items", ())
        for name, reply in zip(ids, replies, strict=True):
            told = reply["delete"]
            if told["status"] not in (200, 404):
                raise BackendError(f"{name!r:.80} could not be removed: {reason(told['error'])}")

    def bodies(self, queries: Queries, search: SearchParams) -> list[dict[str, Any] | None]:
        """What is sent for each query, for people; None for one that cannot be asked."""
        with _Way(self._engine) as way:
            searcher = self._engine.open(self._handle(), search, queries, (), way)
            asked = _askable(self._deployed.spec, queries)
            return [orjson.loads(searcher.request(q).body) if ok else None for q, ok in asked]

    def ask(self, queries: Queries, search: SearchParams) -> Iterator[list[Answer]]:
        """The answers to each query, best first.

        Raises:
            BackendError: the engine answered with an error.
            EngineUnavailable: no answer came.
        """
        with _Way(self._engine) as way:
            searcher = self._engine.open(self._handle(), search, queries, (), way)
            for query, ok in _askable(self._deployed.spec, queries):
                yield searcher.found(*way(searcher.request(query))) if ok else []

    def _handle(self) -> IndexHandle:
        return IndexHandle(self._deployed.spec, self._name, 0, 0, 0.0)


class _Way:
    """Kept-alive connections, closed at the end of a block."""

    def __init__(self, engine: Engine) -> None:
        self._send = HttpTransport(engine._to, engine._config.timeout_s)

    def __enter__(self) -> _Way:
        return self

    def __exit__(self, *_: object) -> None:
        self._send.close()

    def __call__(self, request: HttpRequest) -> tuple[int, bytes]:
        return self._send(request)


def usable_rows(spec: IndexSpec, documents: Documents) -> I64:
    """Rows that are indexed: those with a usable fingerprint, or, for texts, with a text."""
    if spec.family is None:
        return np.array([r for r, text in enumerate(documents.texts) if text.strip()], np.int64)
    fingerprints = fitting(spec, documents.fingerprints, "the documents")
    return np.flatnonzero(fingerprints.status == Status.OK).astype(np.int64)


def _askable(spec: IndexSpec, queries: Queries) -> list[tuple[int, bool]]:
    if spec.family is None:
        return [(row, bool(text.strip())) for row, text in enumerate(queries.texts)]
    assert queries.fingerprints is not None
    return [(row, status == Status.OK) for row, status in enumerate(queries.fingerprints.status)]


def with_ids(block: Lines) -> Lines:
    """The same lines with each document's id as its `_id`.

    Raises:
        BackendError: an id is longer than an engine's.
    """
    lines = []
    for name, line in zip(block.ids, block.lines, strict=True):
        if len(name.encode()) > LONGEST_ID_BYTES:
            raise BackendError(
                f"document id {name[:40]!r}… has {len(name.encode())} bytes: allowed are "
                f"{LONGEST_ID_BYTES} of an id that can be indexed again, shorten it"
            )
        _, _, document = line.partition(b"\n")
        lines.append(b'{"index":{"_id":%b}}\n%b' % (orjson.dumps(name), document))
    return Lines(block.ids, lines)
