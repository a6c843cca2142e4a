"""The files of a `deploy/` folder at work: documents in, answers out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.collection import jsonl
from harness.collection.attributes import taken
from harness.deploy.files import VectorRows
from harness.deploy.ingest import Source
from harness.filters import filter_of
from harness.progress import Progress
from indexers import deployed as deploying
from indexers.errors import SettingError
from indexers.index_types import Answer, Documents, Queries, SearchParams
from indexers.protocols import Hasher
from indexers.registry import backend
from indexers.types import Items, no_progress
from indexers.types import Progress as Advance

if TYPE_CHECKING:
    from indexers.backends._engine_deployed import DeployedIndex

LEARNT = "weights.npz"
"""File of the weights that a hasher learnt, beside `fingerprint.json`."""


class Deployment:
    """The deploy files of a study: how documents and queries become fingerprints.

    Args:
        folder: of `fingerprint.json`.
        model: folder of the model that makes the vectors, where the study used one from a folder.

    Raises:
        SettingError: the files are damaged, or of another version.
    """

    def __init__(self, folder: Path, model: str | None = None) -> None:
        self.folder = folder
        self.deployed = deploying.load(folder)
        self._model = model
        self._hasher: Hasher | None = None
        self._encoder: Any = None

    @property
    def hasher(self) -> Hasher:
        """Made once: it keeps the shingles that it has seen."""
        if self._hasher is None:
            self._hasher = self.deployed.hasher()
            if self.deployed.learnt:
                from indexers.learnt import load_learnt

                load_learnt(self._hasher, self.folder / LEARNT, self.deployed.learnt)
        return self._hasher

    @property
    def hashes_vectors(self) -> bool:
        """Whether fingerprints are of vectors."""
        family = self.deployed.family
        return family is not None and family.source == "vector"

    def check(self, path: Path, vectors: str | None = None, progress: Advance = no_progress) -> int:
        """Look through a file before any of it is indexed; gives how many documents it has.

        Raises:
            CorpusError: as `documents`, or an id is given twice: which of the two an engine
                would keep is not certain.
        """
        count = self._source(path).check(progress)
        if vectors and self.hashes_vectors:
            VectorRows(vectors).check_end(count)
        return count

    def documents(self, path: Path, vectors: str | None = None) -> Iterator[Documents]:
        """The documents of a file, some at a time, fingerprinted.

        Args:
            path: JSON lines with `_id` or `id` and the fields that the study read.
            vectors: `.npy` in the order of the file, or Parquet with ids; None for the model.

        Raises:
            CorpusError: a line or vector cannot be used; earlier blocks are given already.
            SettingError: vectors are needed and there is nothing to make them.
        """
        held = VectorRows(vectors) if vectors and self.hashes_vectors else None
        start = 0
        for block in self._source(path).blocks():
            items = held.of(block.ids, start) if held else self._items(block.texts, queries=False)
            start += len(block.ids)
            prints = None if self.deployed.family is None else self.hasher(items)
            yield Documents(block.ids, block.texts, prints, block.attributes)
        if held:
            held.check_end(start)

    def queries(self, texts: Sequence[str], vectors: str | None = None) -> Queries:
        """Queries as the index is asked them.

        Args:
            texts: one a query.
            vectors: of the queries, in their order; None for the model.

        Raises:
            SettingError: vectors are needed and there is nothing to make them.
            CorpusError: the vectors cannot be used.
        """
        if self.deployed.family is None:
            return Queries(texts, None)
        items: Items
        if vectors and self.hashes_vectors:
            held = VectorRows(vectors)
            items = held.of((), 0, len(texts))
            held.check_end(len(texts))
        else:
            items = self._items(texts, queries=True)
        return Queries(texts, self.hasher(items))

    def build_folder(self, folder: Path, path: Path, vectors: str | None = None) -> tuple[int, int]:
        """Build an index in process from a file; gives how many documents it has, and how many
        have no usable text.

        Raises:
            InputError: the file, the vectors or the folder cannot be used.
            BackendError: the index could not be built.
        """
        from indexers.deployed_folder import build, check_free

        check_free(folder, self.deployed)
        names = [name for name, _ in self.deployed.spec.attributes]
        table = jsonl.documents(path, self._fields, attributes=names)
        order = sorted(range(len(table.ids)), key=table.ids.__getitem__)
        ids, texts = [table.ids[row] for row in order], [table.texts[row] for row in order]
        items: Items = texts
        if vectors and self.hashes_vectors:
            held = VectorRows(vectors)
            items = held.of(table.ids, 0)[np.array(order, np.int64)]
            held.check_end(len(ids))
        elif self.hashes_vectors:
            items = self._items(texts, queries=False)
        with Progress().stage("documents", len(ids)) as advance:
            documents = Documents(ids, texts, None, taken(table.attributes, order))
            done = build(folder, self.deployed, documents, items, self.hasher, advance)
        return done, len(ids) - done

    def ask_folder(
        self, folder: Path, queries: Queries, search: SearchParams
    ) -> Iterator[list[Answer]]:
        """The answers to each query, best first.

        Raises:
            SettingError: there is no index, or it was made otherwise.
        """
        from indexers.deployed_folder import ask

        return ask(folder, self.deployed, queries, search)

    def search(self, k: int | None, filter_: str | None = None) -> SearchParams:
        """The search parameters.

        Args:
            k: answers; None for as many as in the study.
            filter_: that answers must pass, such as `price=10..50`, or `none`; None for that of
                the study, where it had one.

        Raises:
            SettingError: an index of these has no such answers.
        """
        found = self.deployed.search if k is None else replace(self.deployed.search, k=k)
        if filter_ is not None:
            found = replace(found, filter=filter_of(filter_))
        if found.k < 1:
            raise SettingError(f"k {found.k} is out of range: at least 1")
        if problem := backend(self.deployed.spec.backend).impossible(self.deployed.spec, found):
            raise SettingError(problem)
        return found

    def index(self, url: str | None, name: str) -> DeployedIndex:
        """The index of this name on a server.

        Args:
            url: of the server; None for that of the environment. Credentials come from the
                environment alone.
            name: of the index.

        Raises:
            SettingError: there is no URL, or it is none, or the name is none.
            EngineUnavailable: no answer, or another server.
        """
        from indexers.backends._engine_deployed import DeployedIndex

        return DeployedIndex(_server(self.deployed.spec.backend, url), name, self.deployed)

    def index_body(self) -> dict[str, Any]:
        """`index.json`."""
        path = self.folder / "index.json"
        try:
            read = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise SettingError(f"{path} cannot be read ({error}): take it from the study") from None
        return dict(read)

    def _source(self, path: Path) -> Source:
        return Source(path, self._fields, self.deployed.spec.attributes)

    @property
    def _fields(self) -> list[str] | None:
        return (self.deployed.source or {}).get("fields")

    def _items(self, texts: Sequence[str], *, queries: bool) -> Items:
        if not self.hashes_vectors:
            return texts
        if self._encoder is None:
            from harness.deploy.model import encoder

            self._encoder = encoder((self.deployed.source or {}).get("model"), self._model)
        return self._encoder.encode(texts, queries=queries)


def _server(engine: str, url: str | None) -> Any:
    from harness.access import access_to, engine_access
    from harness.engines import url_variable
    from indexers.address import address

    if url and address(engine, url).credentials:
        raise SettingError(
            "--url holds credentials, which others can see in the list of processes: put the URL "
            f"with them into {url_variable(engine)}, and leave --url out"
        )
    access = engine_access({f"{engine}_url": url})
    if engine not in access:
        raise SettingError(f"no server is named: give --url URL, or set {url_variable(engine)}")
    return backend(engine)(access_to(engine, access))
