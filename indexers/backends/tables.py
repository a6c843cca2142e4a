"""Tables in process: sorted LSH keys re-ranked on packed codes, or postings of hashes.

One build serves every `num_tables` up to the largest and every `hash_length`: fewer tables are
the first ones, and a shorter key is a range of the sorted keys (multi-index hashing with sorted
tables instead of hash maps; Charikar, STOC 2002, section 3, sorts for the same reason).
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from numpy.lib.format import open_memmap

from indexers import registry
from indexers.atoms import ATOMS_PER_WORD
from indexers.backends._fits import misfit
from indexers.backends._folder import (
    InProcess,
    fingerprints_of,
    map_array,
    write_index,
)
from indexers.backends._passing import allowed, as_bit_set
from indexers.backends._postings import SEARCHERS, write_postings
from indexers.codes import code_words
from indexers.errors import SettingError
from indexers.index_types import (
    BackendInfo,
    Documents,
    Hits,
    IndexHandle,
    IndexSpec,
    Queries,
    SearchParams,
)
from indexers.kernels import threads
from indexers.protocols import Searcher
from indexers.types import Atom, Fingerprints, Progress, Status, no_progress


def key_shape(hash_length: int, atom: Atom) -> tuple[int, int]:
    """Words that hold a key of this length, and how many bits of the last are not part of it."""
    per_word = ATOMS_PER_WORD[atom]
    words = -(-hash_length // per_word)
    return words, words * per_word - hash_length


class TablesSearcher:
    """Mapped tables with the queries' keys beside each other; safe in several threads."""

    def __init__(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> None:
        from indexers.kernels.tables import search_tables

        fingerprints = fingerprints_of(queries, handle.spec)
        tables, length = params.num_tables or 0, params.hash_length or 0
        words, shift = key_shape(length, fingerprints.atom)
        _check_keys(fingerprints, tables, words)
        by_bits = params.rerank == "code"
        values, query_values = _rerank_values(handle, fingerprints, by_bits)
        # a query's keys beside each other: they are given table by table
        query_keys = np.ascontiguousarray(np.moveaxis(fingerprints.keys, 2, 0))
        passing = as_bit_set(allowed(handle, params))
        for array in (query_keys, query_values, passing):
            array.flags.writeable = False  # like mapped files: one compiled kernel serves all
        most = fingerprints.bits if by_bits else values.shape[1]
        self._status = np.asarray(fingerprints.status)  # indexing a mapped array is slow
        self._kernel = cast(Any, search_tables)
        self._arrays = (
            map_array(handle, "keys"),
            map_array(handle, "order"),
            values,
            query_keys,
            query_values,
            passing,
        )
        self._sizes = (tables, words, shift, params.k, by_bits, most)
        if len(self._status):  # compiles now, not within a measured query
            self._kernel(*self._arrays, 0, *self._sizes)

    def search(self, query: int) -> Hits:
        """Answers to the query of this row."""
        if self._status[query] != Status.OK:
            return Hits(np.empty(0, np.int32), np.empty(0))
        return Hits(*self._kernel(*self._arrays, query, *self._sizes))

    def close(self) -> None:
        """Let go of the mapped files."""
        del self._arrays


def _check_keys(fingerprints: Fingerprints, tables: int, words: int) -> None:
    """The kernels look at no bounds.

    Raises:
        SettingError: the fingerprints hold fewer tables or shorter keys than asked for.
    """
    held_tables, held_words, _ = fingerprints.keys.shape
    if tables > held_tables or words > held_words:
        raise SettingError(
            f"the fingerprints hold {held_tables} tables of {held_words} words and {tables} of "
            f"{words} are asked for: fingerprint with the largest sizes"
        )


def _rerank_values(handle: IndexHandle, queries: Fingerprints, by_bits: bool) -> tuple[Any, Any]:
    if by_bits:
        return map_array(handle, "codes"), code_words(queries.codes)
    stored = (Path(handle.location) / "signatures.npy").exists()
    if queries.signatures is None or not stored:
        raise SettingError(
            "rerank 'signature' needs signatures of documents and queries: "
            "fingerprint with signatures, or choose rerank 'code'"
        )
    values = map_array(handle, "signatures")
    if values.shape[1] != queries.signatures.shape[1]:
        raise SettingError(
            f"signatures of {values.shape[1]} rows are indexed and the queries have "
            f"{queries.signatures.shape[1]}: fingerprint both with the same settings"
        )
    return values, np.ascontiguousarray(queries.signatures).view()


class Tables(InProcess):
    """LSH tables and inverted indexes in process."""

    name: ClassVar[str] = "tables"
    kinds: ClassVar[tuple[str, ...]] = ("lsh", "tokens")

    @classmethod
    def impossible(cls, spec: IndexSpec, params: SearchParams) -> str | None:
        """Why this combination does not exist, or None."""
        if problem := misfit(cls.name, cls.kinds, spec, params):
            return problem
        return _lsh_problem(spec, params) if spec.kind == "lsh" else None

    def check(self) -> BackendInfo:
        """Its version is that of the compiler its kernels need."""
        return BackendInfo(f"numba {version('numba')}")

    def build(
        self, spec: IndexSpec, documents: Documents, folder: Path, progress: Progress = no_progress
    ) -> IndexHandle:
        """Sort every table, or list the documents of each hash; only those that are OK."""

        def write(fingerprints: Fingerprints) -> None:
            if spec.kind == "tokens":
                write_postings(folder, fingerprints)
            else:
                _write_tables(spec, fingerprints, folder)
                np.save(folder / "codes.npy", code_words(fingerprints.codes))
                if fingerprints.signatures is not None:
                    np.save(folder / "signatures.npy", fingerprints.signatures)
            progress(len(fingerprints))

        return write_index(spec, documents, folder, write)

    def searcher(self, handle: IndexHandle, params: SearchParams, queries: Queries) -> Searcher:
        """Map the files."""
        if handle.spec.kind == "tokens":
            return SEARCHERS[params.rerank](handle, params, queries)
        return TablesSearcher(handle, params, queries)

    def size_bytes(self, handle: IndexHandle, params: SearchParams) -> int:
        """Bytes of the tables, keys and values that these parameters read."""
        if handle.spec.kind == "tokens":
            return handle.size_bytes
        atom = _atom(handle.spec)
        words, _ = key_shape(params.hash_length or 0, atom)
        entry_bytes = 4 * (words + 1)
        values = "codes" if params.rerank == "code" else "signatures"
        values_bytes = (Path(handle.location) / f"{values}.npy").stat().st_size
        return (params.num_tables or 0) * entry_bytes * handle.documents + values_bytes


def _lsh_problem(spec: IndexSpec, params: SearchParams) -> str | None:
    if not spec.num_tables or not spec.hash_lengths:
        return "lsh needs num_tables and hash_length"
    if not 1 <= (params.num_tables or 0) <= spec.num_tables:
        return f"num_tables {params.num_tables} is not within 1 to {spec.num_tables} as built"
    if not 1 <= (params.hash_length or 0) <= max(spec.hash_lengths):
        longest = max(spec.hash_lengths)
        return f"hash_length {params.hash_length} is not within 1 to {longest} as built"
    return None


def _atom(spec: IndexSpec) -> Atom:
    return registry.family(spec.family).atom if spec.family else "bit"


def _write_tables(spec: IndexSpec, fingerprints: Fingerprints, folder: Path) -> None:
    from indexers.kernels.tables import sort_table

    rows = np.flatnonzero(fingerprints.status == Status.OK).astype(np.int32)
    tables = spec.num_tables or 0
    words, _ = key_shape(max(spec.hash_lengths, default=0), fingerprints.atom)
    _check_keys(fingerprints, tables, words)
    if 0 in (len(rows), tables, words):  # an empty file cannot be mapped
        np.save(folder / "keys.npy", np.empty((tables, words, len(rows)), np.uint32))
        np.save(folder / "order.npy", np.empty((tables, len(rows)), np.int32))
        return
    keys = open_memmap(folder / "keys.npy", "w+", np.uint32, (tables, words, len(rows)))
    order = open_memmap(folder / "order.npy", "w+", np.int32, (tables, len(rows)))

    def sort(table: int) -> None:
        mine = np.take(np.asarray(fingerprints.keys[table, :words]), rows, axis=1)
        positions = sort_table(mine)
        keys[table] = mine[:, positions]
        order[table] = rows[positions]

    threads.mapped(sort, range(tables))


BACKEND = Tables
