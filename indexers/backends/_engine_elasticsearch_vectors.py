"""Elasticsearch's own vector search: `dense_vector` with an index.

| type | held as | score |
|---|---|---|
| `bit` | `element_type: bit`, `l2_norm` | (bits − Hamming) / bits, so that it is exact |
| `float` | float32, `dot_product` of unit vectors | (1 + cosine) / 2 |
| `byte` | each value times 127, rounded; `cosine` | of the rounded vectors |
| `int8`, `int4` | quantised by the engine beside the floats | the engine's estimate |
| `bbq` | a bit a dimension beside the floats | of the floats, see below |

The engine ranks `bbq` again by its floats, of its own accord three times as many as are asked for.
Here a graph gives all its candidates (`ef_search`), and all of them are ranked again, so that
`ef_search` alone says what a search costs and finds; without a graph it is the engine's three
times. `int8` and `int4` are not ranked again, as the engine does not unless asked to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
from numpy.typing import NDArray

from indexers import graph
from indexers.backends._engine_dialect import NativeVectors
from indexers.index_types import IndexSpec

TYPES = ("bit", "float", "byte", "int8", "int4", "bbq")
QUANTISED = ("int8", "int4", "bbq")
SINCE = {"bbq": (8, 18)}
"""The version that a type needs, where the oldest that works at all has it not."""
LEAST_BBQ_DIMENSIONS, MOST_DIMENSIONS = 64, 4096
FLAT_OVERSAMPLE, GRAPH_OVERSAMPLE = 3.0, 1.0


def settings(spec: IndexSpec) -> dict[str, Any]:
    """Of the index: none."""
    del spec
    return {}


def mapping(spec: IndexSpec, held: str, width: int) -> dict[str, Any]:
    """Mapping of the field."""
    element = held if held in ("bit", "byte") else "float"
    similarity = {"bit": "l2_norm", "byte": "cosine"}.get(held, "dot_product")
    return {
        "type": "dense_vector",
        "element_type": element,
        "dims": width,
        "index": True,
        "similarity": similarity,
        "index_options": _options(spec, held),
    }


def _options(spec: IndexSpec, held: str) -> dict[str, Any]:
    name = f"{held}_{spec.kind}" if held in QUANTISED else spec.kind
    if spec.kind == "flat":
        return {"type": name}
    sizes = {"m": graph.m_of(spec), "ef_construction": graph.ef_construction_of(spec)}
    return {"type": name, **sizes}


def values(rows: NDArray[Any]) -> list[bytes]:
    """Codes in hex, vectors as lists."""
    if rows.dtype == "uint8":
        return [b'"%b"' % row.tobytes().hex().encode() for row in rows]
    return [orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY) for row in rows]


def query(spec: IndexSpec, held: str, ef_search: int) -> tuple[bytes, bytes]:
    """A query, what stands before its vector and what after it."""
    field = "c" if held == "bit" else "v"
    sizes = b',"k":%d,"num_candidates":%d' % (ef_search, ef_search)
    if held == "bbq":
        oversample = FLAT_OVERSAMPLE if spec.kind == "flat" else GRAPH_OVERSAMPLE
        sizes += b',"rescore_vector":{"oversample":%.1f}' % oversample
    return b'{"knn":{"field":"%b","query_vector":' % field.encode(), sizes + b"}}"


def similarity(spec: IndexSpec, held: str) -> Callable[[float], float]:
    """What turns a score into bits − Hamming, or a cosine."""
    if held == "bit":
        assert spec.bits is not None
        bits = spec.bits
        return lambda score: float(round(score * bits))
    return lambda score: 2 * score - 1


def problem(spec: IndexSpec, held: str) -> str | None:
    """Why vectors of this dimension cannot be held so, or None."""
    dimension = spec.dimension
    if dimension is None or held == "bit":
        return None
    told = f"elasticsearch holds no vectors of {dimension} dimensions as {held!r}: "
    if dimension > MOST_DIMENSIONS:
        return f"{told}at most {MOST_DIMENSIONS}"
    if held == "int4" and dimension % 2:
        return f"{told}their number must be even, choose int8"
    if held == "bbq" and dimension < LEAST_BBQ_DIMENSIONS:
        return f"{told}at least {LEAST_BBQ_DIMENSIONS}, choose int4"
    return None


NATIVE = NativeVectors(
    types={"hnsw": TYPES, "flat": TYPES},
    engines=(),
    settings=settings,
    mapping=mapping,
    values=values,
    query=query,
    similarity=similarity,
    problem=problem,
)
