"""Fingerprints, queries and ids on disk: .npy arrays beside a manifest that is checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import numpy as np

from indexers import manifest
from indexers.errors import BackendError
from indexers.index_types import Queries
from indexers.manifest import Array, Parameter
from indexers.protocols import Family, Hasher
from indexers.store_files import NAMES, BlockWriter, arrays_of
from indexers.types import Fingerprints, HashParams, Items, Progress, Ragged, TableSize, no_progress

BLOCK = 16_384
"""Documents hashed at a time."""
_ALWAYS = ("status", "codes", "keys")
_TEXTS = "texts.json"


def hash_parameters(
    family: Family, size: TableSize, params: HashParams, hasher: Hasher | None = None
) -> dict[str, Parameter]:
    """What made fingerprints, as their manifest tells it and `load_fingerprints` expects it.

    What the family does not read is left out, as are `signatures`: whether they are kept
    changes no other array. `num_tables` is there where other tables would be cut for others,
    `learnt` where the hasher weighted by what it learnt: other documents give other weights.
    """
    read = {"seed", *family.reads} | ({"bits"} if "bits" in family.forms else set())
    told = {name: value for name, value in asdict(params).items() if name in read - {"signatures"}}
    if not family.nested:
        told["num_tables"] = size.num_tables
    if hasher is not None and params.weighting == "idf" and (learnt := hasher.learnt()):
        told["learnt"] = learnt
    return {"family": family.name, "version": family.version, **told}


def fingerprint_corpus(
    family: Family,
    items: Items,
    folder: Path,
    size: TableSize,
    params: HashParams,
    *,
    hasher: Hasher | None = None,
    progress: Progress = no_progress,
) -> Fingerprints:
    """Hash all documents block by block into files, in memory that does not grow with them.

    With `idf` weights the hasher first learns from all of them.

    Args:
        family: whose hasher is used.
        items: n raw texts, or float32 (n, D), in the order of their ordinals.
        folder: made where missing; fingerprints in it are replaced.
        size: the largest sizes that will be asked for.
        params: how the family hashes.
        hasher: of the same size and parameters, for a caller who hashes queries by it
            afterwards; made where None.
        progress: called after each block with the number of documents in it.

    Returns:
        The fingerprints, mapped from the files read-only.

    Raises:
        SettingError: a value is out of the family's range, or a vector cannot be hashed.
        BackendError: the files cannot be written.
    """
    if hasher is None:
        hasher = family.hasher(size, params)
    n = len(items)
    if params.weighting == "idf":
        for start in range(0, n, BLOCK):
            hasher.learn(items[start : start + BLOCK])
    parameters = hash_parameters(family, size, params, hasher)
    if not n:
        save_fingerprints(folder, hasher(items), **parameters)
        return load_fingerprints(folder)
    with manifest.writing(folder):
        _empty(folder)
        with closing(BlockWriter(folder, n)) as writer:
            for start in range(0, n, BLOCK):
                block = hasher(items[start : start + BLOCK])
                writer.add(block)
                progress(len(block))
        manifest.write(folder, family.atom, writer.arrays(), parameters)
    return load_fingerprints(folder)


def _empty(folder: Path) -> None:
    """Make the folder; no manifest stands beside arrays that are about to change.

    Files are removed, not overwritten: someone may have them mapped.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / manifest.FILE).unlink(missing_ok=True)
    for name in NAMES:
        (folder / f"{name}.npy").unlink(missing_ok=True)


def save_fingerprints(folder: Path, fp: Fingerprints, **parameters: Parameter) -> None:
    """Write fingerprints below the folder, which is made where missing.

    Args:
        folder: fingerprints in it are replaced.
        fp: what to write.
        parameters: what made them, as `hash_parameters` gives it, for the manifest.

    Raises:
        BackendError: the files cannot be written.
    """
    with manifest.writing(folder):
        _empty(folder)
        arrays = arrays_of(fp)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", np.ascontiguousarray(array))
        manifest.write(folder, fp.atom, arrays, parameters)


def load_fingerprints(folder: Path, **expected: Parameter) -> Fingerprints:
    """Map stored fingerprints read-only.

    Shapes, dtypes, file lengths and the bounds of lists are checked, single values are not.

    Args:
        folder: from `save_fingerprints` or `fingerprint_corpus`.
        expected: parameters that the manifest must hold, such as family="simhash", seed=123;
            `hash_parameters` gives all of them.

    Raises:
        BackendError: there are none, they are damaged or of another version, or what made
            them is not what was expected.
    """
    read = manifest.read(folder)
    manifest.check_parameters(folder, read, expected)
    arrays = {
        name: manifest.map_array(folder, name, read["arrays"].get(name))
        for name in NAMES
        if name in _ALWAYS or name in read["arrays"]
    }
    fp = Fingerprints(
        arrays["status"],
        arrays["codes"],
        arrays["keys"],
        read["atom"],
        arrays.get("signatures"),
        _ragged(folder, arrays, "hashes"),
        _ragged(folder, arrays, "strings"),
        arrays.get("vectors"),
    )
    held = (fp.codes, fp.signatures, fp.hashes, fp.strings, fp.vectors)
    lengths = {len(array) for array in held if array is not None} | {fp.keys.shape[-1]}
    if lengths != {len(fp.status)}:
        raise manifest.damaged(folder, "its arrays differ in length")
    return fp


def _ragged(folder: Path, arrays: dict[str, Array], name: str) -> Ragged | None:
    indptr, values = arrays.get(f"{name}_indptr"), arrays.get(f"{name}_values")
    if indptr is None or values is None:
        return None
    # kernels look at no bounds
    if (
        not len(indptr)
        or indptr[0] != 0
        or indptr[-1] != len(values)
        or (indptr[1:] < indptr[:-1]).any()
    ):
        raise manifest.damaged(folder, f"{name}_indptr.npy does not divide {name}_values.npy")
    return Ragged(indptr, values)


def save_queries(folder: Path, queries: Queries, **parameters: Parameter) -> None:
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


def load_queries(folder: Path, **expected: Parameter) -> Queries:
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
