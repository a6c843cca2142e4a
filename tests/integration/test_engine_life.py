"""How an engine's index is kept, filled and merged, on real nodes; and what goes wrong there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexers import registry
from indexers.address import address_of
from indexers.backends import _engine_build as building
from indexers.backends import _engine_bulk as lines
from indexers.backends import _engine_chunks as chunks
from indexers.backends import _engine_merge as merging
from indexers.backends import _engine_sending as sending
from indexers.backends._engine_http import HttpTransport
from indexers.errors import BackendError, EngineUnavailable, IndexMissing
from indexers.index_types import BackendConfig, Documents, IndexSpec, Layout, SearchParams
from indexers.types import Fingerprints

_found = importlib.util.spec_from_file_location(
    "life_conftest", Path(__file__).with_name("conftest.py")
)
_conftest = importlib.util.module_from_spec(_found)
_found.loader.exec_module(_conftest)
OwnNode = _conftest.OwnNode

pytestmark = pytest.mark.engine
OWNER = f"life-{os.getpid()}"
TABLES, LENGTHS = 4, (8, 16)


# a node of one's own takes a while to start: what is the same code for both is tried on one
only_opensearch = pytest.mark.parametrize("engine", ["opensearch"])
only_elasticsearch = pytest.mark.parametrize("engine", ["elasticsearch"])


def documents(n):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 256, (n, 16), dtype=np.uint8)
    keys = rng.integers(0, 2**32, (TABLES, 1, n), dtype=np.uint32)
    made = Fingerprints(np.zeros(n, np.uint8), codes, keys, "bit")
    return Documents([f"d{i:06d}" for i in range(n)], [""] * n, made)


def lsh(**layout):
    return IndexSpec("engine", "lsh", "simhash", TABLES, LENGTHS, 128, layout=Layout(**layout))


class Watch:
    """Counts documents and keeps what it is told; calls `act` once after the first ones."""

    def __init__(self, act=lambda: None):
        self.done, self.told, self._act = 0, [], act

    def __call__(self, count):
        act, self._act = self._act, lambda: None
        self.done += count
        act()

    def say(self, what):
        self.told.append(what)


def build(backend, tmp_path, spec, docs, watch=None):
    return backend.build(spec, docs, tmp_path, watch or Watch())


def counted(node, name):
    return node("GET", f"/{name}/_count")["count"]


# ---- layout


def test_the_layout_is_that_of_the_index(backend, tmp_path, node):
    spec = lsh(
        shards=2,
        codec="best_compression",
        refresh_interval="1s",
        translog="request",
        segments=1,
    )
    handle = build(backend, tmp_path, spec, documents(600))
    stored = node("GET", f"/{handle.location}/_settings")[handle.location]["settings"]["index"]
    assert (stored["number_of_shards"], stored["number_of_replicas"]) == ("2", "0")
    assert (stored["codec"], stored["refresh_interval"]) == ("best_compression", "1s")
    assert stored["translog"]["durability"] == "request"
    shards = node("GET", f"/{handle.location}/_segments")["indices"][handle.location]["shards"]
    assert [len(copies[0]["segments"]) for copies in shards.values()] == [1, 1]
    assert counted(node, handle.location) == handle.documents == 600


def test_segments_stay_as_they_came_where_they_are_to(backend, tmp_path, node, monkeypatch):
    asked = []
    original = type(backend)._call

    def call(self, request, **named):
        asked.append(request.target)
        return original(self, request, **named)

    monkeypatch.setattr(type(backend), "_call", call)
    handle = build(backend, tmp_path, lsh(segments=0), documents(300))
    assert not any("_forcemerge" in path for path in asked)
    assert counted(node, handle.location) == 300
    merged = build(backend, tmp_path, lsh(segments=3), documents(300))
    assert f"/{merged.location}/_forcemerge?max_num_segments=3" in asked
    assert 1 <= len(backend.segments(merged).split()) <= 3


def test_a_codec_that_the_server_has_not(backend, tmp_path, node):
    with pytest.raises(BackendError, match=r"codec.* must be one of .*best_compression") as caught:
        build(backend, tmp_path, lsh(codec="nonsense"), documents(10))
    assert "\n" not in str(caught.value)
    assert node.indices(f"harness-{OWNER}-*") == []


def test_replicas_without_a_place_are_told_before_anything_is_loaded(backend, tmp_path, node):
    watch = Watch()
    with pytest.raises(
        BackendError, match=r"replicas 1 have no place.* 1 data node,.*--replicas 0"
    ):
        build(backend, tmp_path, lsh(replicas=1), documents(10), watch)
    assert (watch.done, node.indices(f"harness-{OWNER}-*")) == (0, [])


# ---- figures


def test_the_size_for_one_hash_length_is_without_the_others(backend, tmp_path):
    handle = build(backend, tmp_path, lsh(), documents(3000))
    one, other = (
        backend.size_bytes(handle, SearchParams(10, TABLES, length)) for length in LENGTHS
    )
    if backend.name == "opensearch":
        assert (handle.field_bytes, one, other) == ({}, handle.size_bytes, handle.size_bytes)
        return
    assert {"h8", "h16", "c", "id"} <= set(handle.field_bytes)
    assert one == handle.size_bytes - handle.field_bytes["h16"]
    assert other == handle.size_bytes - handle.field_bytes["h8"]
    alone = build(backend, tmp_path, replace(lsh(), hash_lengths=(8,)), documents(3000))
    assert one == pytest.approx(alone.size_bytes, rel=0.05)


def test_the_server_tells_how_its_memory_is_pressed(backend, node):
    found = backend.pressure()
    assert set(found) == {"heap_used_percent", "gc_ms", "gc_count", "breaker_trips"}
    assert 0 < found["heap_used_percent"] <= 100
    stats = next(iter(node("GET", "/_nodes/stats/breaker")["nodes"].values()))["breakers"]
    assert found["breaker_trips"] <= sum(one["tripped"] for one in stats.values())
    nowhere = registry.backend(backend.name)(BackendConfig(url="http://127.0.0.1:1", owner=OWNER))
    assert nowhere.pressure() == {}


def test_merging_is_told(backend, tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "POLL_S", 0.001)
    watch = Watch()
    build(backend, tmp_path, lsh(shards=2), documents(4000), watch)
    assert watch.told[0] == "refreshing"
    assert any(told.endswith("segments in 2 shards") for told in watch.told)
    assert watch.done == 4000


def test_a_merge_that_takes_too_long(backend, tmp_path, node, monkeypatch):
    monkeypatch.setattr(merging, "LIMIT_S", -1.0)
    monkeypatch.setattr(merging, "POLL_S", 0.0)
    with pytest.raises(EngineUnavailable, match=r"merging .* took longer than -1 s"):
        build(backend, tmp_path, lsh(), documents(300))
    assert node.indices(f"harness-{OWNER}-*") == []


# ---- bulk


def test_refused_documents_are_told_by_id_and_are_not_sent_again(backend, tmp_path, monkeypatch):
    sent = []
    original, once = lines.tails, sending.Bulk._once

    def spoiled(*arguments):
        tails = original(*arguments)
        tails[3] = tails[3].replace(b'"c":', b'"unmapped":')
        return tails

    def watched(self, part):
        sent.append(part)
        return once(self, part)

    monkeypatch.setattr(lines, "tails", spoiled)
    monkeypatch.setattr(sending.Bulk, "_once", watched)
    with pytest.raises(BackendError) as caught:
        build(backend, tmp_path, lsh(), documents(50))
    assert str(caught.value).startswith("1 document could not be indexed ('d000003'): ")
    assert len(sent) == 1


def test_documents_that_stand_already_are_an_error(backend, tmp_path, node):
    def write():
        (name,) = node.indices(f"harness-{OWNER}-*")
        node("PUT", f"/{name}/_doc/other?refresh=true", {"id": "other"})

    with pytest.raises(BackendError, match=r"has 301 documents, and 300 were sent"):
        build(backend, tmp_path, lsh(), documents(300), Watch(write))
    assert node.indices(f"harness-{OWNER}-*") == []


def test_an_answer_that_got_lost_does_not_index_twice(backend, tmp_path, node, monkeypatch):
    monkeypatch.setattr(sending, "ANSWER_AFTER_S", (0.0, 0.0))
    original, lost = building.Build._bulk, []

    def forgetful(self, sent):
        reply = original(self, sent)
        if not lost:
            lost.append(len(reply["items"]))
            raise EngineUnavailable("the connection was closed without an answer")
        return reply

    monkeypatch.setattr(building.Build, "_bulk", forgetful)
    watch = Watch()
    handle = build(backend, tmp_path, lsh(), documents(500), watch)
    assert lost[0] > 0
    assert counted(node, handle.location) == handle.documents == watch.done == 500


def test_memory_does_not_grow_with_the_corpus(engine, request, tmp_path):
    """Peak of what Python allocates in a child that maps its fingerprints and builds."""
    url = request.getfixturevalue(f"{engine}_url")
    peaks = []
    for n in (3_000, 30_000):
        codes = np.random.default_rng(n).integers(0, 256, (n, 256), dtype=np.uint8)
        np.save(tmp_path / "codes.npy", codes)
        done = subprocess.run(
            [sys.executable, "-c", CHILD, engine, url, OWNER, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        peaks.append(int(done.stdout))
    # 27,000 documents more are 10 to 15 MB of lines
    assert peaks[1] - peaks[0] < 4 << 20


CHILD = """
import sys, tracemalloc
from pathlib import Path
import numpy as np
from indexers import registry
from indexers.backends import _engine_chunks
from indexers.index_types import BackendConfig, Documents, IndexSpec
from indexers.types import Fingerprints
# requests of one size, so that what grows is what is kept of the documents
_engine_chunks.START_BYTES = _engine_chunks.MOST_BYTES = 1 << 18
engine, url, owner, folder = sys.argv[1:]
codes = np.load(Path(folder) / "codes.npy", mmap_mode="r")
ids = [f"d{i:06d}" for i in range(len(codes))]
none, keys = np.zeros(len(codes), np.uint8), np.zeros((0, 1, len(codes)), np.uint32)
docs = Documents(ids, ids, Fingerprints(none, codes, keys, "bit"))
backend = registry.backend(engine)(BackendConfig(url=url, owner=owner, timeout_s=120))
backend.check()
tracemalloc.start()
handle = backend.build(IndexSpec("engine", "flat", "simhash", bits=2048), docs, Path(folder))
print(tracemalloc.get_traced_memory()[1])
assert handle.documents == len(ids)
backend.drop(handle)
"""


# ---- nodes of our own


class Comeback:
    """Kills a node at a call, and starts it again meanwhile."""

    def __init__(self, node):
        self._node, self._thread = node, threading.Thread(target=self._start)

    def __call__(self):
        self._node.kill()
        self._thread.start()

    def _start(self):
        while self._node.alive():
            time.sleep(0.1)
        self._node.up("--keep")

    def join(self):
        self._thread.join()


@only_opensearch
def test_a_node_killed_during_bulk_comes_back_and_nothing_is_missing(
    owned, own_node, tmp_path, monkeypatch
):
    """What it had not on disk it forgot: the index is then built once more."""
    monkeypatch.setattr(chunks, "START_BYTES", 1 << 17)
    backend = owned(own_node)
    comeback = Comeback(own_node)
    watch = Watch(comeback)
    try:
        handle = build(backend, tmp_path, lsh(), documents(9000), watch)
    finally:
        comeback.join()
    assert counted(own_node, handle.location) == handle.documents == watch.done == 9000
    assert backend.sweep() == [handle.location]


@only_elasticsearch
def test_a_node_killed_during_merge_comes_back_and_is_asked_again(
    owned, own_node, tmp_path, monkeypatch
):
    backend = owned(own_node)
    made, comeback = [], Comeback(own_node)
    original = merging._Asked

    def asked(*arguments):
        made.append(original(*arguments))
        if len(made) == 1:
            comeback()
        return made[-1]

    monkeypatch.setattr(merging, "_Asked", asked)
    spec = lsh(translog="request")  # nothing is forgotten
    try:
        handle = build(backend, tmp_path, spec, documents(3000))
    finally:
        comeback.join()
    assert len(made) >= 2
    assert len(backend.segments(handle).split()) == 1
    assert counted(own_node, handle.location) == 3000
    backend.drop(handle)


# what indexing may hold in memory: less than the requests under way together
LITTLE_ROOM = ("--setting", "indexing_pressure.memory.limit=200kb")


@pytest.fixture
def narrow_node(engine, request):
    """A node that refuses with 429 whatever is more than it has room for."""
    request.getfixturevalue(f"{engine}_url")  # skips where no node can be
    made = OwnNode(engine, *LITTLE_ROOM)
    yield made
    made.down()


@only_opensearch
def test_a_server_without_room_gets_everything_in_the_end(
    owned, narrow_node, tmp_path, monkeypatch
):
    refused = []
    original = chunks.ChunkSize.refused

    def noted(self, size):
        refused.append(size)
        original(self, size)

    monkeypatch.setattr(chunks.ChunkSize, "refused", noted)
    monkeypatch.setattr(chunks, "START_BYTES", 1 << 17)
    monkeypatch.setattr(sending, "WORKERS", 8)
    backend = owned(narrow_node)
    handle = build(backend, tmp_path, lsh(), documents(9000))
    assert refused  # there was a reason to come back
    assert counted(narrow_node, handle.location) == handle.documents == 9000
    backend.drop(handle)


def test_a_bulk_that_comes_after_the_removal_makes_no_index(backend, tmp_path, node):
    """One that timed out may run on while its index is removed."""
    handle = build(backend, tmp_path, lsh(), documents(20))
    name = handle.location
    assert list(node("GET", f"/{name}/_alias")[name]["aliases"]) == [f"{name}-updates"]
    backend.drop(handle)
    send = HttpTransport(address_of(backend.name, BackendConfig(url=node.url)), 60.0)
    made = building.Build(
        *(backend._call, send, name, {}, handle.spec.layout, 60.0, print, 1.0),
        alias=f"{name}-updates",
    )
    with pytest.raises(IndexMissing, match=f"{name} is gone"):
        made._bulk(b'{"index":{"_id":"0"}}\n{"id":"a"}\n')
    send.close()
    assert node.indices(f"*{name}*") == []
