"""What a trial did to its server's memory."""

from __future__ import annotations

import pytest

from harness.tuning.pressure import during, pressure
from indexers import registry
from indexers.backends._engine_pressure import pressure as asked
from indexers.errors import EngineUnavailable
from indexers.index_types import BackendConfig

BEFORE = {"heap_used_percent": 30.0, "gc_ms": 100.0, "gc_count": 4.0, "breaker_trips": 1.0}
AFTER = {"heap_used_percent": 61.0, "gc_ms": 130.0, "gc_count": 7.0, "breaker_trips": 1.0}


def node(heap, *collections, trips=0):
    collectors = {
        f"c{i}": {"collection_count": count, "collection_time_in_millis": ms}
        for i, (count, ms) in enumerate(collections)
    }
    return {
        "jvm": {"mem": {"heap_used_percent": heap}, "gc": {"collectors": collectors}},
        "breakers": {"parent": {"tripped": trips}, "request": {"tripped": 1}},
    }


def test_what_was_counted_meanwhile():
    assert during(BEFORE, AFTER) == {
        "heap_used_percent": 61.0,
        "gc_ms": 30.0,
        "gc_count": 3.0,
        "breaker_trips": 0.0,
    }


@pytest.mark.parametrize(("before", "after"), [({}, AFTER), (BEFORE, {}), (AFTER, BEFORE)])
def test_nothing_where_a_server_did_not_tell_or_began_anew(before, after):
    assert during(before, after) == {}


def test_backends_in_process_have_no_server():
    assert pressure(registry.backend("tables")(BackendConfig())) == {}


def test_figures_of_several_nodes_are_the_fullest_heap_and_sums():
    nodes = {"a": node(40, (3, 10), (1, 5)), "b": node(70, (2, 20), trips=4)}
    assert asked(lambda *_, **__: {"nodes": nodes}) == {
        "heap_used_percent": 70.0,
        "gc_ms": 35.0,
        "gc_count": 6.0,
        "breaker_trips": 6.0,
    }


def test_nothing_where_the_server_leaves_something_out():
    def away(*_, **__):
        raise EngineUnavailable("no answer")

    assert asked(away) == {}
    assert asked(lambda *_, **__: {}) == {}
    assert asked(lambda *_, **__: {"nodes": {"a": {"jvm": {}}}}) == {}
