"""The rows of an index that the user built: one a search body."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from harness.config import StudyConfig
from harness.search_bodies import read_template
from harness.settings import ATTACHED, Setting
from indexers.errors import SettingError


def attached_settings(config: StudyConfig) -> list[Setting]:
    """What is measured of the attached index; nothing without one.

    Without a search body it is asked as the manifest in its mapping says.

    Raises:
        SettingError: a body cannot be read, or is given twice.
    """
    place = config.attach_place
    if place is None:
        return []
    names: list[str | None] = [body_name(path) for path in config.body] or [None]
    if len(set(names)) < len(names):
        raise SettingError("--body: one search body is given twice; leave one out")
    return [Setting(None, place.engine, ATTACHED, index=place.name, body=name) for name in names]


def body_name(path: Path) -> str:
    """A search body for people and keys: the file's name, and a digest of what it says.

    Raises:
        SettingError: it cannot be read.
    """
    body = json.dumps(read_template(path), sort_keys=True)
    return f"{path.name} ({hashlib.blake2b(body.encode(), digest_size=4).hexdigest()})"


def body_path(config: StudyConfig, setting: Setting) -> Path | None:
    """The file of a row's search body."""
    return next((path for path in config.body if body_name(path) == setting.body), None)
