"""Search bodies of an attached index: read as they are, or a template filled with texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexers.errors import CorpusError, SettingError

PLACE = "{{text}}"


def read_bodies(queries: Path, template: Path | None) -> tuple[bytes, ...]:
    """One search body a query, in the order of the file.

    Args:
        queries: JSONL; without a template each line is a search body, with one it is a text, or
            an object with a `text`.
        template: a JSON search body in one of whose strings `{{text}}` stands.

    Raises:
        CorpusError: the queries cannot be read; file and line are named.
        SettingError: the template cannot be used.
    """
    body = None if template is None else read_template(template)
    made = []
    for number, value in _lines(queries):
        if body is None:
            if not isinstance(value, dict):
                raise CorpusError(
                    f"{queries} line {number}: expected a search body, a JSON object; give texts "
                    "together with --body FILE"
                )
            made.append(_json(value))
        else:
            made.append(filled(body, _text(value, queries, number)))
    if not made:
        raise CorpusError(f"{queries}: holds no query; give one a line")
    return tuple(made)


def read_template(path: Path) -> dict[str, Any]:
    """A search body in one of whose strings `{{text}}` stands.

    Raises:
        SettingError: it cannot be read, or is none.
    """
    try:
        body = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingError(f"--body {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise SettingError(f"--body {path}: not JSON ({error})") from None
    if not isinstance(body, dict):
        raise SettingError(f"--body {path}: expected a search body, a JSON object")
    if _filled(body, "") == body:
        raise SettingError(f"--body {path}: {PLACE} stands in none of its strings")
    return body


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, _parsed(line, path, number)
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror or error}; give a JSONL file") from None
    except UnicodeDecodeError:
        raise CorpusError(f"{path}: not a text file; give JSONL in UTF-8") from None


def _parsed(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise CorpusError(f"{path} line {number}: not JSON ({error})") from None


def _text(value: Any, path: Path, number: int) -> str:
    text = value.get("text") if isinstance(value, dict) else value
    if not isinstance(text, str) or not text.strip():
        raise CorpusError(f"{path} line {number}: expected a text, or an object with a text")
    return text


def filled(template: dict[str, Any], text: str) -> bytes:
    """The body that asks for this text."""
    return _json(_filled(template, text))


def _filled(value: Any, text: str) -> Any:
    """The value with the text put in, as a string that JSON escapes whatever it holds."""
    if isinstance(value, str):
        return value.replace(PLACE, text)
    if isinstance(value, list):
        return [_filled(item, text) for item in value]
    if isinstance(value, dict):
        return {name: _filled(item, text) for name, item in value.items()}
    return value


def _json(body: Any) -> bytes:
    return json.dumps(body).encode()
