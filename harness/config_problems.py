"""What is wrong with a study's settings, in words of this tool, a line each."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

ALL = "all"
"""Key of the sizes that hold for every family not named itself."""


def problems(error: ValidationError, model: type[BaseModel], flags: Mapping[str, Any]) -> list[str]:
    """One line a problem, with the path of the setting as the user gave it."""
    lines: list[str] = []
    for entry in error.errors():
        path = ".".join(str(part) for part in entry["loc"])
        message = entry["msg"].removeprefix("Value error, ")
        if entry["type"] == "extra_forbidden":
            near = get_close_matches(path.replace("-", "_"), model.model_fields, 1)
            allowed = f"did you mean {near[0]}?" if near else ", ".join(model.model_fields)
            lines.append(f"{path}: unknown setting; {'' if near else 'known are '}{allowed}")
        elif entry["type"] == "missing":
            lines.append("sla_ms: missing; give the latency limit, such as --sla-ms 100")
        elif not path:
            lines.extend(message.split("\n"))
        else:
            name = _shown(path, flags)
            message = _expected(entry["type"], entry.get("ctx", {})) or message
            given = "" if entry["type"] == "value_error" else f", not {_short(entry['input'])}"
            told = message.split("\n")
            lines.extend(f"{name}: {line[:1].lower()}{line[1:]}{given}" for line in told)
    return lines


def _expected(kind: str, bounds: Mapping[str, Any]) -> str | None:
    """What a value should have been, in words of this tool."""
    limits = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
    for name, words in limits.items():
        if name in bounds:
            return f"expected a number {words} {bounds[name]:g}"
    return {
        "int_parsing": "expected a whole number",
        "int_type": "expected a whole number",
        "int_from_float": "expected a whole number",
        "float_parsing": "expected a number",
        "float_type": "expected a number",
        "finite_number": "expected a finite number",
        "tuple_type": "expected names separated by commas",
        "too_short": "expected at least one name",
        "string_too_short": "expected a name",
        "string_type": "expected a text",
        "path_type": "expected the path of a folder",
        "bool_type": "expected true or false",
        "bool_parsing": "expected true or false",
    }.get(kind)


def _shown(path: str, flags: Mapping[str, Any]) -> str:
    head, _, rest = path.partition(".")
    name = f"--{head.replace('_', '-')}" if flags.get(head) not in (None, ()) else head
    # a place in a list tells nothing that the value does not tell
    place = re.sub(r"(^|\.)\d+$", "", rest.removeprefix(f"{ALL}."))
    return f"{name} ({place})" if place else name


def _short(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
