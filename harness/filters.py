"""Filters as people write them, and as settings hold them.

Asked for is `FIELD=VALUE`, `FIELD=LOW..HIGH` with one end open if wished, `FIELD=SHARE%`, or
`none`. A setting holds what that comes to in one corpus: `FIELD=LOW..HIGH` for numbers, also for
one number, and `FIELD=VALUE` for texts, quoted as JSON where it could be read otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from indexers.errors import SettingError
from indexers.filters import attribute_of
from indexers.index_types import Filter

NONE = "none"
"""Asks for the rows without a filter."""
LONGEST_VALUE = 1000
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})?\s*\.\.\s*({_NUMBER})?")
_SHARE = re.compile(rf"({_NUMBER})\s*%")
_ALLOWED = "FIELD=VALUE, FIELD=LOW..HIGH, FIELD=SHARE% or none"
_SLUG_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """A filter as it was written; what a value is, its field's type decides.

    Attributes:
        field: name of the attribute.
        value: what stands after the sign, quotes taken off.
        quoted: it stood in quotes, and is a text.
    """

    field: str
    value: str
    quoted: bool

    @property
    def range(self) -> tuple[float | None, float | None] | None:
        """Both ends, if it is a range or a number; None where it is neither."""
        if self.quoted:
            return None
        if re.fullmatch(_NUMBER, self.value):
            return float(self.value), float(self.value)
        found = _RANGE.fullmatch(self.value)
        if found is None:
            return None
        low, high = (None if end is None else float(end) for end in found.groups())
        return low, high

    @property
    def share(self) -> float | None:
        """In (0, 1], if it is one."""
        found = None if self.quoted else _SHARE.fullmatch(self.value)
        return None if found is None else float(found[1]) / 100


def asked(text: str) -> Asked | None:
    """A filter taken apart; None for `none`.

    Raises:
        SettingError: it is not understood.
    """
    if text.strip() == NONE:
        return None
    field, sign, value = text.partition("=")
    field, value = field.strip(), value.strip()
    if not (field and sign and value):
        raise SettingError(f"filter {text!r:.80} is not understood: allowed is {_ALLOWED}")
    quoted = value.startswith('"')
    if quoted:
        value = _unquoted(text, value)
    found = Asked(field, value, quoted)
    problem = _problem(found)
    if problem:
        raise SettingError(f"filter {text!r:.80}: {problem}")
    return found


def _unquoted(text: str, value: str) -> str:
    try:
        found = json.loads(value)
    except ValueError:
        found = None
    if not isinstance(found, str) or not found:
        raise SettingError(
            f'filter {text!r:.80}: the quotes are not understood; write FIELD="VALUE", a \\ before '
            "quotes within"
        )
    return found


def _problem(found: Asked) -> str | None:
    if len(found.value) > LONGEST_VALUE:
        return f"a value of more than {LONGEST_VALUE} characters is not filtered by"
    if found.share is not None and not 0 < found.share <= 1:
        return "a share lies above 0 and is at most 100%"
    if found.range is None:
        return None
    low, high = found.range
    if low is None and high is None:
        return "a range has at least one end, as in 10.. or ..50"
    if low is not None and high is not None and low > high:
        return "the low end is above the high end; swap them"
    return None


def fields_of(texts: Iterable[str]) -> tuple[str, ...]:
    """The fields that these filters read, each once, in their order.

    Raises:
        SettingError: one is not understood.
    """
    found = (asked(text) for text in texts)
    return tuple(dict.fromkeys(one.field for one in found if one is not None))


def text_of(wanted: Filter) -> str:
    """The filter as a setting holds it."""
    if isinstance(wanted.value, str):
        return f"{wanted.field}={_told(wanted.value)}"
    low, high = wanted.low, wanted.high
    if wanted.value is not None:
        low = high = wanted.value
    ends = ("" if end is None else _number(end) for end in (low, high))
    return f"{wanted.field}={'..'.join(ends)}"


def filter_of(text: str | None) -> Filter | None:
    """The filter of a setting; None where it has none.

    Raises:
        SettingError: it is not understood, or is a share, which only a corpus turns into a range.
    """
    found = None if text is None else asked(text)
    if found is None:
        return None
    if found.share is not None:
        raise SettingError(f"filter {text!r:.80} is a share: a corpus must tell its range first")
    if found.range is None:
        return Filter(found.field, found.value)
    return Filter(found.field, None, *found.range)


def filters_of(texts: Iterable[str]) -> tuple[str | None, ...]:
    """What settings hold of these filters, each once, in their order; None for no filter."""
    every = dict.fromkeys(None if text == NONE else text for text in texts)
    return tuple(every) or (None,)


def attributes_of(texts: Iterable[str | None]) -> tuple[tuple[str, str], ...]:
    """The attributes that an index must hold for all filters of these settings, sorted."""
    found = (filter_of(text) for text in texts)
    return tuple(sorted({attribute_of(one) for one in found if one is not None}))


def slug(text: str) -> str:
    """A part of a file name for this filter: `price-10-50-1f2e3d`."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_SLUG_LENGTH].rstrip("-")
    return f"{plain}-{blake2b(text.encode(errors='surrogatepass'), digest_size=3).hexdigest()}"


def _told(value: str) -> str:
    found = Asked("", value, quoted=False)
    plain = found.range is None and found.share is None and value == value.strip()
    if plain and value.isprintable() and not value.startswith('"'):
        return value
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
