"""Documents and queries from JSON lines: one object a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as field_of
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from harness.collection.attributes import Columns
from harness.collection.lines import brief, numbered, shown
from indexers.errors import CorpusError
from indexers.filters import Value
from indexers.types import Progress, no_progress

DEFAULT_FIELDS = ("title", "text")

_BLOCK = 4096
_LOOK_RECORDS = 1000
_NESTED_FIELDS = 4
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class TextTable:
    """Ids and texts in the order of the file.

    Attributes:
        ids: unique, not empty.
        texts: one each; may be empty.
        same_as: id of the document that the record says it is (`metadata.paper_id`), or None.
        attributes: field -> its values; only fields that were asked for.
    """

    ids: list[str]
    texts: list[str]
    same_as: list[str | None]
    attributes: Mapping[str, Sequence[Value]] = field_of(default_factory=dict)


def documents(
    path: Path,
    fields: Sequence[str] | None = None,
    progress: Progress = no_progress,
    attributes: Sequence[str] = (),
) -> TextTable:
    """All documents with their fields joined by one space, missing and null ones left out.

    Args:
        path: JSON lines, plain or gzip; each object has an `_id` or `id`.
        fields: top-level names or dotted paths (`metadata.brand`) of strings, numbers or lists
            of strings; None for whichever of title and text there are.
        progress: called with the number of documents read since the last call.
        attributes: fields to read beside the text, named as `fields` are.

    Raises:
        CorpusError: a line, id or value cannot be used (line named), an id is given twice, a
            field is in no document, or there are no documents.
    """
    wanted = DEFAULT_FIELDS if fields is None else tuple(fields)
    found: set[str] = set()
    table, columns = _Reader(path), Columns(attributes)
    for number, record in objects(path):
        table.add(number, record, _joined(path, number, record, wanted, found))
        if attributes:
            columns.add(partial(value_of, record), partial(_fault, path, number))
        if len(table.ids) % _BLOCK == 0:
            progress(_BLOCK)
    progress(len(table.ids) % _BLOCK)
    if not table.ids:
        raise CorpusError(f"{shown(path)}: holds no documents; give one JSON object a line")
    _check_fields(path, fields, found)
    if missing := columns.unknown():
        there = ", ".join(_usable_fields(path, attributes=True)) or "none that a filter can read"
        raise CorpusError(
            f"{shown(path)}: no document has the field {', '.join(missing)}; choose with --filter "
            f"from: {there}"
        )
    return replace(table.done(), attributes=columns.columns)


def stream(
    path: Path, fields: Sequence[str] | None = None
) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    """Line, id, text and whole record of one document after another, as `documents` reads them.

    Nothing is kept of them, so that an id given twice is not noticed.

    Raises:
        CorpusError: as `documents`, except for that; a field that is in none is told at the end.
    """
    wanted = DEFAULT_FIELDS if fields is None else tuple(fields)
    found: set[str] = set()
    for number, record in objects(path):
        text = _joined(path, number, record, wanted, found)
        yield number, _identifier(path, number, record), text, record
    _check_fields(path, fields, found)


def queries(path: Path) -> TextTable:
    """All queries: `_id` or `id`, and `text`.

    Raises:
        CorpusError: a line, id or text cannot be used (line named), an id is given twice, or
            there are no queries.
    """
    table = _Reader(path)
    for number, record in objects(path):
        text = record.get("text")
        if not isinstance(text, str):
            what = "has no text" if "text" not in record else f"text is {_kind(text)}"
            raise _fault(path, number, what, 'a query needs "text", a string')
        table.add(number, record, text)
    if not table.ids:
        raise CorpusError(f"{shown(path)}: holds no queries; give one JSON object a line")
    return table.done()


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every JSON object with the number of its line; blank lines are skipped.

    Raises:
        CorpusError: the file cannot be read, or a line is not a JSON object.
    """
    for number, line in numbered(path, CorpusError):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as fault:
            raise _malformed(path, number, line, fault) from fault
        if not isinstance(record, dict):
            remedy = "each line must be one JSON object such as " + '{"_id": "1", "text": "…"}'
            raise _fault(path, number, f"is {_kind(record)}", remedy)
        yield number, record


