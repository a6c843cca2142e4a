"""What goes over the wire to OpenSearch alone, byte for byte."""

from __future__ import annotations

import contextlib

import pytest

from indexers.backends._engine_opensearch import check_plugin, clause_limit, cosine
from indexers.backends.opensearch import OpenSearch
from indexers.errors import BackendError, EngineUnavailable
from indexers.index_types import BackendConfig


def test_scores_of_vectors_are_read_as_cosines():
    assert [cosine(score) for score in (2.0, 1.25, 1.0, 0.5, 0.8)] == [1, 0.25, 0, -1, -0.25]


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ([["other", "opensearch-knn"]], None),
        ([["opensearch-knn"], ["other"]], "node 'n1' of http://s has not: install opensearch-knn"),
        ([[]], "node 'n0' of http://s has not"),
    ],
)
def test_the_plugin_must_be_on_every_node(nodes, told):
    def call(request, **_):
        assert (request.method, request.segments) == ("GET", ("_nodes", "plugins"))
        plugins = [[{"name": name} for name in names] for names in nodes]
        return {"nodes": {f"x{i}": {"name": f"n{i}", "plugins": p} for i, p in enumerate(plugins)}}

    with contextlib.nullcontext() if told is None else pytest.raises(BackendError, match=told):
        check_plugin(call, "http://s")


def test_transient_limits_win():
    def layer(n):
        return {"indices": {"query": {"bool": {"max_clause_count": n}}}}

    assert clause_limit({"defaults": layer("9"), "persistent": layer("8")}) == 8
    assert clause_limit({"defaults": layer("9"), "transient": layer("7")}) == 7
    assert clause_limit({}) == 1024


def test_the_second_source_is_left_out_where_the_server_can():
    backend = OpenSearch(BackendConfig(url="http://127.0.0.1:1"))
    assert backend._own_fields((2, 14))["_source"] == {"enabled": False}
    both = {"enabled": False, "recovery_source_enabled": False}
    assert backend._own_fields((2, 15))["_source"] == both


def test_names_of_fields_are_not_indexed_with_each_token_where_that_is_known_to_work():
    backend = OpenSearch(BackendConfig(url="http://127.0.0.1:1"))
    assert backend._own_fields((2, 19))["_field_names"] == {"enabled": False}
    assert "_field_names" not in backend._own_fields((3, 0))


@pytest.mark.parametrize("version", [(1, 3), (0, 9)])
def test_a_server_that_is_too_old_is_named(version):
    old = OpenSearch(BackendConfig(url="http://me:secret@127.0.0.1:1"))
    with pytest.raises(EngineUnavailable) as caught:
        old._accept(version)
    number = ".".join(map(str, version))
    told = f"http://127.0.0.1:1 is OpenSearch {number}: 2.0 or later is needed"
    assert str(caught.value) == told


@pytest.mark.parametrize("version", [(2, 0), (2, 19), (3, 1)])
def test_servers_from_2_0_on_are_taken(version):
    OpenSearch(BackendConfig(url="http://127.0.0.1:1"))._accept(version)
