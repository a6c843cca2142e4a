"""Flags of indices that are there already: what goes together, and what a name may be."""

import json

import pytest

from harness.config_sources import study_config
from harness.index_flags import IndexPlace
from harness.tuning.kept import keep_config, kept_config
from harness.tuning.space import space
from harness.tuning.store import open_study
from indexers.errors import SettingError

OPENSEARCH = {"opensearch_url": "http://127.0.0.1:9200"}
BOTH = {**OPENSEARCH, "elasticsearch_url": "http://127.0.0.1:9201"}


@pytest.fixture(autouse=True)
def _no_servers_around(monkeypatch):
    for engine in ("OPENSEARCH", "ELASTICSEARCH"):
        monkeypatch.delenv(f"HARNESS_{engine}_URL", raising=False)


def config(**flags):
    return study_config({"sla_ms": "50", **flags})


def problems(**flags):
    with pytest.raises(SettingError) as caught:
        config(**flags)
    return caught.value.problems


@pytest.fixture
def body(tmp_path):
    path = tmp_path / "match.json"
    path.write_text(json.dumps({"query": {"match": {"text": "{{text}}"}}}))
    return path


def test_the_engine_of_an_index_is_the_only_one_or_named():
    made = config(index="goods", text_field="title, text", **OPENSEARCH)
    assert made.index_place == IndexPlace("opensearch", "goods")
    assert made.text_field == ("title", "text")
    named = config(index="elasticsearch:goods", text_field="text", **BOTH)
    assert named.index_place == IndexPlace("elasticsearch", "goods")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"index": "goods", "text_field": "t", **BOTH}, "opensearch:goods or elasticsearch:goods"),
        ({"index": "goods", "text_field": "t"}, "needs the URL of its server"),
        ({"index": "elasticsearch:goods", "text_field": "t", **OPENSEARCH}, "--elasticsearch-url"),
        ({"index": "goods", **OPENSEARCH}, "--text-field"),
        ({"index": "g*", "text_field": "t", **OPENSEARCH}, "the name of one index"),
        ({"index": "a,b", "text_field": "t", **OPENSEARCH}, "the name of one index"),
        ({"index": "_all", "text_field": "t", **OPENSEARCH}, "the name of one index"),
        ({"index": "../x", "text_field": "t", **OPENSEARCH}, "the name of one index"),
        ({"index": "g%2a", "text_field": "t", **OPENSEARCH}, "the name of one index"),
        ({"index": "g", "text_field": "meta.*", **OPENSEARCH}, "the path of one field, without *"),
        (
            {"index": "g", "text_field": "t", "id_field": "*", **OPENSEARCH},
            "the path of one field, without *",
        ),
        (
            {"index": "g", "text_field": "t", "filter": ("pri*=1..2",), **OPENSEARCH},
            "--filter 'pri*=1..2': a field of --index has no *",
        ),
        ({"index": "g", "text_field": "t", "corpus": "catalogue:20", **OPENSEARCH}, "--corpus"),
        ({"index": "g", "text_field": "t", "fields": "title", **OPENSEARCH}, "--text-field"),
        ({"index": "g", "text_field": "t", "judgments": "j", **OPENSEARCH}, "--queries FILE"),
        ({"text_field": "t"}, "only with --index"),
        ({"queries": "q.jsonl"}, "only with --index"),
        ({"id_field": "sku"}, "only with --index"),
        ({"body": ("b.json",)}, "only with --attach"),
        ({"attach": "g*", **OPENSEARCH}, "the name of one index"),
        ({"kind": "attached"}, "attached needs --attach NAME"),
    ],
)
def test_what_does_not_fit_together_is_one_line(flags, told):
    (line,) = problems(**flags)
    assert told in line
    assert "\n" not in line


def test_an_attached_index_is_a_row_for_each_body(body, tmp_path):
    other = tmp_path / "phrase.json"
    other.write_text('{"query": {"match_phrase": {"text": "{{text}}"}}}')
    made = config(
        attach="goods", body=(str(body), str(other)), backend="tables", family="simhash",
        num_tables=("5",), hash_length=("8",), id_field="sku", **OPENSEARCH,
    )  # fmt: skip
    points = space(made).points
    assert [(p.setting.backend, p.setting.kind) for p in points] == [
        ("tables", "lsh"),
        ("opensearch", "attached"),
        ("opensearch", "attached"),
    ]
    assert all(p.setting.index == "goods" and not p.baseline for p in points[1:])
    assert [p.setting.body.split()[0] for p in points[1:]] == ["match.json", "phrase.json"]
    assert made.backends == ("tables", "opensearch")


def test_kind_attached_measures_nothing_else(body):
    made = config(attach="goods", body=str(body), kind="attached", **OPENSEARCH)
    found = space(made)
    assert [p.setting.kind for p in found.points] == ["attached"]
    assert found.impossible == ()
    assert made.backends == ("opensearch",)


def test_another_body_in_the_same_file_is_another_row(body):
    made = config(attach="goods", body=str(body), kind="attached", **OPENSEARCH)
    before = space(made).points[0].setting
    body.write_text('{"query": {"match": {"title": "{{text}}"}}}')
    assert space(made).points[0].setting != before


def test_a_body_that_cannot_be_used_is_told_before_anything_is_built(body, tmp_path):
    with pytest.raises(SettingError, match="given twice"):
        space(config(attach="goods", body=(str(body), str(body)), **OPENSEARCH))
    with pytest.raises(SettingError, match=r"No such file"):
        space(config(attach="goods", body=(str(tmp_path / "none"),), **OPENSEARCH))
    body.write_text('{"query": {"match_all": {}}}')
    with pytest.raises(SettingError, match=r"\{\{text\}\}"):
        space(config(attach="goods", body=(str(body),), **OPENSEARCH))


def test_the_configuration_comes_back_from_the_study(body, tmp_path):
    made = config(index="goods", text_field="text", attach="goods", body=str(body), **OPENSEARCH)
    with open_study(tmp_path / "study") as store:
        keep_config(store, made)
        back = kept_config(store, tmp_path / "study", {})
    assert back.index_place == back.attach_place == IndexPlace("opensearch", "goods")
    assert back.body == (body,)
