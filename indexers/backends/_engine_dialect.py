"""What the two engines say each in its own way: codes, vectors, and the limit of a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ScoredField:
    """A field by which `script_score` ranks.

    Attributes:
        mapping: width (bits of a code, dimension of a vector) -> mapping of the field.
        values: rows of codes or vectors -> JSON value of each document.
        scripts: rows of codes or vectors -> JSON script of each query.
        similarity: the similarity that a score tells.
    """

    mapping: Callable[[int], dict[str, Any]]
    values: Callable[[NDArray[Any]], list[bytes]]
    scripts: Callable[[NDArray[Any]], list[bytes]]
    similarity: Callable[[float], float] = float


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an engine is told and asked what is not the same in both.

    Attributes:
        code: the re-ranking code, uint8 (n, bits / 8), field `c`; a score is bits − Hamming.
        vector: vectors of unit length, float32 (n, D), field `v`; ranked by cosine.
        limit_path: what to GET for the clauses that the server allows in a query now.
        clause_limit: that number, from the reply.
    """

    code: ScoredField
    vector: ScoredField
    limit_path: str
    clause_limit: Callable[[dict[str, Any]], int]
