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
from harness.bench.grid_sizes import Plan
from harness.bench.hashing import fingerprint
from harness.bench.rows import DIGITS
from harness.bench.scoring import Task, score
from harness.bench.weighted import counted
from harness.measures.pooled import AVERAGE_PRECISION
from indexers import registry
from indexers.types import Fingerprints, Form, TableSize

WIDTHS = (32, 64, 128, 256, 384, 512, 768, 1024)
"""Code widths of the grid, those that a family takes."""
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


def grid(task: Task, plan: Plan, sides: Sides) -> Iterator[Cell]:
    """The cells of a family.

    Raises:
        SettingError: the family cannot hash so.
    """
    label, whole = _reference(task, plan, sides)
    for cell in _cells(plan, sides):
        value = _map(task, cell)
        yield Cell(
            plan.family,
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


def _reference(task: Task, plan: Plan, sides: Sides) -> tuple[str, float]:
    """Its label and MAP: all words or n-grams that the family hashes, or the vectors.

    Of a family that weighs them the cosine of weighted shingles, of one that does not Jaccard.
    """
    if "weighting" in registry.family(plan.family).reads:
        return _weighted(task, plan, sides)
    family, similarity = REFERENCE[registry.family(plan.family).source]
    form = registry.fitting_form(family, similarity)
    assert form is not None
    params = replace(plan.params, signatures=False)
    hashed = fingerprint(family, params, *sides.of(plan.family))
    cell = _Compared(None, None, 0, similarity, form, hashed.documents, hashed.queries)
    features = f"{params.unit} {params.shingle_size}-grams" if family != "bge" else "vectors"
    return f"exact {similarity} of {features}", _map(task, cell)


def _weighted(task: Task, plan: Plan, sides: Sides) -> tuple[str, float]:
    params = plan.params
    similarity, documents, queries = counted(*sides.of(plan.family), params)
    scored = score(task, similarity, "sequence", documents, queries)
    weights = "tf-idf" if params.weighting == "idf" else "tf"
    value = float(scored.pooled.per_query[AVERAGE_PRECISION].mean())
    return f"exact cosine of {weights} of {params.unit} {params.shingle_size}-grams", value


def _cells(plan: Plan, sides: Sides) -> Iterator[_Compared]:
    if plan.hash_lengths:
        return _tables(plan, sides)
    return _cut_codes(plan, sides) if plan.num_tables else _codes(plan, sides)


def _tables(plan: Plan, sides: Sides) -> Iterator[_Compared]:
    largest = TableSize(max(plan.num_tables), max(plan.hash_lengths))
    hashed = fingerprint(plan.family, plan.params, *sides.of(plan.family), size=largest)
    is_row = registry.family(plan.family).atom == "row"
    for num_tables in plan.num_tables:
        for length in plan.hash_lengths:
            both = [_of_keys(p, num_tables, length) for p in (hashed.documents, hashed.queries)]
            yield _Compared(
                num_tables,
                length,
                num_tables * length,
                "agreement" if is_row else "hamming",
                "signature" if is_row else "bits",
                both[0],
                both[1],
            )


def _of_keys(fingerprints: Fingerprints, num_tables: int, length: int) -> Fingerprints:
    """The first atoms of the first tables, as a signature or a code."""
    n = len(fingerprints)
    empty = np.zeros((0, 0, n), np.uint32)
    keys = fingerprints.keys[:num_tables]
    if fingerprints.atom == "row":
        rows = np.ascontiguousarray(keys[:, :length].reshape(-1, n).T)
        return Fingerprints(fingerprints.status, np.zeros((n, 0), np.uint8), empty, "row", rows)
    words = np.ascontiguousarray(keys.transpose(2, 0, 1)).astype(">u4")
    bits = np.unpackbits(words.view(np.uint8).reshape(n, len(keys), -1), axis=2)[:, :, :length]
    codes = np.packbits(bits.reshape(n, -1), axis=1)
    return Fingerprints(fingerprints.status, codes, empty, "bit")


def _codes(plan: Plan, sides: Sides) -> Iterator[_Compared]:
    """Codes of every width that the family takes."""
    for bits in plan.widths:
        wide = replace(plan.params, bits=bits)
        hashed = fingerprint(plan.family, wide, *sides.of(plan.family))
        yield _of_code(None, None, bits, hashed.documents, hashed.queries)


def _cut_codes(plan: Plan, sides: Sides) -> Iterator[_Compared]:
    """Codes of every width by every number of tables."""
    for num_tables in plan.num_tables:
        for bits in plan.widths:
            wide, size = replace(plan.params, bits=bits), TableSize(num_tables, 1)
            hashed = fingerprint(plan.family, wide, *sides.of(plan.family), size=size)
            length = -(-bits // num_tables)
            yield _of_code(num_tables, length, bits, hashed.documents, hashed.queries)


def _of_code(
    num_tables: int | None,
    length: int | None,
    bits: int,
    documents: Fingerprints,
    queries: Fingerprints,
) -> _Compared:
    return _Compared(num_tables, length, bits, "hamming", "bits", documents, queries)
