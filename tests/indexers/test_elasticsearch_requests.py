"""What goes over the wire to Elasticsearch alone, byte for byte."""

from __future__ import annotations

import sys

import pytest

from indexers.backends._engine_elasticsearch import clause_limit, cosine
from indexers.backends.elasticsearch import Elasticsearch
from indexers.errors import EngineUnavailable, MissingPackage
from indexers.index_types import BackendConfig


def test_scores_of_vectors_are_read_as_cosines():
    assert [cosine(score) for score in (2.0, 1.25, 1.0, 0.0)] == [1, 0.25, 0, -1]


def test_the_least_of_the_nodes_limits_a_query():
    def node(mib, threads):
        size = {"search": {"size": threads}}
        return {"jvm": {"mem": {"heap_max_in_bytes": mib << 20}}, "thread_pool": size}

    assert clause_limit({"nodes": {"a": node(1024, 4)}}) == 16_384
    assert clause_limit({"nodes": {"a": node(1024, 4), "b": node(1024, 32)}}) == 2048
    assert clause_limit({"nodes": {"a": node(128, 32)}}) == 1024
    assert clause_limit({}) == 1024


def backend():
    return Elasticsearch(BackendConfig(url="http://127.0.0.1:1"))


@pytest.mark.parametrize(
    ("version", "client", "told"),
    [
        ((9, 4), (9, 5, 1), None),
        ((10, 0), (9, 5, 1), None),
        ((8, 15), (8, 19, 0), None),
        ((8, 14), (8, 19, 0), "is Elasticsearch 8.14: 8.15 or later is needed"),
        ((8, 16), (9, 5, 1), "refuses clients of version 9: pip install 'elasticsearch==8.*'"),
    ],
)
def test_servers_and_clients_that_do_not_go_together_are_named(monkeypatch, version, client, told):
    monkeypatch.setattr("elasticsearch.__version__", client)
    if told is None:
        backend()._accept(version)
        return
    with pytest.raises(EngineUnavailable) as caught:
        backend()._accept(version)
    assert told in str(caught.value)
    assert str(caught.value).startswith("http://127.0.0.1:1 is Elasticsearch")


def test_without_the_client_its_pip_line_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "elasticsearch", None)
    with pytest.raises(MissingPackage, match="pip install elasticsearch"):
        backend()._accept((9, 4))
