"""Texts and ids out of an index: which fields of its mapping hold them, and their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.collection.lines import brief
from indexers.errors import CorpusError

TEXT_TYPES = (
    "text",
    "match_only_text",
    "keyword",
    "wildcard",
    "search_as_you_type",
    "annotated_text",
    "semantic_text",
)
_MOST_TOLD = 20


def check_fields(index: str, mapping: Mapping[str, Any], fields: Sequence[str]) -> None:
    """Refuse fields that hold no texts, before anything is read.

    Args:
        index: for messages.
        mapping: the value of `mappings`.
        fields: dotted paths.

    Raises:
        CorpusError: the index keeps no `_source`, or a field is missing or of another type.
    """
    if mapping.get("_source", {}).get("enabled") is False:
        raise CorpusError(
            f"index {index}: keeps no _source, so that its texts cannot be read: give the "
            "documents with --corpus, and measure the index with --attach"
        )
    for field in fields:
        what = _unfit(mapping, field)
        if what is not None:
            held = sorted(_texts(mapping.get("properties", {})))
            there = ", ".join(held[:_MOST_TOLD]) or "none of texts"
            raise CorpusError(
                f"index {index}: field {brief(field)} {what}; choose with --text-field from: "
                f"{there}"
            )


def _unfit(mapping: Mapping[str, Any], field: str) -> str | None:
    """Why texts cannot be read from a field, or None."""
    node: Mapping[str, Any] = mapping
    parts = field.split(".")
    for number, part in enumerate(parts):
        if number and part in node.get("fields", {}):
            parent = ".".join(parts[:number])
            return f"is a way to index {parent} and holds nothing itself: name {parent}"
        held = node.get("properties", {})
        if part not in held:
            # what is not mapped may be stored all the same
            unmapped = node.get("dynamic") in (False, "false") or node.get("enabled") is False
            return None if unmapped else "is not in its mapping"
        node = held[part]
    kind = node.get("type", "object")
    if kind == "alias":
        return f"is an alias: name {node.get('path')}"
    if kind in ("object", "nested"):
        return f"is of type {kind}: name one of its fields, such as {field}.text"
    return None if kind in TEXT_TYPES else f"is of type {kind}, not text"


def _texts(properties: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, node in properties.items():
        if node.get("type") in TEXT_TYPES:
            yield prefix + name
        yield from _texts(node.get("properties", {}), f"{prefix}{name}.")


def text_of(source: Mapping[str, Any], fields: Sequence[str], found: set[str], where: str) -> str:
    """A document's fields joined by one space, as those of a file are.

    Values in lists, and in lists of objects on the way, are joined by one space too. Numbers are
    taken as the engine indexes them, as texts.

    Args:
        source: its `_source`.
        fields: dotted paths.
        found: fields that some document has; added to.
        where: the document, for messages.

    Raises:
        CorpusError: a value is no text.
    """
    parts = []
    for field in fields:
        values = [value for value in _values(source, field) if value is not None]
        if not values:
            continue
        found.add(field)
        for value in values:
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                raise CorpusError(
                    f"{where}: field {brief(field)} holds {brief(value)}, which is no text: mend "
                    "the document or choose another --text-field"
                )
        text = " ".join(map(str, values))
        if text:
            parts.append(text)
    return " ".join(parts)


def attribute_of(source: Mapping[str, Any], field: str) -> object:
    """What a filter looks at: one value, a list of several, or None."""
    values = [value for value in _values(source, field) if value is not None]
    return values if len(values) > 1 else next(iter(values), None)


def id_of(source: Mapping[str, Any], field: str, where: str) -> str | None:
    """A document's id in its own field; None where it has none.

    Raises:
        CorpusError: it is neither a text nor a whole number.
    """
    values = [value for value in _values(source, field) if value is not None]
    if not values:
        return None
    if len(values) > 1 or isinstance(values[0], bool) or not isinstance(values[0], str | int):
        held = values[0] if len(values) == 1 else values
        raise CorpusError(
            f"{where}: field {brief(field)} holds {brief(held)}, which is no id: it must be one "
            "text or whole number; choose another --id-field"
        )
    return str(values[0]) if str(values[0]).strip() else None


def _values(node: object, path: str) -> Iterator[Any]:
    """Values at a dotted path, through lists; a key that holds the dots itself goes first."""
    if isinstance(node, list):
        for part in node:
            yield from _values(part, path)
    elif not path:
        yield node
    elif isinstance(node, dict):
        if path in node:
            yield from _values(node[path], "")
            return
        for cut in (i for i, sign in enumerate(path) if sign == "."):
            if path[:cut] in node:
                yield from _values(node[path[:cut]], path[cut + 1 :])
