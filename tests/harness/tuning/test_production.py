"""Studies that ask as in production: their indexes, keys, loads and flags."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.config_sources import study_config
from harness.tuning.effects import without_effect
from harness.tuning.outcome import Circumstances, _flags, _remarks
from harness.tuning.plan import load_profile, make_plan
from harness.tuning.production import in_production, load_words
from harness.tuning.space import space
from indexers.errors import SettingError
from indexers.index_types import IndexSpec
from loadtest.profile import NOT_ASKED, UNDER_LOAD, WITHOUT_LOAD, LoadProfile, LoadResult
from loadtest.writing import Written

ENGINE = IndexSpec("opensearch", "lsh", "simhash", 10, (8,), 128)
INSIDE = replace(ENGINE, backend="tables")


def config(**flags):
    sizes = {"num_tables": "10", "hash_length": "8", "kind": "lsh", "family": "simhash"}
    place = {"backend": "opensearch,tables", "opensearch_url": "http://127.0.0.1:9200"}
    return study_config({"sla_ms": 100, **sizes, **place, **flags})


def keys(**flags):
    made = make_plan(config(**flags), "corpus", "c" * 32)
    return {(p.point.setting.backend, p.point.setting.fetch): p.key for p in made.trials}


def test_a_quiet_study_builds_as_ever():
    assert in_production(ENGINE, config()) == ENGINE


def test_one_build_serves_both_ways_to_fetch():
    made = in_production(ENGINE, config(fetch="ids,source"))
    assert made == replace(ENGINE, stores_source=True)


def test_indexing_and_replays_need_their_own_builds_on_engines_alone():
    flags = {"indexing_rate": 10, "replay": "zipf"}
    wanted = replace(ENGINE, updatable=True, cached=True)
    assert in_production(ENGINE, config(**flags)) == wanted
    assert in_production(INSIDE, config(fetch="source", **flags)) == INSIDE


def test_keys_tell_what_is_asked_for():
    quiet = keys()
    assert keys(fetch="ids") == keys(replay="unique") == quiet
    both = keys(fetch="ids,source")
    # the stored documents are in the index that answers with ids, too
    assert both["opensearch", None] != quiet["opensearch", None]
    assert len({*both.values(), *quiet.values()}) == 4  # tables are left as they are
    for flags in ({"replay": "zipf"}, {"replay": "zipf:2"}, {"indexing_rate": 5}):
        other = keys(**flags)
        assert other["opensearch", None] != quiet["opensearch", None]
        assert (other["tables", None] == quiet["tables", None]) == ("replay" not in flags)
    assert keys(replay="zipf:1") == keys(replay="zipf") != keys(replay="zipf:2")
    assert keys(indexing_rate=5) != keys(indexing_rate=6)


def test_what_is_indexed_meanwhile_is_seen_after_a_second_unless_told_otherwise():
    def intervals(**flags):
        points = space(config(**flags)).points
        return {(p.setting.backend, p.setting.refresh_interval) for p in points}

    assert intervals() == {("opensearch", None), ("tables", None)}
    assert intervals(indexing_rate=5) == {("opensearch", "1s"), ("tables", None)}
    told = intervals(indexing_rate=5, refresh_interval="5s")
    assert told == {("opensearch", "5s"), ("tables", None)}


def test_the_profile_has_the_exponent():
    assert load_profile(config(), "tables").zipf_exponent is None
    assert load_profile(config(replay="zipf"), "tables").zipf_exponent == 1.0
    assert load_profile(config(replay="zipf:0.8"), "opensearch").zipf_exponent == 0.8


@pytest.mark.parametrize("replay", ["zip", "zipf:", "zipf:-1", "zipf:100", "unique:1", "zipf:1,2"])
def test_replays_that_are_none_are_refused(replay):
    with pytest.raises(SettingError, match=r"replay.*unique, zipf or zipf:S"):
        config(replay=replay)


def test_what_backends_in_process_do_not_read_is_told():
    assert list(without_effect(config())) == []
    lines = list(without_effect(config(fetch="source", indexing_rate=1)))
    assert lines == [
        "--fetch is without effect on tables: only engines have it",
        "--indexing-rate is without effect on tables: only engines have it",
    ]
    alone = config(fetch="source", indexing_rate=1, backend="opensearch")
    assert list(without_effect(alone)) == []


def test_the_report_tells_what_is_not_usual():
    assert load_words(config(), "opensearch") == ""
    told = load_words(config(replay="zipf:1.2", indexing_rate=7, fetch="source"), "opensearch")
    assert "Zipf's law with exponent 1.2, the engine's caches on" in told
    assert "indexed again, 7 a second" in told
    assert "stores the documents" in told
    inside = load_words(config(replay="zipf", indexing_rate=7, fetch="source"), "tables")
    assert "caches" not in inside
    assert "indexed" not in inside


def result(**more):
    state = np.array([UNDER_LOAD, WITHOUT_LOAD, UNDER_LOAD, NOT_ASKED], np.uint8)
    return LoadResult(
        latency_ms=np.ones(3),
        service_ms=np.ones(3),
        query=np.array([0, 2, 0], np.int32),
        answers=np.zeros((4, 1), np.int32),
        state=state,
        rate_per_s=100.0,
        qps=None,
        errors=0,
        **more,
    )


UNIQUE = LoadProfile(rate_per_s=100.0)
ZIPF = replace(UNIQUE, zipf_exponent=1.0)


def flagged(profile=UNIQUE, drifted=False, written=None, query=None, **more):
    found = result(**more)
    if query is not None:
        found = replace(found, query=np.array(query, np.int32))
    return _flags(found, Circumstances(profile, found, drifted, None, written=written))


def test_a_query_that_a_replay_never_drew_is_no_fault():
    assert flagged(UNIQUE) == ("asked-without-load",)
    assert flagged(ZIPF) == ()
    assert flagged(ZIPF, query=[0, 1, 2]) == ("asked-without-load",)


def test_answers_that_change_are_flagged_and_told():
    assert flagged(ZIPF, repeats=5, agreeing=5) == ()
    assert flagged(ZIPF, repeats=5, agreeing=4) == ("unstable-answers",)
    (line,) = _remarks(result(repeats=5, agreeing=4), None)
    assert "not always the same" in line


def test_writing_that_falls_behind_or_fails_is_told():
    kept = Written(98, 98.0, 100.0, 100)
    slow = Written(50, 50.0, 100.0, 100, 1, ("the index is full",))
    assert flagged(ZIPF, written=kept) == ()
    assert flagged(ZIPF, written=slow) == ("indexing-slow",)
    assert _remarks(result(), slow) == ("indexing meanwhile failed: the index is full",)
    assert _remarks(result(), kept) == ()


def test_of_an_attached_index_only_the_queries_are_replayed():
    flags = {"attach": "opensearch:shop", "indexing_rate": 7, "fetch": "source", "replay": "zipf"}
    both = load_words(config(**flags), "opensearch")
    assert "in the attached index nothing is indexed" in both
    assert "indexed again, 7 a second" in both
    alone = config(**flags, kind="attached")
    told = load_words(alone, "opensearch")
    assert "Zipf's law with exponent 1;" in told
    for claim in ("the engine's caches on", "indexed again", "stores the documents"):
        assert claim not in told
    assert "without effect on the attached index" in "".join(without_effect(alone))


def test_the_row_of_an_attached_index_does_not_hang_on_what_is_indexed_elsewhere():
    def key(**flags):
        made = make_plan(config(attach="opensearch:shop", **flags), "corpus", "c" * 32)
        (found,) = (p.key for p in made.trials if p.point.setting.kind == "attached")
        return found

    assert key() == key(indexing_rate=7) == key(fetch="ids,source")
    assert key() != key(replay="zipf")
