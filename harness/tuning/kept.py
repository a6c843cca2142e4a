"""A study's configuration in its own file, so that it can be taken up again by its folder alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.config import StudyConfig
from harness.tuning.store import Store
from indexers.address import address
from indexers.errors import SettingError

FACT = "configuration"
_PLACES = ("corpus", "vectors", "query_vectors", "model")
"""Settings that may name files; what is relative belongs to the folder tune was called in."""
_SECRET = re.compile(r"key|password|secret|token")


def keep_config(store: Store, config: StudyConfig) -> None:
    """Store the configuration, credentials left out."""
    values = {
        name: _without_credentials(value)
        for name, value in config.model_dump(mode="json", exclude={"out"}).items()
        if not _SECRET.search(name) or name.endswith("_file")
    }
    store.put_meta(FACT, {"folder": str(Path.cwd()), "values": values})


def kept_config(store: Store, folder: Path, urls: Mapping[str, str]) -> StudyConfig:
    """The configuration of the study in this folder.

    Args:
        store: the study.
        folder: becomes the configuration's `out`.
        urls: setting, such as `opensearch_url` -> URL, which may hold credentials; it takes the
            place of the stored one where both name one server.

    Raises:
        SettingError: none was stored, or this version does not understand it.
    """
    kept = store.meta(FACT)
    if kept is None:
        raise SettingError(
            f"study {folder} holds no configuration: give its `harness tune` command once more, "
            "which measures only what is missing, then this one"
        )
    values: dict[str, Any] = {**kept["values"], "out": folder}
    for name in _PLACES:
        values[name] = _found(values.get(name), Path(kept["folder"]))
    for name, url in urls.items():
        if same_server(values.get(name), url):
            values[name] = url
    try:
        return StudyConfig.model_validate(values)
    except ValidationError as error:
        names = ", ".join(sorted({".".join(map(str, e["loc"])) or "it" for e in error.errors()}))
        raise SettingError(
            f"study {folder}: its configuration is not understood ({names}): give its "
            "`harness tune` command once more"
        ) from None


def same_server(one: str | None, other: str | None) -> bool:
    """Whether two URLs lead to one place, credentials apart.

    Raises:
        SettingError: one is no URL.
    """
    if one is None or other is None:
        return False
    a, b = address("engine", one), address("engine", other)
    return (a.tls, a.host, a.port, a.path) == (b.tls, b.host, b.port, b.path)


def _without_credentials(value: object) -> object:
    return re.sub(r"//\S*@", "//", value) if isinstance(value, str) else value


def _found(value: str | None, folder: Path) -> str | None:
    """A path as it is found from here; a name as it is. A column may follow a path."""
    if value is None or Path(value).exists():
        return value
    for path in (value, value.rpartition(":")[0]):
        if path and (folder / path).exists():
            return str(folder / value)
    return value
