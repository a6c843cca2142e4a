"""How a user gives access to the engines: one way for every command.

`engine_access` makes everything out of flags, a study's YAML, a file of credentials and the
environment; what it gives goes to a backend (`registry.backend(name)(config)`), or, for requests
without a client, to `HttpTransport(address_of(name, config), timeout_s)`. A study's are
`StudyConfig.access(name)`, those of `harness load` `LoadOptions.access`. A command takes its flags
with `cli_options.access_options`. A program without flags calls `engine_access({})`.

What an engine has, by environment (<ENGINE> is OPENSEARCH or ELASTICSEARCH) and otherwise:

    HARNESS_<ENGINE>_URL            --<engine>-url, url in the file; may hold user:password@
    HARNESS_ELASTICSEARCH_CLOUD_ID  cloud_id in the file; in place of a URL
    HARNESS_<ENGINE>_USER           user in the file
    HARNESS_<ENGINE>_PASSWORD       password in the file
    HARNESS_<ENGINE>_API_KEY        api_key in the file
    HARNESS_<ENGINE>_CA             --<engine>-ca, ca_file in the file
    HARNESS_CREDENTIALS             --credentials: the file (`harness.access_file`)

Flags win over a study's YAML, that over the file, and the file over the environment. Two ways of
proving who one is are never weighed against each other: they are an error that names both.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.access_file import read_credentials
from harness.access_sources import Sources
from harness.engines import ENGINES
from indexers.address import address, masked
from indexers.errors import SettingError
from indexers.index_types import BackendConfig

CREDENTIALS = "HARNESS_CREDENTIALS"
ACCESS = (*(f"{engine}_{what}" for engine in ENGINES for what in ("url", "ca")),)
ACCESS += ("credentials", "verify_tls")
"""Flags that `engine_access` reads."""


def engine_access(
    flags: Mapping[str, Any], study: Mapping[str, Any] | None = None
) -> dict[str, BackendConfig]:
    """Engine -> how it is reached; engines of which no URL is known are left out.

    The URLs hold no credentials. Nothing is asked: a server's answer tells whether they fit.

    Args:
        flags: `<engine>_url`, `<engine>_ca`, `credentials` and `verify_tls` are read; None where
            a flag was not given.
        study: the same names, from a study's YAML.

    Raises:
        SettingError: with every problem found; the messages hold no secrets.
    """
    seen = [name for name in ENGINES if _has_credentials(flags.get(f"{name}_url"))]
    if seen:
        raise SettingError(*(_seen_by_others(name) for name in seen))
    explicit = {**(study or {}), **{n: v for n, v in flags.items() if v is not None}}
    by_file = _file(explicit)
    verify = explicit.get("verify_tls") is not False
    found: dict[str, BackendConfig] = {}
    problems: list[str] = []
    for engine in ENGINES:
        sources = Sources(engine, explicit, by_file.get(engine, {}))
        try:
            config = sources.config(verify=verify)
        except SettingError as error:
            problems += error.problems
        else:
            if config is not None:
                found[engine] = config
    if problems:
        raise SettingError(*problems)
    return found


def access_to(engine: str, access: Mapping[str, BackendConfig]) -> BackendConfig:
    """How this engine is reached.

    Raises:
        SettingError: no URL of it is known; it says how to give one.
    """
    if engine not in access:
        address(engine, None)
    return access[engine]


def _file(explicit: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    path = explicit.get("credentials") or os.environ.get(CREDENTIALS)
    return read_credentials(Path(str(path)).expanduser()) if path else {}


def _has_credentials(url: object) -> bool:
    given = str(url or "")
    return given != masked(given)


def _seen_by_others(engine: str) -> str:
    return (
        f"--{engine}-url: credentials on a command line are seen by others; put the whole URL "
        f"into HARNESS_{engine.upper()}_URL, or set HARNESS_{engine.upper()}_USER and "
        f"HARNESS_{engine.upper()}_PASSWORD"
    )
