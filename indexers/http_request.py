"""A request to an engine, and the one place where names become part of a URL.

A server decodes each segment of a path before it reads it: `%2A` is as much a pattern to it as
`*`. Quoting alone therefore protects nothing. A plain segment names one thing: what an engine
would read as several (a pattern, a list, `_all`, date math, an exclusion) or as another path is
refused, and the rest is quoted. What is meant to name several is a `Listing`, which can only be
read. Both engines resolve names alike
(https://docs.opensearch.org/latest/api-reference/multi-index/).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import quote

from indexers.errors import BackendError

_WIDER = frozenset('\\/*?"<>|,#:%')
"""What no name of an index has, and what an engine, or a proxy before it, reads as more."""
_WORD = re.compile(r"_(?!all\Z)[a-z]+(_[a-z]+)*", re.ASCII)
"""A word of an engine's API."""
_LISTING = re.compile(r"[a-z0-9_.*,-]+", re.ASCII)
READING = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Listing:
    """A segment that names several things, such as `harness-*` or `search,merge`; for reading."""

    text: str


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request to an engine, ready to send.

    Attributes:
        method: such as `GET`.
        segments: of the path, none of them quoted; a string names exactly one thing.
        parameters: of the query string, not quoted.
        body: JSON, or lines of it.
        target: path and query string as they are sent, quoted.

    Raises:
        BackendError: a segment could mean more than one thing, or a listing is not just read.
    """

    method: str
    segments: tuple[str | Listing, ...]
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    body: bytes = b""
    target: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        path = "".join(f"/{self._quoted(segment)}" for segment in self.segments) or "/"
        query = "&".join(f"{name}={_value(text)}" for name, text in self.parameters.items())
        object.__setattr__(self, "target", f"{path}?{query}" if query else path)

    def _quoted(self, segment: str | Listing) -> str:
        if isinstance(segment, Listing):
            if self.method not in READING or not _LISTING.fullmatch(segment.text):
                raise BackendError(
                    f"{self.method} of {segment.text!r:.80} is not sent: what names several "
                    "indices is only read"
                )
            return segment.text
        if not names_one(segment):
            raise BackendError(
                f"{self.method} of {segment!r:.80} is not sent: it is not the name of one thing"
            )
        return quote(segment, safe="")


Transport: TypeAlias = Callable[[HttpRequest], tuple[int, bytes]]
"""Sends a request, gives status and body; raises OSError where no answer came."""


def names_one(segment: str) -> bool:
    """Whether a server can only read this segment as one name, or as one word of its API."""
    if segment.startswith("_"):
        return _WORD.fullmatch(segment) is not None
    return (
        segment not in ("", ".", "..")
        and segment[0] not in "-+"
        and segment.isprintable()
        and not any(letter in _WIDER or letter.isspace() for letter in segment)
    )


def _value(text: str) -> str:
    # the commas and stars of a filter_path stay readable
    return quote(text, safe="*,")
