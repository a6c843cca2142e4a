"""The three re-rankings of `lsh` and the rows to compare with, in one study of both engines."""

from itertools import islice

import pytest

pytestmark = pytest.mark.engine
TEXT_KINDS = {"bm25", "more_like_this", "min_hash"}
SIZES = {(10, 12)}
DOCUMENTS = 600


def test_every_reranking_beside_the_tables(
    study, opensearch_url, elasticsearch_url, data_dir, tmp_path
):
    corpus = tmp_path / "some.jsonl"
    with (data_dir("debian-neardup") / "corpus.jsonl").open(encoding="utf-8") as whole:
        corpus.write_text("".join(islice(whole, DOCUMENTS)), encoding="utf-8")
    made = study(
        *("--corpus", corpus, "--family", "simhash"),
        *("--backend", "opensearch,elasticsearch,tables", "--opensearch-url", opensearch_url),
        *("--elasticsearch-url", elasticsearch_url, "--rerank", "exact,window,none"),
        *("--num-tables", "10", "--hash-length", "12", "--window-size", "30"),
        *("--kind", "lsh,bm25,more_like_this,min_hash", "--rate", "300", "--sla-ms", "1000"),
    )
    summary = made.summary()
    assert summary["counts"] == {"trials": 1 + 2 * (3 + 3), "failed": 0, "impossible": 2}
    runs, recalls, sizes, built = {}, {}, set(), {}
    for trial in summary["trials"]:
        setting = trial["setting"]
        place = setting["backend"], setting["kind"]
        if setting["kind"] in TEXT_KINDS:
            assert trial["baseline"]
            recalls[place] = trial["quality"]["ANNRecall@10"]
            continue
        assert setting["window_size"] == (30 if setting["rerank"] == "window" else None)
        size = setting["num_tables"], setting["hash_length"]
        sizes.add(size)
        runs[(setting["backend"], setting["rerank"], *size)] = made.answers(trial)
        recalls[(setting["backend"], setting["rerank"], *size)] = trial["quality"]["ANNRecall@10"]
        built.setdefault(setting["backend"], set()).add(trial["build_s"])
    assert sizes == SIZES
    for engine in ("opensearch", "elasticsearch"):
        assert len(built[engine]) == 1  # one index serves all three
        for size in SIZES:
            assert runs[(engine, "code", *size)] == runs[("tables", "code", *size)]
            assert len(runs[(engine, "window", *size)]) == len(runs[(engine, "code", *size)])
            assert len(runs[(engine, "none", *size)]) == len(runs[(engine, "code", *size)])
        # answers by counts, ties by id, are the same in both engines
        assert all(
            runs[("opensearch", "none", *size)] == runs[("elasticsearch", "none", *size)]
            for size in SIZES
        )
        assert all(recalls[(engine, kind)] > 0.2 for kind in TEXT_KINDS)
    report = (made.folder / "report.md").read_text()
    assert "| Re-ranked by |" in report
    assert "| simhash | lsh on elasticsearch | window | 10 | 12 | 30 |" in report
    assert "min_hash filter on opensearch" in report
    assert "more_like_this on elasticsearch" in report
    assert [row["name"] for row in summary["reference"] if "BM25" in row["name"]] == [
        "BM25 (opensearch)",
        "BM25 (elasticsearch)",
    ]
