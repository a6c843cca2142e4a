"""A file of credentials: YAML, an engine a section, that nobody else can read."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

import yaml

from harness.engines import ENGINES
from indexers.errors import SettingError

KEYS = ("url", "cloud_id", "user", "password", "api_key", "ca_file")
LARGEST_BYTES = 1_000_000
FORM = f"expected an engine ({', '.join(ENGINES)}) with some of {', '.join(KEYS)} below it"


def read_credentials(path: Path) -> dict[str, dict[str, str]]:
    """Engine -> what the file says of it, by `KEYS`; what is empty is left out.

    A relative `ca_file` belongs to the file's folder.

    Raises:
        SettingError: it cannot be read, others can read it, or it holds something else. The
            message holds nothing of its content.
    """
    loaded = _loaded(path)
    if not isinstance(loaded, dict):
        raise SettingError(f"credentials {path}: {FORM}")
    problems = []
    found = {}
    for engine, section in loaded.items():
        told = _section_problem(engine, section)
        if told:
            problems.append(f"credentials {path}: {told}")
        else:
            found[engine] = {name: value for name, value in section.items() if value}
            if "ca_file" in found[engine]:
                found[engine]["ca_file"] = str(path.parent / found[engine]["ca_file"])
    if problems:
        raise SettingError(*problems)
    return found


def _loaded(path: Path) -> object:
    try:
        # what is looked at is what is read, and no pipe is waited for
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            _check(path, os.fstat(file.fileno()))
            return yaml.safe_load(file.read().decode())
    except OSError as error:
        raise SettingError(f"credentials {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise SettingError(f"credentials {path}: not a text file; give YAML in UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        raise SettingError(f"credentials {path}{line}: not YAML") from None


def _check(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_BYTES:
        raise SettingError(f"credentials {path}: expected a small file of YAML")
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077:
        raise SettingError(
            f"credentials {path} can be read or changed by others (mode {mode:04o}): "
            f"chmod 600 {shlex.quote(str(path))}"
        )


def _section_problem(engine: object, section: object) -> str | None:
    if engine not in ENGINES or not isinstance(section, dict):
        return FORM
    unknown = [str(name) for name in section if name not in KEYS]
    if unknown:
        return f"{engine}: {', '.join(unknown)} is unknown: known are {', '.join(KEYS)}"
    wrong = [name for name, value in section.items() if not isinstance(value, str | None)]
    if wrong:
        return f"{engine}: {', '.join(wrong)}: expected a text; put it into quotes"
    return None
