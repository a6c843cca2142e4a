"""What the two engines say each in its own way: codes, vectors, and the limit of a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from numpy.typing import NDArray

from indexers.http_request import HttpRequest
from indexers.index_types import IndexSpec
from indexers.types import F32


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
class NativeVectors:
    """An engine's own vector search; `held` is always a vector type (`IndexSpec.vector_type`).

    Attributes:
        types: index kind -> the types in which it can be held; none where the kind has no such
            search.
        engines: libraries of graphs to choose from; empty without a choice.
        settings: spec -> settings of the index that it needs.
        mapping: (spec, held, width) -> mapping of the field; the width is bits of a code or the
            dimension of a vector.
        values: codes (uint8), vectors (float32) or whole numbers (int8) -> JSON of each row.
        query: (spec, held, candidates to keep) -> the query, what stands before its vector and
            what after it.
        similarity: (spec, held) -> what turns a score into bits − Hamming, or a cosine.
        problem: (spec, held) -> why vectors of this dimension cannot be held so, or None.
    """

    types: Mapping[str, tuple[str, ...]]
    engines: tuple[str, ...]
    settings: Callable[[IndexSpec], dict[str, Any]]
    mapping: Callable[[IndexSpec, str, int], dict[str, Any]]
    values: Callable[[NDArray[Any]], list[bytes]]
    query: Callable[[IndexSpec, str, int], tuple[bytes, bytes]]
    similarity: Callable[[IndexSpec, str], Callable[[float], float]]
    problem: Callable[[IndexSpec, str], str | None]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an engine is told and asked what is not the same in both.

    Attributes:
        code: the re-ranking code, uint8 (n, bits / 8), field `c`; a score is bits − Hamming.
        vector: vectors of unit length, float32 (n, D), field `v`; ranked by cosine.
        native: the engine's own vector search.
        limit: what is asked for the clauses that the server allows in a query now.
        clause_limit: that number, from the reply.
    """

    code: ScoredField
    vector: ScoredField
    native: NativeVectors
    limit: HttpRequest
    clause_limit: Callable[[dict[str, Any]], int]


def vector_values(vectors: F32) -> list[bytes]:
    """Each vector as a list."""
    return [orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY) for vector in vectors]
