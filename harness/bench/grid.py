"""Quality at each size of a fingerprint, as a share of what is hashed.

A cell of num_tables x hash_length compares the atoms of that many tables: bits by Hamming,
minhash rows by agreement. Where tables read one code in orders of their own (BIHash), or cut it
(LSHash), the cell is the code of a width instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.bench.compare import Sides
from harness.bench.config import BenchConfig
from harness.bench.hashing import bench_params, fingerprint
from harness.bench.rows import DIGITS
from harness.bench.scoring import Task, score
from harness.config_problems import ALL
from harness.measures.pooled import AVERAGE_PRECISION
from indexers import registry
from indexers.errors import SettingError
from indexers.protocols import Sweep
from indexers.types import Fingerprints, Form, HashParams, TableSize

WIDTHS = (32, 64, 128, 256, 384, 512, 768, 1024)
"""Code widths of the grid, those that a family takes."""
BY_WIDTH = ("bihash",)
"""Families whose every width is another code, read by all tables alike."""
REFERENCE = {"text": ("karp_rabin", "jaccard"), "vector": ("bge", "cosine")}
"""Source -> the family and similarity that lose nothing."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One size of one family.

    Attributes:
        family: its name.
        num_tables, hash_length: of the keys that are compared; None where a code is.
        bits: atoms compared.
        similarity: by which.
        map_: MAP over all queries.
        reference: what `share` is of.
        share: MAP as a share of the reference's.
    """

    family: str
    num_tables: int | None
    hash_length: int | None
    bits: int
    similarity: str
    map_: float
    reference: str
    share: float | None

    def values(self) -> dict[str, Any]:
        """As the JSON holds it."""
        return {
            "family": self.family,
            "num_tables": self.num_tables,
            "hash_length": self.hash_length,
            "bits": self.bits,
            "similarity": self.similarity,
            AVERAGE_PRECISION: round(self.map_, DIGITS),
            "reference": self.reference,
            "share": None if self.share is None else round(self.share, DIGITS),
        }


@dataclass(frozen=True, slots=True)
class _Compared:
    """Fingerprints of one size."""

    num_tables: int | None
    hash_length: int | None
    atoms: int
    similarity: str
    form: Form
    documents: Fingerprints
    queries: Fingerprints


def grid(task: Task, config: BenchConfig, name: str, sides: Sides) -> Iterator[Cell]:
    """The cells of a family; none where it has no sizes.

    Raises:
        SettingError: the family cannot serve a size that was asked for.
    """
    made = registry.family(name)
    if not made.max_num_tables:
        return
    params = bench_params(name, **config.hashing, dimension=sides.dimension(name))
    sizes = _sizes(config, name, made.sweep(params.dimension))
    label, whole = _reference(task, params, name, sides)
    for cell in _cells(name, params, sizes, sides):
        value = _map(task, cell)
        yield Cell(
            name,
            cell.num_tables,
            cell.hash_length,
            cell.atoms,
            cell.similarity,
            value,
            label,
            value / whole if whole else None,
        )


def _map(task: Task, cell: _Compared) -> float:
    similarity = registry.similarity(cell.similarity)
    scored = score(task, similarity, cell.form, cell.documents, cell.queries)
    return float(scored.pooled.per_query[AVERAGE_PRECISION].mean())


def _sizes(config: BenchConfig, name: str, default: Sweep) -> Sweep:
    tables = config.num_tables.get(name) or config.num_tables.get(ALL)
    lengths = config.hash_length.get(name) or config.hash_length.get(ALL)
    return replace(
        default,
        num_tables=tuple(sorted(set(tables or default.num_tables))),
        hash_lengths=tuple(sorted(set(lengths or default.hash_lengths))),
    )


def _reference(task: Task, params: HashParams, name: str, sides: Sides) -> tuple[str, float]:
    """Its label and MAP: all words or n-grams that the family hashes, or the vectors."""
    family, similarity = REFERENCE[registry.family(name).source]
    form = registry.fitting_form(family, similarity)
    assert form is not None
    printed = fingerprint(family, replace(params, signatures=False), *sides.of(name))
    cell = _Compared(None, None, 0, similarity, form, printed.documents, printed.queries)
    features = f"{params.unit} {params.shingle_size}-grams" if family != "bge" else "vectors"
    return f"exact {similarity} of {features}", _map(task, cell)


def _cells(name: str, params: HashParams, sizes: Sweep, sides: Sides) -> Iterator[_Compared]:
    if not registry.family(name).nested:
        return _cut_codes(name, params, sizes, sides)
    if name in BY_WIDTH:
        return _codes(name, params, sides)
    return _tables(name, params, sizes, sides)


def _tables(name: str, params: HashParams, sizes: Sweep, sides: Sides) -> Iterator[_Compared]:
    largest = TableSize(max(sizes.num_tables), max(sizes.hash_lengths))
    printed = fingerprint(name, params, *sides.of(name), size=largest)
    is_row = registry.family(name).atom == "row"
    for num_tables in sizes.num_tables:
        for length in sizes.hash_lengths:
            both = [_of_keys(p, num_tables, length) for p in (printed.documents, printed.queries)]
            yield _Compared(
                num_tables,
                length,
                num_tables * length,
                "agreement" if is_row else "hamming",
                "signature" if is_row else "bits",
                both[0],
                both[1],
            )


def _of_keys(printed: Fingerprints, num_tables: int, length: int) -> Fingerprints:
    """The first atoms of the first tables, as a signature or a code."""
    n = len(printed)
    empty = np.zeros((0, 0, n), np.uint32)
    keys = printed.keys[:num_tables]
    if printed.atom == "row":
        rows = np.ascontiguousarray(keys[:, :length].reshape(-1, n).T)
        return Fingerprints(printed.status, np.zeros((n, 0), np.uint8), empty, "row", rows)
    words = np.ascontiguousarray(keys.transpose(2, 0, 1)).astype(">u4")
    bits = np.unpackbits(words.view(np.uint8).reshape(n, len(keys), -1), axis=2)[:, :, :length]
    codes = np.packbits(bits.reshape(n, -1), axis=1)
    return Fingerprints(printed.status, codes, empty, "bit")


def _codes(name: str, params: HashParams, sides: Sides) -> Iterator[_Compared]:
    """Codes of every width that the family takes."""
    for bits in sorted({*WIDTHS, params.bits}):
        wide = replace(params, bits=bits)
        try:
            printed = fingerprint(name, wide, *sides.of(name))
        except SettingError:
            continue  # vectors of this dimension have no such width
        yield _of_code(None, None, bits, printed.documents, printed.queries)


def _cut_codes(name: str, params: HashParams, sizes: Sweep, sides: Sides) -> Iterator[_Compared]:
    """Codes of every width by every number of tables."""
    for num_tables in sizes.num_tables:
        for bits in sorted({*WIDTHS[1:6], params.bits}):
            wide, size = replace(params, bits=bits), TableSize(num_tables, 1)
            printed = fingerprint(name, wide, *sides.of(name), size=size)
            length = -(-bits // num_tables)
            yield _of_code(num_tables, length, bits, printed.documents, printed.queries)


def _of_code(
    num_tables: int | None,
    length: int | None,
    bits: int,
    documents: Fingerprints,
    queries: Fingerprints,
) -> _Compared:
    return _Compared(num_tables, length, bits, "hamming", "bits", documents, queries)
