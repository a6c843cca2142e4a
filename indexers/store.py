"""Fingerprints, queries and ids on disk: .npy arrays beside a manifest that is checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from indexers import manifest
from indexers.errors import BackendError
from indexers.manifest import Array
from indexers.types import (
    Family,
    Fingerprints,
    Progress,
    Queries,
    TableSize,
    no_progress,
)

BLOCK = 16_384
"""Texts hashed at a time."""
_TEXTS = "texts.json"


def fingerprint_corpus(
    family: Family,
    texts: Sequence[str],
    folder: Path,
    size: TableSize,
    *,
    bits: int,
    seed: int,
    shingle_size: int = 3,
    signatures: bool = False,
    progress: Progress = no_progress,
) -> Fingerprints:
    """Hash all texts block by block into files, in memory that does not grow with them.

    Args:
        family: whose hasher is used.
        texts: n raw texts, in the order of their ordinals.
        folder: made where missing; fingerprints in it are replaced.
        size: the largest sizes that will be asked for.
        bits: width of the code.
        seed: of the family.
        shingle_size: code points a shingle.
        signatures: keep the signatures too.
        progress: called after each block with the number of texts in it.

    Returns:
        The fingerprints, mapped from the files read-only.

    Raises:
        SettingError: a value is out of the family's range.
        BackendError: the files cannot be written.
    """
    hasher = family.hasher(
        size, bits=bits, seed=seed, shingle_size=shingle_size, signatures=signatures
    )
    parameters: dict[str, str | int] = {
        "family": family.name,
        "version": family.version,
        "seed": seed,
        "shingle_size": shingle_size,
    }
    if not len(texts):
        save_fingerprints(folder, hasher(texts), **parameters)
        return load_fingerprints(folder)
    with manifest.writing(folder):
        _empty(folder)
        files: dict[str, np.memmap[tuple[int, ...], np.dtype[np.generic]]] = {}
        for start in range(0, len(texts), BLOCK):
            block = hasher(texts[start : start + BLOCK])
            for name, array in _arrays(block).items():
                if name not in files:
                    files[name] = np.lib.format.open_memmap(
                        folder / f"{name}.npy", "w+", array.dtype, _shape(name, array, len(texts))
                    )
                rows = slice(start, start + len(block))
                files[name][(..., rows) if name == "keys" else rows] = array
            progress(len(block))
        for file in files.values():
            file.flush()
        manifest.write(folder, family.atom, files, parameters)
    return load_fingerprints(folder)


def _empty(folder: Path) -> None:
    """Make the folder, and let no manifest stand beside arrays that are about to change."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / manifest.FILE).unlink(missing_ok=True)


def _arrays(fp: Fingerprints) -> dict[str, Array]:
    arrays: dict[str, Array] = {"status": fp.status, "codes": fp.codes, "keys": fp.keys}
    if fp.signatures is not None:
        arrays["signatures"] = fp.signatures
    return arrays


def _shape(name: str, block: Array, n: int) -> tuple[int, ...]:
    return (*block.shape[:-1], n) if name == "keys" else (n, *block.shape[1:])


def save_fingerprints(folder: Path, fp: Fingerprints, **parameters: str | int) -> None:
    """Write fingerprints below the folder, which is made where missing.

    Args:
        folder: fingerprints in it are replaced.
        fp: what to write.
        parameters: what made them (family, version, seed, shingle_size), for the manifest.

    Raises:
        BackendError: the files cannot be written.
    """
    with manifest.writing(folder):
        _empty(folder)
        arrays = _arrays(fp)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", np.ascontiguousarray(array))
        manifest.write(folder, fp.atom, arrays, parameters)


def load_fingerprints(folder: Path, **expected: str | int) -> Fingerprints:
    """Map stored fingerprints read-only.

    Shapes, dtypes and file lengths are checked, single values are not.

    Args:
        folder: from `save_fingerprints` or `fingerprint_corpus`.
        expected: parameters that the manifest must hold, such as family="simhash", seed=123.

    Raises:
        BackendError: there are none, they are damaged or of another version, or what made
            them is not what was expected.
    """
    read = manifest.read(folder)
    manifest.check_parameters(folder, read, expected)
    arrays = {
        name: manifest.map_array(folder, name, read["arrays"].get(name))
        for name in ("status", "codes", "keys", "signatures")
        if name != "signatures" or name in read["arrays"]
    }
    fp = Fingerprints(
        arrays["status"], arrays["codes"], arrays["keys"], read["atom"], arrays.get("signatures")
    )
    if not len(fp.status) == len(fp.codes) == fp.keys.shape[-1]:
        raise manifest.damaged(folder, "its arrays differ in length")
    return fp


def save_queries(folder: Path, queries: Queries, **parameters: str | int) -> None:
    """Write texts, and fingerprints where there are any, below the folder.

    Args:
        folder: made where missing; queries in it are replaced.
        queries: what to write.
        parameters: those of `save_fingerprints`.

    Raises:
        BackendError: the files cannot be written.
    """
    with manifest.writing(folder):
        _empty(folder)
    save_ids(folder / _TEXTS, queries.texts)
    if queries.fingerprints is not None:
        save_fingerprints(folder, queries.fingerprints, **parameters)


def load_queries(folder: Path, **expected: str | int) -> Queries:
    """What `save_queries` wrote; `expected` is that of `load_fingerprints`.

    Raises:
        BackendError: nothing is there, it is damaged, or of other parameters.
    """
    texts = load_ids(folder / _TEXTS)
    if not (folder / manifest.FILE).exists():
        return Queries(texts, None)
    fp = load_fingerprints(folder, **expected)
    if len(fp) != len(texts):
        raise manifest.damaged(folder, f"it has {len(texts)} texts and {len(fp)} fingerprints")
    return Queries(texts, fp)


def save_ids(path: Path, ids: Sequence[str]) -> None:
    """Write strings as a JSON array, in ASCII with escapes, so that lone surrogates survive.

    Raises:
        BackendError: the file cannot be written.
    """
    with manifest.writing(path):
        manifest.write_text(path, json.dumps(list(ids)))


def load_ids(path: Path) -> list[str]:
    """Strings that `save_ids` wrote.

    Raises:
        BackendError: the file is missing or holds no JSON array of strings.
    """
    try:
        ids = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise BackendError(f"{path} is missing: run the study again") from None
    except (OSError, ValueError) as error:
        raise BackendError(f"{path} cannot be read ({error}): run the study again") from None
    if not isinstance(ids, list) or not all(isinstance(item, str) for item in ids):
        raise BackendError(f"{path} holds no JSON array of strings: run the study again")
    return ids
