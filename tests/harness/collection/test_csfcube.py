"""The official layout of CSFCube, on a small release of our own and against the BEIR form."""

import json
import shutil

import numpy as np
import pytest

from harness.collection.facets import open_pools
from indexers.errors import CorpusError, JudgmentsError

PAPERS = [
    {"paper_id": "20", "title": "Trees", "abstract": ["We grow trees.", "They are tall."]},
    {"paper_id": "3", "title": "Forests", "abstract": ["Many trees."]},
    {"paper_id": "100", "title": "Rivers", "abstract": []},
    {"paper_id": "7", "title": "Lakes", "abstract": ["Water."]},
]
METHOD = {
    "20": {"cands": ["7", "3", "20", "999"], "relevance_adju": [0, 3, 3, 1]},
    "3": {"cands": ["100", "20"], "relevance_adju": [1, 2]},
}
RESULT = {"20": {"cands": ["3", "100"], "relevance_adju": [2, 0]}}
SPLITS = {
    "method": {
        "fold1_dev": ["20_method"],
        "fold1_test": ["3_method"],
        "fold2_dev": ["3_method"],
        "fold2_test": ["20_method"],
    },
    "result": {
        "fold1_dev": [],
        "fold1_test": ["20_result"],
        "fold2_dev": ["20_result"],
        "fold2_test": [],
    },
}


@pytest.fixture
def release(tmp_path):
    def write(papers=PAPERS, splits=SPLITS, **facets):
        folder = tmp_path / "release"
        folder.mkdir(exist_ok=True)
        lines = "".join(json.dumps(paper) + "\n" for paper in papers)
        (folder / "abstracts-csfcube-preds.jsonl").write_text(lines)
        for facet, annotations in (facets or {"method": METHOD, "result": RESULT}).items():
            path = folder / f"test-pid2anns-csfcube-{facet}.json"
            path.write_text(json.dumps(annotations))
        if splits is not None:
            (folder / "evaluation_splits.json").write_text(json.dumps(splits))
        return folder

    return write


def test_pools_keep_their_stored_order(release):
    pools = open_pools(str(release()))
    corpus = pools.corpus
    assert corpus.ids == ["100", "20", "3", "7"]
    assert corpus.texts[1] == "Trees We grow trees. They are tall."
    assert corpus.texts[0] == "Rivers"
    assert [corpus.query_ids[q] for q in pools.queries] == ["20_method", "3_method", "20_result"]
    assert pools.facets == ("method", "method", "result")
    assert pools.facet_names == ("method", "result")
    # 7 before 3, as stored; the paper itself and the unknown one are left out
    assert [corpus.ids[c] for c in pools.candidates] == ["7", "3", "100", "20", "3", "100"]
    assert pools.gains.tolist() == [0, 3, 1, 2, 2, 0]
    assert pools.indptr.tolist() == [0, 2, 4, 6]
    assert corpus.skipped == {"judgment of the query itself": 1, "unmatched judgment": 1}
    assert corpus.query_self.tolist() == [1, 2, 1]
    assert corpus.file_rows.tolist() == [2, 0, 1, 3]
    # the layout alone makes no benchmark
    assert pools.benchmark is None


def test_folds_are_the_releases(release):
    first, second = open_pools(str(release())).folds
    assert (first.dev.tolist(), first.test.tolist()) == ([0], [1, 2])
    assert (second.dev.tolist(), second.test.tolist()) == ([1, 2], [0])


def test_lists_below_a_facet_are_of_that_facet(release):
    """Ids need not name the facet again."""
    splits = {
        facet: {half: [name.split("_")[0] for name in names] for half, names in halves.items()}
        for facet, halves in SPLITS.items()
    }
    first, second = open_pools(str(release(splits=splits))).folds
    assert (first.dev.tolist(), first.test.tolist()) == ([0], [1, 2])
    assert (second.dev.tolist(), second.test.tolist()) == ([1, 2], [0])


def test_an_id_without_a_facet_is_all_its_facets(release):
    (fold,) = open_pools(str(release(splits={"dev": ["20"], "test": ["3"]}))).folds
    assert (fold.dev.tolist(), fold.test.tolist()) == ([0, 2], [1])


def test_fields(release):
    assert open_pools(str(release()), ["title"]).corpus.texts[1] == "Trees"
    assert open_pools(str(release()), ["text"]).corpus.texts[2] == "Many trees."
    with pytest.raises(CorpusError, match="fields year: the abstracts have title and abstract"):
        open_pools(str(release()), ["year"])


