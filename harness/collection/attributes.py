"""Attributes of documents, by which answers are filtered: one column a field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from harness.collection.lines import brief
from indexers.filters import DOUBLE, KEYWORD, Value

Fault: TypeAlias = Callable[[str, str], Exception]
"""Makes the error of a record from what is wrong and what to do."""

_TYPES: dict[str, type] = {KEYWORD: str, DOUBLE: float}
_REMEDY = "a filter needs a string, a number, or true or false, alike in all documents: mend it"


class Columns:
    """The values of some fields, record by record; a text that returns is held once.

    Attributes:
        columns: field -> a value a record; None where it has none.

    Args:
        fields: that are read.
        held_as: field -> `keyword` or `double`, of those that an index holds already; others
            are as in the first record that has one.
    """

    def __init__(self, fields: Iterable[str], held_as: Mapping[str, str] | None = None) -> None:
        self.columns: dict[str, list[Value]] = {field: [] for field in fields}
        self._held_as = dict(held_as or {})
        self._types = {field: _TYPES[name] for field, name in self._held_as.items()}
        self._texts: dict[str, str] = {}

    def add(self, look_up: Callable[[str], object], fault: Fault) -> None:
        """Add a record.

        Args:
            look_up: field -> its value in the record; None where it has none.
            fault: raised where a value cannot be filtered by.
        """
        for field, column in self.columns.items():
            value = look_up(field)
            column.append(None if value is None else self._value(field, value, fault))

    def _value(self, field: str, value: object, fault: Fault) -> Value:
        found: str | float
        if isinstance(value, bool):
            found = "true" if value else "false"
        elif isinstance(value, str):
            found = self._texts.setdefault(value, value)
        elif isinstance(value, int | float):
            found = float(value)
        else:
            raise fault(f"field {brief(field)} is {_plural(value)}: {brief(value)}", _REMEDY)
        held = self._types.setdefault(field, type(found))
        if held is not type(found):
            here, before = ("a text", "numbers") if held is float else ("a number", "texts")
            where = "in the index" if field in self._held_as else "in lines above"
            what = f"field {brief(field)} is {here}, {brief(value)}, and {before} {where}"
            raise fault(what, _REMEDY)
        return found

    def taken(self) -> dict[str, list[Value]]:
        """The columns so far, which begin anew; types are kept."""
        found = self.columns
        self.columns = {field: [] for field in found}
        self._texts.clear()
        return found

    def unknown(self) -> list[str]:
        """Fields that no record has."""
        return [field for field in self.columns if field not in self._types]


def _plural(value: Any) -> str:
    return "a list" if isinstance(value, list) else "an object"


def taken(
    columns: Mapping[str, Sequence[Value]], rows: Sequence[int]
) -> dict[str, Sequence[Value]]:
    """The columns with these rows, in that order."""
    return {field: [column[row] for row in rows] for field, column in columns.items()}
