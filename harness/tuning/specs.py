"""The index that serves a setting, and how it is searched."""

from __future__ import annotations

from harness.filters import attributes_of, filter_of
from harness.settings import Setting, layout_of
from indexers.index_types import IndexSpec, SearchParams


def spec_of(setting: Setting) -> IndexSpec:
    """The smallest index that serves this setting."""
    return IndexSpec(
        backend=setting.backend,
        kind=setting.kind,
        family=setting.family,
        num_tables=setting.num_tables,
        hash_lengths=() if setting.hash_length is None else (setting.hash_length,),
        bits=setting.bits,
        m=setting.m,
        ef_construction=setting.ef_construction,
        vector_type=setting.vector_type,
        knn_engine=setting.knn_engine,
        layout=layout_of(setting),
        attributes=attributes_of((setting.filter,)),
    )


def params_of(setting: Setting, k: int) -> SearchParams:
    """How that index is searched for k answers."""
    return SearchParams(
        k=k,
        num_tables=setting.num_tables,
        hash_length=setting.hash_length,
        rerank=setting.rerank or "code",
        ef_search=setting.ef_search,
        window_size=setting.window_size,
        filter=filter_of(setting.filter),
        fetch_source=setting.fetch == "source",
    )
