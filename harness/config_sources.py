"""A study from where it is given: flags over a YAML file over the environment.

A YAML file holds the same names as the flags, with underscores.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from harness.access import engine_access
from harness.config import StudyConfig
from harness.config_problems import problems
from harness.engines import ENGINES
from indexers.errors import SettingError
from indexers.index_types import BackendConfig


def read_config(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file.

    Raises:
        SettingError: it is missing, unreadable, not YAML or not a mapping.
    """
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(
            f"configuration {path}: {error.strerror or error}; name an existing YAML file"
        ) from error
    except UnicodeDecodeError as error:
        raise SettingError(f"configuration {path}: not a text file; give YAML in UTF-8") from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" line {where.line + 1}" if where else ""
        reason = getattr(error, "problem", None) or "not YAML"
        raise SettingError(f"configuration {path}{line}: {reason}") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise SettingError(f"configuration {path}: expected `name: value` lines, one a setting")
    return {str(key): value for key, value in loaded.items()}


def study_config(flags: Mapping[str, Any], config: Path | None = None) -> StudyConfig:
    """Flags over the YAML file over the environment over the defaults.

    Raises:
        SettingError: with every problem found.
    """
    study = {} if config is None else read_config(config)
    told: list[str] = []
    access: dict[str, BackendConfig] = {}
    try:
        access = engine_access(flags, study)
    except SettingError as error:
        told += error.problems
    urls = {f"{name}_url": one.url for name, one in access.items()}
    if told:  # what is missing for it is not told a second time
        urls = {f"{name}_url": "told" for name in ENGINES}
    given = {name: value for name, value in flags.items() if value not in (None, ())}
    try:
        made = StudyConfig.model_validate({**study, **given, **urls})
    except ValidationError as error:
        told += problems(error, StudyConfig, flags)
    if told:
        raise SettingError(*told)
    return made.with_access(access)
