"""What families make of documents with little in them: the status of each, asked of the hasher."""

from __future__ import annotations

import numpy as np

from indexers.protocols import Family
from indexers.types import F32, HashParams, Status, TableSize

DIMENSION = 384
"""Of the vectors asked about; a common size that every default width fits."""
PROBES = ("empty", "one character", "one word repeated", "prose")
_PROSE = (
    "A fingerprint is a short summary of a document by which near-duplicates are found without "
    "reading either document again. Families differ in what they keep: the commonest direction "
    "of all features, the least values of many permutations, or a thinned list of the hashes of "
    "all runs of characters. What is kept decides which changes of a text go unnoticed."
)
_TEXTS = ("", "a", "word " * 1000, _PROSE)
VECTOR_PROBES = ("zero", "any other")


def statuses(family: Family) -> dict[str, str]:
    """The status of each probe: of texts, or of vectors, as the family takes them.

    Empty for a family that gives no fingerprints.

    Raises:
        MissingPackage: the family's hasher needs one.
    """
    if not family.forms:
        return {}
    sweep = family.sweep(DIMENSION)
    size = TableSize(min(sweep.num_tables, default=1), min(sweep.hash_lengths, default=1))
    of_vectors = family.source == "vector"
    params = HashParams(bits=sweep.bits or 0, seed=123, dimension=DIMENSION if of_vectors else None)
    hasher = family.hasher(size, params)
    found = hasher(_vectors() if of_vectors else list(_TEXTS)).status
    names = VECTOR_PROBES if of_vectors else PROBES
    return {name: Status(value).name.lower() for name, value in zip(names, found, strict=True)}


def _vectors() -> F32:
    made = np.zeros((len(VECTOR_PROBES), DIMENSION), np.float32)
    made[1] = np.sin(np.arange(1, DIMENSION + 1))
    return made
