"""The layout of RELISH, on a small release of our own."""

import json

import pytest

from harness.collection.facets import open_pools
from indexers.errors import CorpusError

PAPERS = [{"paper_id": str(n), "title": f"Paper {n}", "abstract": ["A.", "B."]} for n in range(6)]
ANNOTATIONS = {
    "1": {"cands": ["4", "2"], "relevance_adju": [2, 0]},
    "0": {"cands": ["3", "5", "2"], "relevance_adju": [0, 1, 2]},
}
SPLITS = {"dev": ["1"], "test": ["0"]}


@pytest.fixture
def release(tmp_path):
    def write(name="relish", splits=SPLITS):
        (tmp_path / f"abstracts-{name}.jsonl").write_text(
            "".join(json.dumps(paper) + "\n" for paper in PAPERS)
        )
        (tmp_path / f"test-pid2anns-{name}.json").write_text(json.dumps(ANNOTATIONS))
        if splits is not None:
            (tmp_path / f"{name}-evaluation_splits.json").write_text(json.dumps(splits))
        return tmp_path

    return write


def test_pools(release):
    pools = open_pools(str(release()))
    assert [pools.corpus.query_ids[q] for q in pools.queries] == ["1", "0"]
    assert pools.corpus.query_texts[1] == "Paper 0 A. B."
    assert pools.candidates.tolist() == [4, 2, 3, 5, 2]
    assert pools.gains.tolist() == [2, 0, 0, 1, 2]
    assert pools.facet_names == ()
    assert [(fold.dev.tolist(), fold.test.tolist()) for fold in pools.folds] == [([0], [1])]
    assert (pools.benchmark, pools.corpus.name) == ("relish", "relish")


def test_another_collection_of_the_same_layout(release):
    pools = open_pools(str(release("mine", None)))
    assert (pools.benchmark, pools.corpus.name, pools.folds) == (None, "mine", ())


def test_two_releases_in_one_folder(release):
    release()
    with pytest.raises(CorpusError, match=r"2 files \*pid2anns\*.json and 2 files abstracts"):
        open_pools(str(release("mine")))
