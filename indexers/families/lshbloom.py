"""LSHBloom (Khan et al., "LSHBloom: memory-efficient, extreme-scale document deduplication",
2024): MinHash bands kept in one Bloom filter each, by datasketch.

b bands of r rows are chosen as there: b · r ≤ num_perm with the least sum of ∫₀ᵗ 1 − (1 − sʳ)ᵇ ds
and ∫ₜ¹ (1 − sʳ)ᵇ ds, the areas of false positives and negatives at threshold t.

It tells whether a near duplicate of a text was inserted, never which: it has no fingerprint, no
index kind and no ranking. `Membership` is scored as a classifier by `harness bench classifier`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from indexers import limits
from indexers.errors import MissingPackage, SettingError, pip_line
from indexers.protocols import Hasher, Sweep
from indexers.types import U8, U32, Atom, Bool, Form, HashParams, Source, Status, TableSize

PACKAGES = {"datasketch": "datasketch", "pybloomfilter": "pybloomfilter3"}
HASH_FUNCTIONS = 64
"""Seeds drawn for each filter; it uses as many as its false-positive rate asks for, -log2 fp."""
LEAST_FP = 1e-9
"""A filter is told a band by the sum of its rows of 32 bits. Two bands have one sum about as often
as once in 2^32, so that no filter of them is wrong much less often, however large it is made."""
GREATEST_FP = 0.5
"""Of one hash function; a filter has no fewer."""


class LSHBloom:
    """The family: membership alone."""

    name: ClassVar[str] = "lshbloom"
    version: ClassVar[int] = 1
    source: ClassVar[Source] = "text"
    atom: ClassVar[Atom] = "bit"
    forms: ClassVar[tuple[Form, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = ()
    reranks: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[tuple[str, ...]] = ()
    nested: ClassVar[bool] = True
    finite: ClassVar[bool] = False
    max_num_tables: ClassVar[int] = 0
    max_hash_length: ClassVar[int] = 0

    def sweep(self, dimension: int | None = None) -> Sweep:  # noqa: ARG002  # texts have none
        """Nothing to sweep: no code and no tables."""
        return Sweep(None)

    def check(self, size: TableSize, params: HashParams) -> None:
        """Refuse what no family of texts can serve; there are no sizes to look at.

        Raises:
            SettingError: a value is out of range.
        """
        limits.check(self, size, params)

    def hasher(self, size: TableSize, params: HashParams) -> Hasher:
        """There is none.

        Raises:
            SettingError: always.
        """
        self.check(size, params)
        raise SettingError(
            "lshbloom gives membership, not fingerprints: score it with `harness bench classifier`"
        )


@dataclass(frozen=True, slots=True)
class Bands:
    """How signatures are cut.

    Attributes:
        bands: b, how many Bloom filters there are.
        rows: r, of the signature in each band.
        unused: rows of the signature that no band reads.
        threshold: Jaccard that b and r were chosen for.
        fp: false-positive rate of one filter, once it holds what it was made for.
    """

    bands: int
    rows: int
    unused: int
    threshold: float
    fp: float

    @property
    def net_fp(self) -> float:
        """False-positive rate of all filters together: 1 − (1 − fp)^b."""
        return 1.0 - (1.0 - self.fp) ** self.bands

    @property
    def found_at_threshold(self) -> float:
        """Chance that a pair at the threshold shares a band: 1 − (1 − t^r)^b."""
        return float(1.0 - (1.0 - self.threshold**self.rows) ** self.bands)


class Membership:
    """Answers whether a near duplicate was inserted.

    Args:
        expected: signatures that will be inserted, at least 1; the filters are sized by it.
        threshold: Jaccard in (0, 1) that datasketch chooses the bands for.
        num_perm: rows of a signature, a multiple of 64 up to 4,096.
        fp: false-positive rate of each band's filter, 1e-9 to 0.5.
        seed: of the filters' hash functions.

    Raises:
        SettingError: a value is out of range, or the threshold leaves fewer than two bands.
        MissingPackage: datasketch or its Bloom filter is not installed.
    """

    def __init__(
        self, expected: int, *, threshold: float, num_perm: int = 128, fp: float, seed: int = 123
    ) -> None:
        _check(expected, threshold, num_perm, fp)
        bands, rows = chosen_bands(threshold, num_perm)
        self.bands = Bands(bands, rows, num_perm - bands * rows, threshold, fp)
        self._index = _index(expected, self.bands, num_perm)
        _seed_filters(self._index, expected, fp, seed)

    @property
    def size_bytes(self) -> int:
        """Of all filters' bits."""
        return sum(int(table.bloom_filter.num_bits) // 8 for table in self._index.hashtables)

    def insert(self, signatures: U32, status: U8) -> int:
        """Insert what is OK.

        Args:
            signatures: uint32 (n, num_perm).
            status: uint8 (n,), `Status`.

        Returns:
            How many were inserted.
        """
        rows = np.flatnonzero(status == Status.OK)
        for row in rows:
            self._index.insert(_Signature(signatures[row]))
        return len(rows)

    def query(self, signatures: U32, status: U8) -> Bool:
        """Which signatures have a near duplicate, as far as the filters tell.

        Args:
            signatures: uint32 (m, num_perm).
            status: uint8 (m,), `Status`; what is not OK resembles nothing.

        Returns:
            bool (m,).
        """
        answers = np.zeros(len(signatures), np.bool_)
        for row in np.flatnonzero(status == Status.OK):
            answers[row] = self._index.query(_Signature(signatures[row]))
        return answers


class _Signature:
    """As much of datasketch's MinHash as its index reads."""

    scheme = "affine32"

    def __init__(self, values: U32) -> None:
        self.hashvalues = values

    def __len__(self) -> int:
        return len(self.hashvalues)


def chosen_bands(threshold: float, num_perm: int) -> tuple[int, int]:
    """How many bands, and of how many rows, serve a threshold best.

    Args:
        threshold: Jaccard in (0, 1).
        num_perm: rows of a signature.

    Raises:
        SettingError: they are fewer than two bands.
    """
    sizes = [(b, r) for b in range(1, num_perm + 1) for r in range(1, num_perm // b + 1)]
    bands, rows = np.array(sizes, np.float64).T
    # polynomials of a degree up to num_perm: exact to 398, and smooth beyond
    places, weights = np.polynomial.legendre.leggauss(min(num_perm // 2 + 1, 200))
    error = np.zeros(len(sizes))
    for low, high, is_miss in ((0.0, threshold, False), (threshold, 1.0, True)):
        for place, weight in zip(places, weights, strict=True):
            s = low + (high - low) * (place + 1) / 2
            missed = (1 - s**rows) ** bands
            error += weight * (high - low) / 2 * (missed if is_miss else 1 - missed)
    found = sizes[int(np.argmin(error))]
    if found[0] < 2:
        raise SettingError(
            f"lshbloom: threshold {threshold:g} leaves fewer than two bands of {num_perm} rows; "
            "lower the threshold or raise num_perm"
        )
    return found


def _check(expected: int, threshold: float, num_perm: int, fp: float) -> None:
    whole = num_perm % 64 == 0 and 64 <= num_perm <= limits.MAX_BITS
    problems = [
        f"lshbloom: {name} {value} is out of range: {allowed}"
        for name, value, good, allowed in (
            ("expected", expected, expected >= 1, "documents to insert, from 1"),
            ("threshold", threshold, 0 < threshold < 1, "above 0, below 1"),
            ("num_perm", num_perm, whole, f"a multiple of 64 from 64 to {limits.MAX_BITS}"),
            ("fp", fp, LEAST_FP <= fp <= GREATEST_FP, f"{LEAST_FP:g} to {GREATEST_FP:g}"),
        )
        if not good
    ]
    if problems:
        raise SettingError(*problems)


def _index(expected: int, bands: Bands, num_perm: int) -> Any:
    missing = [package for module, package in PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise MissingPackage(f"lshbloom needs {' and '.join(missing)}: {pip_line('bloom')}")
    from datasketch import MinHashLSHBloom

    with warnings.catch_warnings():
        # kept in memory on purpose
        warnings.simplefilter("ignore", RuntimeWarning)
        return MinHashLSHBloom(
            num_perm=num_perm, n=expected, fp=bands.fp, params=(bands.bands, bands.rows)
        )


def _seed_filters(index: Any, expected: int, fp: float, seed: int) -> None:
    """Give the filters seeded hash functions: by themselves they draw others in each process."""
    from pybloomfilter import BloomFilter

    random = np.random.RandomState(seed)
    for table in index.hashtables:
        seeds = random.randint(1, 2**31 - 1, HASH_FUNCTIONS)
        count = int(table.bloom_filter.num_hashes)
        table.bloom_filter = BloomFilter(
            expected, fp, None, hash_seeds=[int(value) for value in seeds[:count]]
        )


FAMILY = LSHBloom()
