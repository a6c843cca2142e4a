"""Ids that come twice, found with eight bytes for each."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np

Place = TypeVar("Place")


class Repeats:
    """Digests of all ids seen; those that clash are told apart in a second reading."""

    def __init__(self) -> None:
        self._digests = array("Q")

    def add(self, name: str) -> None:
        """See an id."""
        self._digests.append(_digest(name))

    def doubtful(self) -> frozenset[int]:
        """Digests that came more than once; rarely those of two ids."""
        found = np.sort(np.frombuffer(self._digests, np.uint64))
        return frozenset(found[1:][found[1:] == found[:-1]].tolist())


def repeated(
    named: Iterable[tuple[Place, str]], doubtful: frozenset[int]
) -> Iterator[tuple[Place, str, Place]]:
    """Where an id comes again, the id, and where it came first.

    Args:
        named: places and ids, in a second reading.
        doubtful: from `Repeats.doubtful` of the first.
    """
    seen: dict[str, Place] = {}
    for place, name in named:
        if _digest(name) in doubtful:
            if name in seen:
                yield place, name, seen[name]
            seen.setdefault(name, place)


def _digest(name: str) -> int:
    held = name.encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(held, digest_size=8).digest())
