"""Weights that a hasher learnt from a corpus, kept so that other documents get the same.

A shingle is told by 8 bytes of BLAKE2b, personalised `weights`: 10 million shingles meet by chance
once in 370,000 collections, and two that meet would share the weight of the first.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from indexers.errors import SettingError
from indexers.manifest import writing
from indexers.protocols import Hasher
from indexers.text import Shingler, TokenBlock
from indexers.types import U8, U64


@dataclass(frozen=True, slots=True)
class LearntWeights:
    """Weight of each shingle of a corpus, in units of 1 / `indexers.weights.SCALE`.

    Attributes:
        digest: of what they were learnt from, `Hasher.learnt`.
        hashes: uint64 (n,), of the shingles, ascending.
        weights: uint8 (n,).
        unseen: weight of every other shingle.
    """

    digest: str
    hashes: U64
    weights: U8
    unseen: int


@runtime_checkable
class Weighting(Protocol):
    """A hasher that weights shingles."""

    def weights_learnt(self) -> LearntWeights | None:
        """What it learnt; None where all weights are one."""
        ...

    def use_weights(self, learnt: LearntWeights) -> None:
        """Weight by these, and learn no more."""
        ...


def shingle_hashes(shingles: Iterable[bytes]) -> U64:
    """uint64 (n,), one a shingle."""
    joined = b"".join(
        hashlib.blake2b(shingle, digest_size=8, person=b"weights").digest() for shingle in shingles
    )
    return np.frombuffer(joined, "<u8").astype(np.uint64)


class KnownWeights:
    """Weights of a growing vocabulary, looked up; in place of counted ones."""

    def __init__(self, learnt: LearntWeights) -> None:
        self._learnt = learnt
        self._weights = np.zeros(0, np.uint8)

    def learn(self, block: TokenBlock, vocabulary: int) -> None:
        """Nothing more is learnt."""

    def digest(self) -> str:
        """Of what the weights were learnt from."""
        return self._learnt.digest

    def of(self, shingler: Shingler) -> U8:
        """Weight of each shingle known by now: uint8, by id."""
        start, stop = len(self._weights), shingler.size
        if stop > start:
            known, asked = self._learnt.hashes, shingle_hashes(shingler.shingles(start, stop))
            new = np.full(stop - start, self._learnt.unseen, np.uint8)
            if len(known):
                places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
                there = known[places] == asked
                new[there] = self._learnt.weights[places[there]]
            self._weights = np.concatenate((self._weights, new))
        return self._weights

    def table(self, shingler: Shingler) -> LearntWeights:
        """What was given."""
        del shingler
        return self._learnt


def save_learnt(hasher: Hasher, path: Path) -> None:
    """Write what a hasher learnt, for `load_learnt`; nothing where it learnt nothing.

    Raises:
        BackendError: the file cannot be written.
    """
    found = hasher.weights_learnt() if isinstance(hasher, Weighting) else None
    if found is None:
        return
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial")
        with partial.open("wb") as file:
            np.savez(
                file,
                digest=np.array(found.digest),
                hashes=found.hashes,
                weights=found.weights,
                unseen=np.uint8(found.unseen),
            )
        partial.replace(path)


def load_learnt(hasher: Hasher, path: Path, digest: str) -> None:
    """Have a hasher weight as one did that learnt from a corpus.

    Args:
        hasher: of the same family and parameters.
        path: from `save_learnt`.
        digest: that the weights must have.

    Raises:
        SettingError: the file is missing, damaged, or holds others.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            found = LearntWeights(
                str(held["digest"]), held["hashes"], held["weights"], int(held["unseen"])
            )
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        told = " ".join(str(error).split())
        raise SettingError(f"weights {path} cannot be read ({told}): take the file anew") from None
    if found.digest != digest or not isinstance(hasher, Weighting):
        raise SettingError(
            f"weights {path} are of {found.digest}, not {digest}: take the file anew"
        )
    hasher.use_weights(found)
