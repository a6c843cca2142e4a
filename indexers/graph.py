"""Sizes of hierarchical navigable small-world graphs, the same for every backend that has them.

After Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using
hierarchical navigable small world graphs" (TPAMI 2020), whose names they keep.
"""

from __future__ import annotations

from indexers.index_types import IndexSpec, SearchParams

USUAL_M, USUAL_EF_CONSTRUCTION, USUAL_EF_SEARCH = 16, 200, 64
"""What an index is built and searched with where nothing is said."""
SWEPT_EF_SEARCH = (32, 64, 128, 256)
"""What a study searches with unless told otherwise."""
RANGES = {"m": (2, 512), "ef_construction": (1, 10_000), "ef_search": (1, 10_000)}
"""Least and greatest values."""


def m_of(spec: IndexSpec) -> int:
    """Links of a node; twice as many on the lowest layer."""
    return USUAL_M if spec.m is None else spec.m


def ef_construction_of(spec: IndexSpec) -> int:
    """Candidates among which the links of a new node are chosen."""
    return USUAL_EF_CONSTRUCTION if spec.ef_construction is None else spec.ef_construction


def ef_search_of(params: SearchParams) -> int:
    """Candidates that a search keeps: never fewer than the answers asked for."""
    ef_search = USUAL_EF_SEARCH if params.ef_search is None else params.ef_search
    return max(ef_search, params.k)


def beyond(name: str, value: int) -> str | None:
    """Why a size is out of range, or None.

    Args:
        name: of `RANGES`.
        value: as asked for.
    """
    low, high = RANGES[name]
    return None if low <= value <= high else f"{name} {value} is out of range: {low} to {high}"


def problem(spec: IndexSpec, params: SearchParams) -> str | None:
    """Why no graph has these sizes, or None."""
    sizes = {
        "m": spec.m,
        "ef_construction": spec.ef_construction,
        "ef_search": params.ef_search,
    }
    found = [beyond(name, value) for name, value in sizes.items() if value is not None]
    told = [line for line in found if line]
    return "; ".join(told) or None
