"""Families, similarities and backends are found by file name: a new one is one module."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import cast

import indexers.backends
import indexers.families
import indexers.similarity
from indexers.errors import SettingError
from indexers.protocols import Backend, Family, Similarity
from indexers.types import Form


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


@cache
def similarity_names() -> tuple[str, ...]:
    """Names of all similarities, sorted."""
    return _names(list(indexers.similarity.__path__))


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


def similarity(name: str) -> Similarity:
    """The similarity of this name.

    Raises:
        SettingError: there is none.
    """
    if name not in similarity_names():
        raise SettingError(
            f"similarity {name!r} is unknown: choose from {', '.join(similarity_names())}"
        )
    found = importlib.import_module(f"indexers.similarity.{name}").SIMILARITY
    return cast(Similarity, found)


def fitting_form(family_name: str, similarity_name: str) -> Form | None:
    """The form in which a similarity compares fingerprints of a family; None: they do not fit."""
    held = family(family_name).forms
    return next((form for form in similarity(similarity_name).forms if form in held), None)
