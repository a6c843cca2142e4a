"""A small judged corpus in memory."""

from __future__ import annotations

import numpy as np
import pytest

from harness.collection.pools import Fold, Pools
from harness.collection.types import Corpus

TOPICS = (
    "red apple tree orchard fruit garden",
    "deep sea whale ocean water fish",
    "fast train rail station ticket journey",
    "old castle king tower stone history",
)
EXTRA = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def make_pools(benchmark: str | None = None) -> Pools:
    """Four topics of six documents; a query of each topic, its own document left out."""
    texts = [f"{topic} {' '.join(EXTRA[k : k + 4])}" for topic in TOPICS for k in range(6)]
    ids = [f"{n:02d}" for n in range(len(texts))]
    own = np.array([0, 6, 12, 18], np.int32)
    candidates, gains = [], []
    for topic, document in enumerate(own):
        others = [d for d in range(len(texts)) if d != document][:: 1 if topic % 2 else -1]
        candidates += others
        gains += [3.0 if d // 6 == topic and d % 2 else float(d // 6 == topic) for d in others]
    corpus = Corpus(
        name="topics",
        content="0" * 32,
        ids=ids,
        texts=texts,
        query_ids=[f"q{n}" for n in range(4)],
        query_texts=[texts[d] for d in own],
        query_self=own,
        judgments=None,
        source="made for tests",
    )
    rows = np.arange(4, dtype=np.int64)
    return Pools(
        corpus=corpus,
        queries=rows,
        facets=("a", "a", "b", "b"),
        indptr=np.arange(5, dtype=np.int64) * (len(texts) - 1),
        candidates=np.array(candidates, np.int32),
        gains=np.array(gains),
        folds=(Fold(rows[::2], rows[1::2]), Fold(rows[1::2], rows[::2])),
        benchmark=benchmark,
    )


@pytest.fixture
def topics() -> Pools:
    return make_pools()


@pytest.fixture
def published_topics() -> Pools:
    return make_pools("csfcube")
