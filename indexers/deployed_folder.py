"""An index in process in production: a folder with its files, ids and manifest, built whole."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from indexers import manifest
from indexers.deployed import Deployed
from indexers.errors import BackendError, SettingError
from indexers.index_types import (
    Answer,
    BackendConfig,
    Documents,
    IndexHandle,
    Queries,
    SearchParams,
)
from indexers.protocols import Hasher
from indexers.registry import backend
from indexers.store import fingerprint_corpus, load_ids, save_ids
from indexers.types import Items, Progress, no_progress

INDEX = "index.json"
"""Written last, so that a folder with it is complete."""
_IDS, _FILES, _FINGERPRINTS = "ids.json", "index", "fingerprints"


def build(
    folder: Path,
    deployed: Deployed,
    documents: Documents,
    items: Items,
    hasher: Hasher,
    progress: Progress = no_progress,
) -> int:
    """Build the index of these documents in place of what the folder held; gives how many it has.

    Args:
        folder: missing, empty, or an index that was built so and nothing else; replaced at the
            end. Of a link, the folder that it leads to.
        deployed: how documents are fingerprinted and indexed.
        documents: without fingerprints; ids ascending and unique.
        items: what the family hashes: the texts, or float32 vectors (n, D).
        hasher: of `deployed`, with the weights that it learnt.
        progress: called with the number of documents hashed.

    Raises:
        SettingError: the folder holds something else.
        BackendError: the files could not be written.
    """
    folder = folder.resolve()
    check_free(folder, deployed)
    family, params = deployed.family, deployed.hashing
    assert family is not None
    assert params is not None
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        prints = fingerprint_corpus(
            family,
            items,
            partial / _FINGERPRINTS,
            deployed.size,
            params,
            hasher=hasher,
            progress=progress,
        )
        (partial / _FILES).mkdir()
        made = backend(deployed.spec.backend)(BackendConfig())
        handle = made.build(
            deployed.spec, replace(documents, fingerprints=prints), partial / _FILES
        )
        shutil.rmtree(partial / _FINGERPRINTS)
        save_ids(partial / _IDS, documents.ids)
        told = {
            "manifest": deployed.manifest,
            "documents": handle.documents,
            "size_bytes": handle.size_bytes,
            "files": sorted(_files(partial)),
        }
        manifest.write_text(partial / INDEX, json.dumps(told))
        partial.chmod(0o755)
        _replace(partial, folder, deployed)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return handle.documents


def check_free(folder: Path, deployed: Deployed) -> None:
    """Refuse a folder that holds something else than an index made so.

    Raises:
        SettingError: it does.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    try:
        told = json.loads((folder / INDEX).read_text("utf-8"))
        held = told["manifest"]
    except (OSError, ValueError, LookupError, TypeError):
        raise SettingError(
            f"{folder} holds no index of these deploy files: choose another folder"
        ) from None
    deployed.check(held, f"the index in {folder}")
    if more := [name for name in _files(folder) if not _is_part(name, told)]:
        raise SettingError(
            f"{folder} holds {min(more)!r:.80} beside its index, which would be lost: move it "
            "away, or choose another folder"
        )


def _files(folder: Path) -> set[str]:
    """All that is in a folder and no folder itself, by its path in it."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return {path.relative_to(folder).as_posix() for path in found}


def _is_part(name: str, told: Mapping[str, object]) -> bool:
    """Whether a file is one that an index says it consists of; an older one does not say."""
    files = told.get("files")
    if not isinstance(files, list):
        return name in (INDEX, _IDS) or name.startswith(f"{_FILES}/")
    return name == INDEX or name in files


def _replace(partial: Path, folder: Path, deployed: Deployed) -> None:
    """Searchers that have the old files mapped keep them.

    Raises:
        SettingError: something was put into the folder while the new index was built.
    """
    if not folder.exists():
        partial.rename(folder)
        return
    old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    folder.rename(old / "old")
    try:
        check_free(old / "old", deployed)
    except SettingError:
        (old / "old").rename(folder)
        old.rmdir()
        check_free(folder, deployed)  # which tells it by the folder's own name
        raise
    partial.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def ask(
    folder: Path, deployed: Deployed, queries: Queries, search: SearchParams
) -> Iterator[list[Answer]]:
    """The answers to each query, best first.

    Raises:
        SettingError: there is no index in the folder, or it was made otherwise.
        BackendError: its files are damaged.
    """
    try:
        told = json.loads((folder / INDEX).read_text("utf-8"))
    except FileNotFoundError:
        raise SettingError(f"there is no index in {folder}: run ingest.py first") from None
    except (OSError, ValueError) as error:
        raise BackendError(f"{folder / INDEX} cannot be read ({error}): ingest anew") from None
    deployed.check(told.get("manifest"), f"the index in {folder}")
    ids = load_ids(folder / _IDS)
    files = str(folder / _FILES)
    handle = IndexHandle(deployed.spec, files, told["documents"], told["size_bytes"], 0.0)
    made = backend(deployed.spec.backend)(BackendConfig())
    searcher = made.open(handle, replace(search, k=min(search.k, max(len(ids), 1))), queries, ids)
    try:
        for query in range(len(queries.texts)):
            hits = searcher.search(query)
            found = zip(hits.ordinals.tolist(), hits.scores.tolist(), strict=True)
            yield [Answer(ids[ordinal], score) for ordinal, score in found]
    finally:
        searcher.close()
