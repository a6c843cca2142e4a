"""How engines keep their indices, as something that a study sweeps."""

from __future__ import annotations

import pytest

from harness.config_sources import study_config
from harness.settings import layout_of
from harness.tuning.builds import builds
from harness.tuning.effects import without_effect
from harness.tuning.names import label
from harness.tuning.plan import make_plan
from indexers.errors import SettingError
from indexers.index_types import Layout

URL = "http://127.0.0.1:9200"


def plan(**flags):
    flags = {"family": "simhash", "kind": "lsh,bm25", "backend": "opensearch", **flags}
    config = study_config(
        {
            "sla_ms": 100,
            "opensearch_url": URL,
            "num_tables": "5,10",
            "hash_length": "8,12",
            **flags,
        }
    )
    return make_plan(config, "corpus", "content")


def test_layouts_are_swept_and_each_is_an_index_of_its_own():
    trials = plan(shards="1,2", segments="1,4").trials
    wanted = [Layout(shards=s, segments=m) for s in (1, 2) for m in (1, 4)]
    swept = [t for t in trials if t.point.setting.kind == "lsh"]
    assert len(swept) == 4 * len(wanted)
    built = [
        (spec.layout, spec.kind, len(served)) for spec, served in builds(trials, trials, "shared")
    ]
    assert built == [(one, "lsh", 4) for one in wanted] + [(one, "bm25", 1) for one in wanted]
    assert len({t.key for t in trials}) == len(trials)


def test_the_usual_layout_is_that_of_a_study_without_the_flags():
    plainly, told = plan(), plan(shards="1", segments="1", replicas="0", refresh_interval="-1")
    assert [t.key for t in told.trials] == [t.key for t in plainly.trials]
    assert {layout_of(t.point.setting) for t in plainly.trials} == {Layout()}


def test_a_layout_is_told_in_names():
    (other,) = {
        label(t.point.setting).partition("12 ")[2]
        for t in plan(
            num_tables="5",
            hash_length="12",
            kind="lsh",
            shards="3",
            codec="best_compression",
            refresh_interval="1s",
            translog="request",
            segments="0",
        ).trials
    }
    assert other == (
        "shards 3 codec best_compression refresh_interval 1s translog request segments 0"
    )


def test_backends_in_process_have_none():
    flags = {"backend": "tables", "kind": "lsh", "shards": "2", "refresh_interval": "1s"}
    assert {layout_of(t.point.setting) for t in plan(**flags).trials} == {Layout()}
    config = study_config({"sla_ms": 100, "opensearch_url": URL, **flags})
    assert list(without_effect(config)) == [
        "--shards is without effect: no engine is in this study",
        "--refresh-interval is without effect: no engine is in this study",
    ]


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("shards", "0"),
        ("replicas", "-1"),
        ("segments", "x"),
        ("translog", "never"),
        ("refresh_interval", "soon"),
        ("codec", ""),
    ],
)
def test_values_that_are_none(flag, value):
    with pytest.raises(SettingError, match=flag.replace("_", "[-_]")):
        plan(**{flag: value})
