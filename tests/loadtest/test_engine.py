"""A real load process against a real search engine."""

from __future__ import annotations

import numpy as np
import pytest

from indexers import registry, store
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import Fingerprints
from loadtest.profile import UNDER_LOAD, LoadProfile, Target

pytestmark = pytest.mark.engine


def test_answers_under_load_are_those_of_the_engine(opensearch_url, runner, tmp_path) -> None:
    rng = np.random.default_rng(11)

    def prints(n: int) -> Fingerprints:
        codes = rng.integers(0, 256, (n, 16)).astype(np.uint8)
        keys = rng.integers(0, 2**32, (5, 1, n), dtype=np.uint64).astype(np.uint32)
        return Fingerprints(np.zeros(n, np.uint8), codes, keys, "bit")

    documents, queries = prints(300), Queries(["q"] * 20, prints(20))
    ids = [f"d{n:03}" for n in range(300)]
    config = BackendConfig(url=opensearch_url, owner="loadtest")
    opensearch = registry.backend("opensearch")(config)
    store.save_queries(tmp_path / "queries", queries)
    store.save_ids(tmp_path / "ids.json", ids)
    (tmp_path / "index").mkdir()
    spec = IndexSpec("opensearch", "lsh", "simhash", 5, (4,), 128)
    handle = opensearch.build(spec, Documents(ids, ids, documents), tmp_path / "index")
    try:
        params, runnable = SearchParams(10, 5, 4), np.arange(20, dtype=np.int32)
        target = Target(
            config, handle, params, tmp_path / "queries", tmp_path / "ids.json", runnable
        )
        profile = LoadProfile(rate_per_s=50, samples=60, burst_s=0.2, timeout_s=5.0)
        result = runner.run(target, profile)
        searcher = opensearch.open(handle, params, queries, ids)
        for query in range(20):
            wanted = searcher.search(query).ordinals.tolist()
            assert [found for found in result.answers[query].tolist() if found >= 0] == wanted
        searcher.close()
    finally:
        opensearch.drop(handle)
    assert set(result.state) == {UNDER_LOAD}
    assert (result.errors, result.error_texts) == (0, ())
    assert result.qps > 0
