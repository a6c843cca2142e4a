"""A study's configuration in its own file, so that it can be taken up again by its folder alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.config import StudyConfig
from harness.engines import ENGINES
from harness.tuning.store import Store
from indexers.address import address, without_credentials
from indexers.errors import SettingError
from indexers.index_types import BackendConfig

FACT = "configuration"
_PLACES = ("corpus", "vectors", "query_vectors", "model", "queries", "judgments")
"""Settings that may name files; what is relative belongs to the folder tune was called in."""
_TODAYS = {"out", "credentials", "verify_tls", "patience"}
"""Settings that every command gives anew."""
_SECRET = re.compile(r"key|password|secret|token")


def keep_config(store: Store, config: StudyConfig) -> None:
    """Store the configuration, credentials left out."""
    values = {
        name: without_credentials(value) if isinstance(value, str) else value
        for name, value in config.model_dump(mode="json", exclude=_TODAYS).items()
        if not _SECRET.search(name) or name.endswith("_file")
    }
    if config.index is not None:
        del values["corpus"]  # its default, which nobody asked for
    for engine in ENGINES:
        values[f"{engine}_ca"] = config.access(engine).ca_file
    store.put_meta(FACT, {"folder": str(Path.cwd()), "values": values})


def kept_config(store: Store, folder: Path, access: Mapping[str, BackendConfig]) -> StudyConfig:
    """The configuration of the study in this folder.

    Args:
        store: the study.
        folder: becomes the configuration's `out`.
        access: engine -> how it is reached today; used where it names the study's own server,
            so that credentials go nowhere else. A file of authorities may come from the study.

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
    home = Path(kept["folder"])
    values |= {name: _found(values[name], home) for name in _PLACES if name in values}
    values["body"] = [_found(path, home) for path in values.get("body", ())]
    reached = {name: _reached(name, values, access) for name in ENGINES}
    try:
        config = StudyConfig.model_validate(values)
    except ValidationError as error:
        names = ", ".join(sorted({".".join(map(str, e["loc"])) or "it" for e in error.errors()}))
        raise SettingError(
            f"study {folder}: its configuration is not understood ({names}): give its "
            "`harness tune` command once more"
        ) from None
    return config.with_access({name: one for name, one in reached.items() if one.url})


def _reached(
    engine: str, values: Mapping[str, Any], access: Mapping[str, BackendConfig]
) -> BackendConfig:
    url, ca_file = values.get(f"{engine}_url"), values.get(f"{engine}_ca")
    today = access.get(engine)
    if today is None or not same_server(url, today.url):
        return BackendConfig(url=url, ca_file=ca_file)
    if today.ca_file is None and today.verify_tls:
        return replace(today, ca_file=ca_file)
    return today


def same_server(one: str | None, other: str | None) -> bool:
    """Whether two URLs lead to one place, credentials apart.

    Raises:
        SettingError: one is no URL.
    """
    if one is None or other is None:
        return False
    a, b = address("engine", one), address("engine", other)
    return (a.tls, a.host, a.port, a.path) == (b.tls, b.host, b.port, b.path)


def _found(value: str | None, folder: Path) -> str | None:
    """A path as it is found from here; a name as it is. A column may follow a path."""
    if value is None or Path(value).exists():
        return value
    for path in (value, value.rpartition(":")[0]):
        if path and (folder / path).exists():
            return str(folder / value)
    return value
