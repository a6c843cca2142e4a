"""The published CSFCube row of a constant scorer: every pool in its stored order."""

import json

import numpy as np
import pytest

from harness.measures import ranking


def test_csfcube_pools_in_stored_order(data_dir):
    labels = [
        pool["relevance_adju"]
        for path in sorted((data_dir("csfcube") / "official").glob("test-pid2anns-*.json"))
        for pool in json.loads(path.read_text(encoding="utf-8")).values()
    ]
    assert len(labels) == 50
    sizes = np.array([len(row) for row in labels])
    gains = np.zeros((50, sizes.max()))
    for row, values in zip(gains, labels, strict=True):
        row[: len(values)] = values
    hits = gains >= 2
    relevant = np.maximum(hits.sum(axis=1), 1)
    ap = ranking.average_precision(hits, relevant, "R")
    judged = -np.sort(-gains, axis=1)
    ndcg = ranking.ndcg(gains, judged, discount="jk2", cut=ranking.pool_cut(sizes, 20))
    assert ap.mean() == pytest.approx(0.1325, abs=5e-5)
    assert np.nan_to_num(ndcg).mean() == pytest.approx(0.2520, abs=5e-5)
