"""Rerank `window` and `none`, and the rows to compare with, in the plan and in what is told."""

import numpy as np
import pytest

from harness.config_sources import study_config
from harness.settings import Setting
from harness.tuning.builds import builds
from harness.tuning.collisions import table_counts
from harness.tuning.names import name_of
from harness.tuning.plan import make_plan
from harness.tuning.sla import Sla
from harness.tuning.space import space
from harness.tuning.summary import Facts, Goal, summarise
from harness.tuning.trial import Trial
from indexers.types import Fingerprints

FLAGS = {
    "sla_ms": 100,
    "family": "simhash",
    "num_tables": "5,10",
    "hash_length": "8,12",
    "opensearch_url": "http://127.0.0.1:1",
}


def config(**flags):
    return study_config({**FLAGS, **flags})


def test_the_three_rerankings_share_one_build():
    made = config(backend="opensearch", rerank="exact,window,none", window_size="50,200")
    plan = make_plan(made, "corpus", "content")
    lsh = [p for p in plan.trials if p.point.setting.kind == "lsh"]
    found = list(builds(lsh, plan.trials, "shared"))
    assert len(found) == 1
    spec, served = found[0]
    assert (spec.num_tables, spec.hash_lengths) == (10, (8, 12))
    assert len(served) == 4 * (1 + 2 + 1)
    told = {(p.point.setting.rerank, p.point.setting.window_size) for p in served}
    assert told == {("code", None), ("window", 50), ("window", 200), ("none", None)}
    assert name_of(served[4].point.setting).endswith("window_size 50, rerank window)")


def test_backends_in_process_leave_them_out_and_count_them():
    made = space(config(backend="opensearch,tables,faiss,exact", rerank="window,none"))
    places = {(p.setting.backend, p.setting.kind) for p in made.points}
    assert {("opensearch", "lsh"), ("opensearch", "flat")} <= places
    assert ("tables", "lsh") not in places
    # what has no tables is ranked by the code as ever
    assert {p.setting.rerank for p in made.points if p.setting.kind == "flat"} == {"code"}
    counts = dict(made.impossible)
    (reason,) = [line for line in counts if line.startswith("simhash as lsh on tables")]
    assert "exists on engines only" in reason
    assert counts[reason] == 2 * 4


def test_an_engine_has_its_baselines():
    found = [p for p in space(config(backend="opensearch")).points if p.setting.family is None]
    assert [(p.setting.kind, p.baseline) for p in found] == [
        ("bm25", True),
        ("more_like_this", True),
        ("min_hash", True),
    ]
    assert [name_of(p.setting) for p in found] == [
        "BM25 on opensearch",
        "more_like_this on opensearch",
        "min_hash filter on opensearch",
    ]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("more_like_this", "No approximate index is needed: more_like_this on opensearch: "),
        ("min_hash", "No fingerprints of one's own are needed: min_hash filter on opensearch: "),
    ],
)
def test_a_verdict_names_the_baseline_that_is_enough(kind, told):
    def row(key, setting, *, baseline, quality):
        return Trial(
            *(key, setting, baseline, "ok"),
            quality={"nDCG@10": quality},
            latency_ms={"p99": 5.0, "p50": 5.0},
            service_ms={"p50": 5.0},
            upper_ms={"p99": 5.0},
            samples=1000,
        )

    swept = Setting("minhash", "opensearch", "lsh", 20, 4, 1024, "none")
    rows = [
        row("a", swept, baseline=False, quality=0.5),
        row("b", Setting(None, "opensearch", kind), baseline=True, quality=0.9),
    ]
    summary, _ = summarise(
        rows, Goal(Sla(10.0, "p99"), "nDCG@10", 0.005), Facts("s", "p", {}, (1.0,), 0, {})
    )
    assert summary["verdict"].startswith(told)
    assert summary["reference"] == []  # only exact similarity and BM25 are


def test_answers_by_tables_are_counted_from_the_keys():
    # two tables of 8 bits; document 0 shares both with the query, 1 the second alone, 2 none
    keys = np.array([[[0xAB, 0xAC, 0]], [[0x11, 0x11, 0]]], np.uint32) << np.uint32(24)
    asked = np.array([[[0xAB]], [[0x11]]], np.uint32) << np.uint32(24)

    def encoded_of(keys):
        n = keys.shape[2]
        return Fingerprints(np.zeros(n, np.uint8), np.zeros((n, 16), np.uint8), keys, "bit")

    class Part:
        def __init__(self, fingerprints):
            self.fingerprints = fingerprints

    class Both:
        documents, queries = Part(encoded_of(keys)), Part(encoded_of(asked))

    answers = np.array([[0, 1, 2, -1]], np.int32)

    def counted(tables, length):
        setting = Setting("simhash", "opensearch", "lsh", tables, length, 128, "none")
        return table_counts(Both, setting, answers)[0].tolist()

    assert counted(2, 8)[:3] == [2, 1, 0]
    assert counted(1, 8)[:3] == [1, 0, 0]
    assert counted(2, 5)[:3] == [2, 2, 0]  # 10101 both
    assert np.isnan(counted(2, 8)[3])
