"""Names and keys: what a row depends on changes them, what only reads rows does not."""

import pytest

from harness.config_sources import study_config
from harness.settings import Setting
from harness.tuning.builds import builds
from harness.tuning.plan import make_plan
from harness.tuning.trial import Trial


def plan(content="c" * 32, **flags):
    return make_plan(study_config({"sla_ms": 100, **flags}), "corpus", content)


def test_the_default_study_has_89_trials():
    made = plan()
    assert len(made.trials) == 89
    assert sum(p.point.baseline for p in made.trials) == 2
    assert sum(count for _, count in made.impossible) == 73
    assert len({p.key for p in made.trials}) == 89


def test_multihash_fits_where_its_keys_fit_the_code():
    fitting = {
        (p.point.setting.num_tables, p.point.setting.hash_length)
        for p in plan().trials
        if p.point.setting.kind == "multihash"
    }
    assert fitting == {(5, 8), (5, 12), (5, 16), (5, 20), (10, 8), (10, 12), (15, 8)}


@pytest.mark.parametrize(
    "flags",
    [
        {"sla_ms": 5},
        {"sla_stat": "p50"},
        {"objective": "R"},
        {"tolerance": 0.1},
        {"out": "elsewhere"},
    ],
)
def test_what_only_reads_rows_keeps_their_keys(flags):
    base, other = plan(), plan(**flags)
    assert [p.key for p in base.trials] == [p.key for p in other.trials]
    assert base.name == other.name


@pytest.mark.parametrize(
    "flags",
    [
        {"content": "d" * 32},
        {"rate": 10},
        {"users": 5},
        {"samples": 500},
        {"thorough": True},
        {"seed": 7},
        {"cutoff": 5},
        {"relevant_from": 1},
        {"build": "per-setting"},
    ],
)
def test_what_rows_depend_on_changes_their_keys(flags):
    base, other = plan(), plan(**flags)
    assert base.name != other.name
    assert not {p.key for p in base.trials} & {p.key for p in other.trials}


def test_credentials_are_no_part_of_a_key_but_the_server_is(monkeypatch):
    def keys(url):
        monkeypatch.setenv("HARNESS_OPENSEARCH_URL", url)
        return [p.key for p in plan(backend="opensearch").trials]

    assert keys("http://127.0.0.1:9200") == keys("http://user:secret@127.0.0.1:9200")
    assert keys("http://127.0.0.1:9200") != keys("http://127.0.0.1:9201")


def test_missing_are_those_without_a_usable_row():
    made = plan(num_tables=("5",), hash_length=("8",), family="simhash", backend="tables")
    (only,) = made.trials

    def row(**facts):
        setting = Setting("simhash", "tables", "lsh")
        return {only.key: Trial(only.key, setting, False, **facts)}

    assert made.missing({}, 1.0) == (only,)
    assert made.missing(row(status="failed"), 1.0) == (only,)
    assert made.missing(row(status="ok"), 1.0) == ()
    # a timeout under a shorter limit says nothing about a longer one
    timed_out = row(status="ok", errors=3, timeout_s=1.0)
    assert made.missing(timed_out, 1.0) == ()
    assert made.missing(timed_out, 2.0) == (only,)


def test_every_size_of_a_graph_is_part_of_its_key():
    graphs = {"backend": "hnswlib", "family": "simhash"}
    keys = [
        trial.key
        for sizes in ({}, {"m": "8"}, {"ef_construction": "50"}, {"ef_search": "33,65"})
        for trial in plan(**graphs, **sizes).trials
    ]
    assert len(set(keys)) == len(keys) == 14


def test_graphs_beside_it_do_not_change_the_key_of_another_setting():
    asked = plan(backend="faiss", family="simhash", kind="flat,hnsw").trials
    assert asked[0].key == plan(backend="faiss", family="simhash").trials[0].key
    alone = plan(backend="faiss", family="simhash", kind="hnsw", ef_search="64").trials
    assert alone[0].key in {trial.key for trial in asked}


def test_one_graph_is_built_for_all_its_searches():
    trials = plan(backend="faiss,hnswlib", family="simhash", kind="hnsw", m="8,16").trials
    served = [
        (spec.backend, spec.m, len(group)) for spec, group in builds(trials, trials, "shared")
    ]
    assert served == [("faiss", 8, 4), ("faiss", 16, 4), ("hnswlib", 8, 4), ("hnswlib", 16, 4)]
    assert len(list(builds(trials, trials, "per-setting"))) == 4