@pytest.mark.parametrize(
    ("papers", "message"),
    [
        ([{"title": "x", "abstract": ["y"]}], 'line 1: needs "paper_id"'),
        ([PAPERS[0], PAPERS[0]], "line 2: paper '20' is given twice"),
        ([{"paper_id": "1", "abstract": [1]}], '"abstract" must be a string or a list'),
        ([{"paper_id": "1", "abstract": []}], "holds no text"),
        (PAPERS[1:], "lacks the paper '20'"),
    ],
)
def test_unusable_abstracts_are_one_line(release, papers, message):
    with pytest.raises(CorpusError, match=message):
        open_pools(str(release(papers)))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"cands": ["3"]}, 'needs the lists "cands" and "relevance_adju"'),
        ({"cands": ["3"], "relevance_adju": [1, 2]}, "1 candidates and 2 labels"),
        ({"cands": ["3"], "relevance_adju": [-1]}, "has the label -1"),
        ({"cands": ["3", "3"], "relevance_adju": [1, 2]}, "a document twice"),
        ({"cands": ["20"], "relevance_adju": [3]}, "none of its judgments matches"),
        ([], 'needs the lists "cands"'),
    ],
)
def test_unusable_annotations_are_one_line(release, entry, message):
    with pytest.raises(JudgmentsError, match=message):
        open_pools(str(release(splits=None, method={"20": entry})))


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([], "is no splits file"),
        ({"fold1": ["20_method"]}, "is no splits file"),
        ({"fold1_dev": ["20_method"]}, "fold1_test names no query"),
        (
            {"fold1_dev": ["20_method", "3_method"], "fold1_test": ["20_result", "3_method"]},
            r"query '3_method' \(facet 'method'\) is in fold1_dev and in fold1_test",
        ),
        (
            {"a": {"dev": ["20"], "test": ["3"]}, "b": {"dev": ["3"], "test": ["20"]}},
            "in dev and in",
        ),
    ],
)
def test_unusable_splits_are_one_line(release, splits, message):
    with pytest.raises(JudgmentsError, match=message):
        open_pools(str(release(splits=splits)))


def test_missing_abstracts_and_broken_json(release):
    folder = release()
    (folder / "test-pid2anns-csfcube-method.json").write_text("{")
    with pytest.raises(JudgmentsError, match="is not valid JSON"):
        open_pools(str(folder))
    (folder / "abstracts-csfcube-preds.jsonl").unlink()
    with pytest.raises(CorpusError, match="has annotations of CSFCube but no abstracts"):
        open_pools(str(folder))


def test_the_release_and_the_beir_form_are_the_same_pools(data_dir, tmp_path):
    source = data_dir("csfcube")
    with (source / "corpus.jsonl").open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    with (tmp_path / "abstracts-csfcube-preds.jsonl").open("w", encoding="utf-8") as out:
        for record in records:
            sentences = record["metadata"]["sentences"]
            paper = {"paper_id": record["_id"], "title": record["title"], "abstract": sentences}
            out.write(json.dumps(paper) + "\n")
    for path in (source / "official").iterdir():
        shutil.copy(path, tmp_path / path.name)
    beir, official = open_pools(str(source)), open_pools(str(tmp_path))
    assert len(official) == len(beir) == 50
    assert len(official.candidates) == len(beir.candidates) == 6242
    assert official.corpus.ids == beir.corpus.ids
    assert official.benchmark == beir.benchmark == "csfcube"

    def by_id(pools):
        return {
            pools.corpus.query_ids[query]: (
                pools.candidates[pools.indptr[row] : pools.indptr[row + 1]].tolist(),
                pools.gains[pools.indptr[row] : pools.indptr[row + 1]].tolist(),
                pools.facets[row],
                [row in fold.dev for fold in pools.folds],
            )
            for row, query in enumerate(pools.queries)
        }

    assert by_id(official) == by_id(beir)
    same = [a == b for a, b in zip(official.corpus.texts, beir.corpus.texts, strict=True)]
    assert np.mean(same) > 0.99


def test_beir_facet_files(write_beir):
    folder = write_beir(
        [{"_id": f"d{i}", "text": "word"} for i in range(3)],
        [{"_id": "q1", "text": "word"}, {"_id": "q2", "text": "word"}],
        "q1\td0\t1\n",
    )
    (folder / "qrels.method.tsv").write_text("q1\td2\t0\nq1\td1\t2\n")
    (folder / "qrels.result.tsv").write_text("q1\td0\t1\nq2\td0\t3\n")
    (folder / "qrels.train.tsv").write_text("q1\td0\t1\n")
    (folder / "splits.json").write_text(json.dumps({"dev": ["q1"], "test": ["q2"]}))
    pools = open_pools(str(folder))
    named = [
        (pools.corpus.query_ids[q], facet)
        for q, facet in zip(pools.queries, pools.facets, strict=True)
    ]
    assert named == [("q1", "method"), ("q1", "result"), ("q2", "result")]
    assert pools.candidates.tolist() == [2, 1, 0, 0]
    assert [(fold.dev.tolist(), fold.test.tolist()) for fold in pools.folds] == [([0, 1], [2])]
    assert pools.benchmark is None


def test_any_other_corpus_of_50_rows_and_those_facets_is_no_benchmark(write_beir):
    facets = ("background", "method", "result")
    queries = [
        {"_id": f"q{n}_{facets[n % 3]}", "text": "word", "metadata": {"facet": facets[n % 3]}}
        for n in range(50)
    ]
    judged = "".join(f"{query['_id']}\td0\t1\n" for query in queries)
    pools = open_pools(str(write_beir([{"_id": "d0", "text": "word"}], queries, judged)))
    assert (len(pools), pools.facet_names, pools.benchmark) == (50, facets, None)


def test_a_corpus_without_judgments(write_beir):
    with pytest.raises(CorpusError, match="has no judgments to compare by"):
        open_pools(str(write_beir()))


def test_the_catalogue_has_pools():
    pools = open_pools("catalogue:200")
    assert len(pools) > 0
    assert set(pools.facets) == {""}
    assert pools.folds == ()
