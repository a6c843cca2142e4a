"""The real corpora, against the counts that their makers wrote down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.collection import source, truth
from harness.collection.types import Corpus

DataDir = Callable[[str], Path]

COUNTS = {
    "debian-neardup": (12000, 500, {1: 3926, 2: 1552, 3: 586}),
    "chorus-icecat": (19406, 135, {0: 1853, 1: 238, 2: 105, 3: 1472}),
    "csfcube": (4205, 50, {0: 4400, 1: 1348, 2: 412, 3: 84}),
    "scifact": (5183, 809, {1: 919}),
}
SELF = {"debian-neardup": 500, "chorus-icecat": 0, "csfcube": 50, "scifact": 0}


def judged_pairs(corpus: Corpus) -> dict[tuple[str, str], float]:
    assert corpus.judgments is not None
    bounds = corpus.judgments.indptr.tolist()
    return {
        (name, corpus.ids[corpus.judgments.documents[pair]]): float(corpus.judgments.gains[pair])
        for row, name in enumerate(corpus.query_ids)
        for pair in range(bounds[row], bounds[row + 1])
    }


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_counts(data_dir: DataDir, name: str) -> None:
    corpus = source.open_corpus(str(data_dir(name)))
    documents, queries, scores = COUNTS[name]
    assert corpus.name == name
    assert (len(corpus.ids), len(corpus.query_ids)) == (documents, queries)
    assert int((corpus.query_self >= 0).sum()) == SELF[name]
    assert list(corpus.ids) == sorted(corpus.ids)
    assert corpus.judgments is not None
    assert corpus.judgments.unmatched == 0
    own = corpus.skipped.get("judgment of the query itself", 0)
    assert set(corpus.skipped) <= {"judgment of the query itself"}
    found = Counter(judged_pairs(corpus).values())
    assert sum(found.values()) + own == sum(scores.values())
    if not own:
        assert found == scores


def test_a_query_of_csfcube_is_the_paper_it_names(data_dir: DataDir) -> None:
    corpus = source.open_corpus(str(data_dir("csfcube")))
    for name, own in zip(corpus.query_ids, corpus.query_self, strict=True):
        assert corpus.ids[own] == name.split("_")[0]


def test_jaccard_agrees_with_the_judgments_of_debian_neardup(data_dir: DataDir) -> None:
    corpus = source.open_corpus(str(data_dir("debian-neardup")), ("text",))
    bands = {
        (query, document): 3 if similarity >= 0.9 else 2 if similarity >= 0.7 else 1
        for query, document, similarity in truth.pairs_above(corpus, 0.5)
    }
    assert len(bands) == 6064
    assert bands == judged_pairs(corpus)
