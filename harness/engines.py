"""The search engines by name, and where their URLs come from."""

from __future__ import annotations

from indexers.flavours import FLAVOURS

ENGINES = tuple(FLAVOURS)
"""Backends on a server: each has its URL in the setting `<name>_url`."""


def url_variable(engine: str) -> str:
    """The environment variable that may hold an engine's URL."""
    return f"HARNESS_{engine.upper()}_URL"
