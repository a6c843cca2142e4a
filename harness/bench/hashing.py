"""How the bench hashes unless told otherwise, and fingerprints held in memory.

`tune` hashes character 3-grams, which serve near duplicates in any language. The bench compares
texts on one topic, where whole words and weights carry more: `DEFAULTS` were chosen looking at
all queries of CSFCube, so that figures of the defaults on it are not those of unseen queries.
`GRIDS` is what the split `selected` chooses from, never seeing the queries that it is scored on;
but the grids were drawn up on the same data. Intervals cover queries, not seeds.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from indexers import registry
from indexers.types import (
    Fingerprints,
    HashParams,
    Items,
    Progress,
    Ragged,
    TableSize,
    Unit,
    Weighting,
    no_progress,
)

SEED = 123
SEEDS = (
    "123, flyhash 55, as is customary for it; on CSFCube, by jaccard, seeds 0 to 29 give flyhash a "
    "MAP of 0.295 to 0.331 (mean 0.315, standard deviation 0.008), and 55 gives 0.332"
)
"""What a reader must know of the seeds."""
TABLES = 16
"""Of a family whose code is cut by tables, LSHash."""
BLOCK = 8192
_SMALLEST = TableSize(1, 1)

DEFAULTS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        # at 128 bits the seed's luck is worth as much as the choice of features
        "simhash": {"bits": 256, "weighting": "idf"},
        "minhash": {"unit": "word", "shingle_size": 1},
        "flyhash": {"unit": "word", "shingle_size": 1, "weighting": "idf", "seed": 55},
        "winnowing": {"unit": "char", "shingle_size": 6, "window": 4},
        "karp_rabin": {"unit": "word", "shingle_size": 1},
    }
)
"""Family -> what differs from `HashParams`' own defaults."""

_WORDS_OR_CHARS = (
    {"unit": "word", "shingle_size": 1},
    {"unit": "word", "shingle_size": 2},
    {"unit": "char", "shingle_size": 4},
    {"unit": "char", "shingle_size": 5},
)
_WEIGHTED = (
    {"unit": "word", "shingle_size": 1, "weighting": "tf"},
    {"unit": "word", "shingle_size": 1, "weighting": "idf"},
    {"unit": "char", "shingle_size": 4, "weighting": "idf"},
    {"unit": "char", "shingle_size": 5, "weighting": "idf"},
)
_WINDOWS = tuple(
    {**features, "window": window}
    for features in (
        {"unit": "word", "shingle_size": 1},
        {"unit": "char", "shingle_size": 5},
        {"unit": "char", "shingle_size": 6},
    )
    for window in (2, 4)
)

GRIDS: Mapping[str, tuple[Mapping[str, Any], ...]] = MappingProxyType(
    {
        "simhash": _WEIGHTED,
        "minhash": _WORDS_OR_CHARS,
        "flyhash": _WEIGHTED,
        "winnowing": _WINDOWS,
        "karp_rabin": _WORDS_OR_CHARS,
        "lshash": tuple({"num_tables": number} for number in (4, 8, 12, 16, 24, 32)),
    }
)
"""Family -> parameters tried on dev halves besides the defaults, which win among equals; the
others have nothing to choose."""


