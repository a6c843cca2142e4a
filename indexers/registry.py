"""Families and backends are found by file name: a new one is one module."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import cast

import indexers.backends
import indexers.families
from indexers.errors import SettingError
from indexers.types import Backend, Family


def _names(path: list[str]) -> tuple[str, ...]:
    found = (m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_"))
    return tuple(sorted(found))


@cache
def family_names() -> tuple[str, ...]:
    """Names of all families, sorted."""
    return _names(list(indexers.families.__path__))


@cache
def backend_names() -> tuple[str, ...]:
    """Names of all backends, sorted."""
    return _names(list(indexers.backends.__path__))


def family(name: str) -> Family:
    """The family of this name.

    Raises:
        SettingError: there is none.
    """
    if name not in family_names():
        raise SettingError(f"family {name!r} is unknown: choose from {', '.join(family_names())}")
    return cast(Family, importlib.import_module(f"indexers.families.{name}").FAMILY)


def backend(name: str) -> type[Backend]:
    """The backend class of this name.

    Raises:
        SettingError: there is none.
    """
    if name not in backend_names():
        raise SettingError(f"backend {name!r} is unknown: choose from {', '.join(backend_names())}")
    return cast("type[Backend]", importlib.import_module(f"indexers.backends.{name}").BACKEND)
