"""What flags, a file and the environment say of one engine, weighed against each other."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cloud_id import cloud_url
from indexers.address import Address, address, ca_problem, encoded_key, without_credentials
from indexers.errors import SettingError
from indexers.index_types import BackendConfig

NAMES = {"url": "URL", "cloud_id": "CLOUD_ID", "ca_file": "CA"}
NAMES |= {"user": "USER", "password": "PASSWORD", "api_key": "API_KEY"}
"""What is known of an engine -> end of its environment variable."""


@dataclass(frozen=True, slots=True)
class _Given:
    """A value and who gave it, for messages."""

    value: str
    by: str


class Sources:
    """What is known of one engine, the first source first.

    Args:
        engine: its name.
        explicit: flags, and what a study's YAML says.
        file: its section in a file of credentials.
    """

    def __init__(self, engine: str, explicit: Mapping[str, Any], file: Mapping[str, str]) -> None:
        self._engine = engine
        given = {"url": explicit.get(f"{engine}_url"), "ca_file": explicit.get(f"{engine}_ca")}
        flags = {
            name: _Given(str(value), f"--{engine}-{'ca' if name == 'ca_file' else name}")
            for name, value in given.items()
            if value
        }
        by_file = {name: _Given(value, f"{name} in the file") for name, value in file.items()}
        variables = {name: f"HARNESS_{engine.upper()}_{end}" for name, end in NAMES.items()}
        environment = {
            name: _Given(os.environ[variable], variable)
            for name, variable in variables.items()
            if os.environ.get(variable)
        }
        self._order = (flags, by_file, environment)

    def config(self, *, verify: bool) -> BackendConfig | None:
        """All of it put together; None without a URL.

        Raises:
            SettingError: something of it cannot be used, or two contradict each other.
        """
        place = self._place()
        if place is None:
            if "ca_file" in self._order[0]:
                raise SettingError(
                    f"{self._order[0]['ca_file'].by} belongs to a server: name it with "
                    f"--{self._engine}-url or HARNESS_{self._engine.upper()}_URL, too"
                )
            return None
        to = address(self._engine, place.value)
        user, password, api_key = self._identity(place, to)
        ca_file = self._first("ca_file")
        problem = self._tls_problem(to, ca_file, verify=verify)
        if problem:
            raise SettingError(problem)
        return BackendConfig(
            url=without_credentials(place.value),
            user=user,
            password=password,
            api_key=api_key,
            ca_file=None if ca_file is None else str(Path(ca_file.value).expanduser().absolute()),
            verify_tls=verify,
        )

    def _first(self, name: str) -> _Given | None:
        return next((source[name] for source in self._order if name in source), None)

    def _place(self) -> _Given | None:
        """The URL of the first source that has one."""
        places = [place for source in self._order if (place := self._place_in(source))]
        flags, file, _ = self._order
        if "url" in flags and ({"url", "cloud_id"} & set(file)):
            mine, theirs = (address(self._engine, place.value) for place in places[:2])
            if (mine.host, mine.port) != (theirs.host, theirs.port):
                raise SettingError(
                    f"{flags['url'].by} names another {self._engine} than the file of credentials "
                    f"does ({theirs.shown}), whose credentials are for that one: leave one out"
                )
        return places[0] if places else None

    def _place_in(self, source: Mapping[str, _Given]) -> _Given | None:
        url, cloud_id = source.get("url"), source.get("cloud_id")
        if cloud_id is None:
            return url
        if self._engine != "elasticsearch":
            raise SettingError(f"{cloud_id.by}: cloud ids are Elasticsearch's; give a URL")
        if url is not None:
            raise SettingError(f"{url.by} and {cloud_id.by} are given: leave one out")
        try:
            return _Given(cloud_url(cloud_id.value), cloud_id.by)
        except SettingError as error:
            raise SettingError(f"{cloud_id.by}: {error}") from None

    def _identity(self, place: _Given, to: Address) -> tuple[str | None, str | None, str | None]:
        """User, password and API key, as far as they are given."""
        user, password, key = (self._first(name) for name in ("user", "password", "api_key"))
        ways = [given.by for given in (user or password, key) if given is not None]
        if to.credentials is not None:
            ways.insert(0, f"the user in {place.by}")
        if len(ways) > 1:
            raise SettingError(
                f"{' and '.join(ways)} are given: {self._engine} takes one of them; leave the "
                "other out"
            )
        if to.credentials is not None:
            return *to.credentials, None
        problems = list(_identity_problems(self._engine, user, password, key))
        if problems:
            raise SettingError(*problems)
        if key is not None:
            return None, None, encoded_key(key.value.strip())
        if user is None or password is None:
            return None, None, None
        return user.value, password.value, None

    def _tls_problem(self, to: Address, ca_file: _Given | None, *, verify: bool) -> str | None:
        if ca_file is None:
            return None
        if not to.tls:
            return f"{ca_file.by} is given, and {to.shown} is not https: leave one, or write https"
        if not verify:
            return f"{ca_file.by} and --no-verify-tls are given: leave one out"
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(cafile=str(Path(ca_file.value).expanduser()))
        except (OSError, ValueError) as error:
            return f"{ca_file.by}: {ca_problem(ca_file.value, error)}"
        return None


def _identity_problems(
    engine: str, user: _Given | None, password: _Given | None, key: _Given | None
) -> Iterator[str]:
    name = f"HARNESS_{engine.upper()}"
    if user is not None and password is None:
        yield f"{user.by} is given without a password: set {name}_PASSWORD, or add it to the file"
    if password is not None and user is None:
        yield f"{password.by} is given without a user: set {name}_USER, or add it to the file"
    if user is not None and ":" in user.value:
        yield f"{user.by}: a user's name holds no colon"
    if key is not None and not (key.value.strip().isascii() and key.value.strip().isprintable()):
        yield f"{key.by}: an API key is one line of letters and signs, as the server gave it"
    for given in (user, password):
        if given is not None and not given.value.isprintable():
            yield f"{given.by} holds a line break or another control character: leave it out"