def bench_params(
    family_name: str,
    *,
    bits: int | None = None,
    seed: int | None = None,
    dimension: int | None = None,
    unit: Unit | None = None,
    shingle_size: int | None = None,
    weighting: Weighting | None = None,
    window: int | None = None,
) -> HashParams:
    """How the bench hashes with a family.

    Args:
        family_name: of a known family.
        bits: width of the code, rows of a minhash signature; None for that of `DEFAULTS`, else
            of `Family.sweep`.
        seed: None for 123, FlyHash 55.
        dimension: D, for families of vectors.
        unit: None for the family's default, as are `shingle_size`, `weighting` and `window`.

    Raises:
        SettingError: the family is unknown, or cannot hash vectors of this dimension.
    """
    family = registry.family(family_name)
    given = {
        "bits": bits,
        "seed": seed,
        "unit": unit,
        "shingle_size": shingle_size,
        "weighting": weighting,
        "window": window,
    }
    values = {
        "seed": SEED,
        "bits": family.sweep(dimension).bits or 0,
        **DEFAULTS.get(family_name, {}),
        **{name: value for name, value in given.items() if value is not None},
    }
    return HashParams(**values, signatures="signature" in family.forms, dimension=dimension)


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to hash with a family.

    Attributes:
        params: how.
        size: of the tables; it is without effect on what is compared, unless the family is not
            nested.
    """

    params: HashParams
    size: TableSize


def variants(family_name: str, default: Variant, given: Collection[str]) -> list[Variant]:
    """What dev halves may choose from besides the default, each once.

    Args:
        family_name: of a known family.
        default: how it is hashed unless told otherwise.
        given: names of parameters that were asked for and are not varied.
    """
    found = [default]
    for changes in GRIDS.get(family_name, ()):
        free = {name: value for name, value in changes.items() if name not in given}
        tables = free.pop("num_tables", default.size.num_tables)
        if (default.params.dimension or 0) % tables == 0:
            size = replace(default.size, num_tables=tables)
            other = Variant(replace(default.params, **free), size)
            found += [other] if other not in found else []
    return found[1:]


def bench_size(family_name: str, params: HashParams) -> TableSize:
    """The table layout to hash with: the least, for the bench compares codes.

    A family that is not nested makes its code of its tables: `TABLES` of them, or the next
    divisor of D.
    """
    if registry.family(family_name).nested or not params.dimension:
        return _SMALLEST
    divisors = [n for n in range(1, params.dimension + 1) if params.dimension % n == 0]
    return TableSize(min(divisors, key=lambda n: (n < TABLES, abs(n - TABLES))), 1)


@dataclass(frozen=True, slots=True)
class Hashed:
    """Fingerprints of both sides by one family.

    Attributes:
        documents: n fingerprints.
        queries: m fingerprints; those of no queries where there are none.
        seconds: spent hashing both, learning weights included.
    """

    documents: Fingerprints
    queries: Fingerprints
    seconds: float


def fingerprint(
    family_name: str,
    params: HashParams,
    documents: Items,
    queries: Items | None = None,
    size: TableSize | None = None,
    progress: Progress = no_progress,
) -> Hashed:
    """Hash documents and queries in memory; weights are learnt from the documents alone.

    Args:
        family_name: of a known family.
        params: how to hash.
        documents: texts, or float32 (n, D).
        queries: of the same kind; None for none.
        size: of the tables; None for `bench_size`.
        progress: called with the number of items done since the last call.

    Raises:
        SettingError: the family cannot hash so, or a vector is not finite.
    """
    size = bench_size(family_name, params) if size is None else size
    started = time.perf_counter()
    hasher = registry.family(family_name).hasher(size, params)
    if params.weighting == "idf":
        for block in _blocks(documents):
            hasher.learn(block)
    asked = documents[:0] if queries is None else queries
    sides = []
    for side in (documents, asked):
        parts = []
        for block in _blocks(side):
            parts.append(hasher(block))
            progress(len(block))
        sides.append(joined(parts or [hasher(side)]))
    return Hashed(sides[0], sides[1], time.perf_counter() - started)


def _blocks(items: Items) -> list[Items]:
    return [items[start : start + BLOCK] for start in range(0, len(items), BLOCK)]


def joined(parts: Sequence[Fingerprints]) -> Fingerprints:
    """Blocks of fingerprints of one family as one block."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]

    def rows(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    return Fingerprints(
        rows("status"),
        rows("codes"),
        np.concatenate([part.keys for part in parts], axis=2),
        first.atom,
        rows("signatures"),
        _chained([part.hashes for part in parts]),
        _chained([part.strings for part in parts]),
        rows("vectors"),
    )


def _chained(parts: Sequence[Ragged | None]) -> Ragged | None:
    there = [part for part in parts if part is not None]
    return Ragged.concatenated(there) if there else None
