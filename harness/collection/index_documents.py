"""What is read of an index, and its documents written to a file as they come."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from harness.collection import cache, digest
from harness.collection.index_fields import attribute_of, id_of, text_of
from harness.collection.lines import brief
from harness.collection.repeats import Repeats, repeated
from indexers.errors import CorpusError

DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is read of an index.

    Attributes:
        engine: name of the engine.
        server: host, port and path, without credentials.
        index: its name, or an alias.
        fields: joined into a document's text.
        id_field: that holds the id; None for `_id`.
        attributes: fields that answers are filtered by.
    """

    engine: str
    server: str
    index: str
    fields: tuple[str, ...]
    id_field: str | None = None
    attributes: tuple[str, ...] = ()

    @property
    def read(self) -> tuple[str, ...]:
        """All fields that are fetched."""
        ids = () if self.id_field is None else (self.id_field,)
        return tuple(dict.fromkeys((*self.fields, *ids, *self.attributes)))

    @property
    def folder(self) -> Path:
        """Where it is kept.

        Raises:
            CorpusError: there is no folder for a cache.
        """
        root = cache.folder()
        if root is None:
            raise CorpusError(
                "the texts of an index are kept in a cache folder, and there is none: set "
                "XDG_CACHE_HOME to a folder"
            )
        which = (self.engine, self.server, self.index, self.id_field or "")
        key = digest.of_text(*which, str(len(self.fields)), *self.fields, *self.attributes)
        return root / "indices" / key


class Writer:
    """Documents into a file, and what must be known of all of them."""

    def __init__(self, wanted: Wanted, out: BinaryIO) -> None:
        self._wanted, self._out = wanted, out
        self.count = self.without_id = 0
        self._sum = 0
        self._found: set[str] = set()
        self._texts = False
        self._ids = Repeats()

    def add(self, page: list[dict[str, Any]]) -> None:
        """Write a page."""
        for hit in page:
            source = hit.get("_source") or {}
            where = f"index {self._wanted.index} document {brief(hit['_id'])}"
            name: str | None = hit["_id"]
            if self._wanted.id_field is not None:
                name = id_of(source, self._wanted.id_field, where)
            text = text_of(source, self._wanted.fields, self._found, where)
            if name is None:
                self.without_id += 1
                continue
            self._texts = self._texts or bool(text.strip())
            held = {one: attribute_of(source, one) for one in self._wanted.attributes}
            self._found.update(one for one, value in held.items() if value is not None)
            line = orjson.dumps({**held, "_id": name, "text": text}) + b"\n"
            self._out.write(line)
            self.count += 1
            self._ids.add(name)
            # a sum does not depend on the order in which slices come
            self._sum += int.from_bytes(hashlib.blake2b(line, digest_size=DIGEST_BYTES).digest())

    @property
    def content(self) -> str:
        """As `Snapshot.content`."""
        return digest.of_text(str(self.count), f"{self._sum % 2 ** (8 * DIGEST_BYTES):x}")

    def check(self, path: Path) -> None:
        """Refuse what is no corpus.

        Raises:
            CorpusError: see `keep`.
        """
        index, wanted = f"index {self._wanted.index}", self._wanted
        if not self.count and self.without_id:
            raise CorpusError(
                f"{index}: none of its {self.without_id:,} documents has a value in "
                f"{brief(wanted.id_field)}; choose another --id-field, or leave it out for _id"
            )
        if not self.count:
            raise CorpusError(f"{index}: holds no documents; index some, or name another")
        for name in wanted.fields:
            if name not in self._found:
                raise CorpusError(
                    f"{index}: no document has a value in {brief(name)}; choose another "
                    "--text-field"
                )
        for name in wanted.attributes:
            if name not in self._found:
                raise CorpusError(
                    f"{index}: no document has a value in {brief(name)}; choose another --filter"
                )
        if not self._texts:
            raise CorpusError(
                f"{index}: every document's text is empty; choose another --text-field"
            )
        twice = next(self._twice(path), None)
        if twice is not None:
            raise CorpusError(
                f"{index}: id {brief(twice)} is given twice; ids must be unique: choose another "
                "--id-field, or leave it out for _id"
            )

    def _twice(self, path: Path) -> Iterator[str]:
        """Ids that several documents have."""
        doubtful = self._ids.doubtful()
        if not doubtful:
            return
        with path.open("rb") as lines:
            named = ((row, orjson.loads(line)["_id"]) for row, line in enumerate(lines))
            for _, name, _ in repeated(named, doubtful):
                yield name