class _Reader:
    """Collects records and refuses a second one with the same id."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line_of: dict[str, int] = {}
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.same_as: list[str | None] = []

    def add(self, number: int, record: dict[str, Any], text: str) -> None:
        name = _identifier(self.path, number, record)
        first = self.line_of.setdefault(name, number)
        if first != number:
            what = f"id {brief(name)} is given twice, first in line {first}"
            raise _fault(self.path, number, what, "ids must be unique: remove one of the two")
        self.ids.append(name)
        self.texts.append(text)
        self.same_as.append(_named_document(record))

    def done(self) -> TextTable:
        return TextTable(self.ids, self.texts, self.same_as)


def _identifier(path: Path, number: int, record: dict[str, Any]) -> str:
    key = "_id" if "_id" in record else "id"
    value = record.get(key)
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if key not in record:
        what = "has no id"
    elif isinstance(value, str):
        what = f'"{key}" is empty'
    else:
        what = f'"{key}" is {_kind(value)}: {brief(value)}'
    raise _fault(path, number, what, 'every line needs "_id" or "id", a string or an integer')


def _named_document(record: dict[str, Any]) -> str | None:
    metadata = record.get("metadata")
    value = metadata.get("paper_id") if isinstance(metadata, dict) else None
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value)


def _joined(
    path: Path, number: int, record: dict[str, Any], fields: Sequence[str], found: set[str]
) -> str:
    parts = []
    for field in fields:
        value = value_of(record, field)
        if value is None:
            continue
        found.add(field)
        text = _text(value, field)
        if text is None:
            only = "a string" if field in DEFAULT_FIELDS else "a string, number or list of strings"
            what = f"field {brief(field)} is {_kind(value)}"
            raise _fault(path, number, what, f"it must be {only}: mend it or choose --fields")
        if text:
            parts.append(text)
    return " ".join(parts)


def value_of(record: dict[str, Any], field: str) -> object:
    """The value at a dotted path; a key that holds the dots itself goes first."""
    if field in record:
        return record[field]
    value: object = record
    for part in field.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def _text(value: object, field: str) -> str | None:
    """The value as text, or None. Title and text are prose: a number there is a mistake."""
    if isinstance(value, str):
        return value
    if field in DEFAULT_FIELDS or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    return None


def _check_fields(path: Path, fields: Sequence[str] | None, found: set[str]) -> None:
    missing = [field for field in fields or () if field not in found]
    if found and not missing:
        return
    lacking = ", ".join(missing or DEFAULT_FIELDS)
    there = ", ".join(_usable_fields(path)) or "none that holds text"
    raise CorpusError(
        f"{shown(path)}: no document has the field {lacking}; choose with --fields from: {there}"
    )


def _usable_fields(path: Path, *, attributes: bool = False) -> list[str]:
    """Names that could be chosen, from the first documents, most common first."""
    counts: dict[str, int] = {}
    for _, record in islice(objects(path), _LOOK_RECORDS):
        for name in _names(record, attributes=attributes):
            if name not in ("_id", "id"):
                counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:20]


def _names(record: dict[str, Any], prefix: str = "", *, attributes: bool) -> Iterator[str]:
    for key, value in record.items():
        if isinstance(value, dict) and prefix.count(".") < _NESTED_FIELDS:
            yield from _names(value, f"{prefix}{key}.", attributes=attributes)
        elif attributes:
            if isinstance(value, str | int | float) and prefix + key not in DEFAULT_FIELDS:
                yield prefix + key
        elif value is not None and _text(value, prefix + key) is not None:
            yield prefix + key


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "something else")


def _fault(path: Path, number: int, what: str, remedy: str) -> CorpusError:
    return CorpusError(f"{shown(path)} line {number}: {what}; {remedy}")


def _malformed(path: Path, number: int, line: bytes, fault: orjson.JSONDecodeError) -> CorpusError:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as bad:
        what = f"byte {bad.start + 1} is not UTF-8"
        return _fault(path, number, what, "save the file as UTF-8")
    what = f"is not valid JSON ({fault.msg}, column {fault.colno})"
    return _fault(path, number, what, "each line must be one whole JSON object: mend or remove it")
