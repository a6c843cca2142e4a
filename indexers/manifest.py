"""What stored fingerprints are: a small JSON file beside the arrays, checked before they are read.

It is written last, by renaming, so that a folder with a manifest is complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from indexers.errors import BackendError
from indexers.normaliser import NORMALISER
from indexers.types import Atom

FILE = "manifest.json"
_OURS = {"format": 1, "normaliser": NORMALISER, "bit_order": "big"}

Array: TypeAlias = NDArray[Any]
Parameter: TypeAlias = str | int | None
Parameters: TypeAlias = Mapping[str, Parameter]
"""What made the fingerprints: family, version, and how it hashed."""


def damaged(folder: Path, why: str) -> BackendError:
    """The error for files that cannot be trusted."""
    return BackendError(f"{folder} is damaged: {why}: remove it and hash again")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the file system raises into one line about this path."""
    try:
        yield
    except OSError as error:
        raise BackendError(f"{path} cannot be written: {error.strerror or error}") from None


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, "utf-8")
    partial.replace(path)


def write(folder: Path, atom: Atom, arrays: Mapping[str, Array], parameters: Parameters) -> None:
    """Write the manifest of arrays that are in the folder already."""
    shapes = {
        name: {"dtype": array.dtype.name, "shape": list(array.shape)}
        for name, array in arrays.items()
    }
    manifest = {**_OURS, "atom": atom, "parameters": dict(parameters), "arrays": shapes}
    write_text(folder / FILE, json.dumps(manifest, indent=1) + "\n")


def read(folder: Path) -> dict[str, Any]:
    """The checked manifest.

    Raises:
        BackendError: it is missing, damaged, or of another format, normaliser or bit order.
    """
    try:
        manifest = json.loads((folder / FILE).read_text("utf-8"))
    except FileNotFoundError:
        raise BackendError(f"no fingerprints in {folder}: {FILE} is missing") from None
    except (OSError, ValueError) as error:
        raise damaged(folder, f"{FILE} cannot be read ({error})") from None
    if not isinstance(manifest, dict):
        raise damaged(folder, f"{FILE} is not a JSON object")
    for name, value in _OURS.items():
        if manifest.get(name) != value:
            raise BackendError(
                f"fingerprints in {folder} have {name} {manifest.get(name)!r}, this version "
                f"reads {value!r}: remove the folder and hash again"
            )
    if manifest.get("atom") not in get_args(Atom):
        raise damaged(folder, f"{FILE} has atom {manifest.get('atom')!r}")
    for name in ("arrays", "parameters"):
        if not isinstance(manifest.get(name), dict):
            raise damaged(folder, f"{FILE} has no {name}")
    return manifest


def check_parameters(folder: Path, manifest: dict[str, Any], expected: Parameters) -> None:
    """Refuse fingerprints that were made otherwise.

    Raises:
        BackendError: a parameter differs.
    """
    for name, value in expected.items():
        stored = manifest["parameters"].get(name)
        if stored != value:
            raise BackendError(
                f"fingerprints in {folder} have {name} {stored!r}, not {value!r}: "
                "remove the folder and hash again"
            )


def map_array(folder: Path, name: str, entry: object) -> Array:
    """The array of this name, mapped read-only, if it is what the manifest says.

    Raises:
        BackendError: it is missing, cut short, or of another shape or dtype.
    """
    path = folder / f"{name}.npy"
    try:
        array = cast(Array, np.load(path, mmap_mode="r"))
    except (OSError, ValueError, EOFError) as error:
        # an array without entries cannot be mapped
        if not (isinstance(entry, dict) and 0 in entry.get("shape", ()) and path.exists()):
            raise damaged(folder, f"{path.name} cannot be read ({error})") from None
        array = cast(Array, np.load(path))
    found = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if found != entry:
        raise damaged(folder, f"{path.name} is {found}, {FILE} says {entry}")
    return array
