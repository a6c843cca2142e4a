"""What goes wrong with a server in the middle of a study, on real nodes.

Each time the study ends by itself or can go on, every trial has a row that was measured on a whole
index or tells why not, and nothing of ours stays.
"""

import contextlib
import importlib.util
import itertools
import json
import os
import re
import signal
import sqlite3
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from indexers.backends import _engine_chunks as chunks
from indexers.backends import _engine_sending as sending
from indexers.backends import _engine_temporary as temporary
from indexers.errors import BackendError, EngineUnavailable, IndexMissing
from indexers.index_types import Documents, IndexSpec
from indexers.types import Fingerprints

_found = importlib.util.spec_from_file_location(
    "resetting_proxy", Path(__file__).parents[1] / "resetting_proxy.py"
)
_module = importlib.util.module_from_spec(_found)
_found.loader.exec_module(_module)
ResettingProxy = _module.ResettingProxy

pytestmark = pytest.mark.engine
OWNER = f"faults-{os.getpid()}"
OURS = "harness-*"
LSH = ("--corpus", "catalogue:300", "--family", "simhash", "--kind", "lsh")
TWO = (*LSH, "--num-tables", "6", "--hash-length", "4,12")
CALM = ("--rate", "100", "--sla-ms", "5000")
"""Nothing times out on a busy machine, so that every error is of the fault."""
FOUR = (*LSH, "--num-tables", "2,6", "--hash-length", "4,12", *CALM)
RAN = (0, 3)
"""Exit codes of what ran to its end, whatever a busy machine made of the SLA."""


only_opensearch = pytest.mark.parametrize("engine", ["opensearch"])
only_elasticsearch = pytest.mark.parametrize("engine", ["elasticsearch"])


def on(engine, node, *more):
    """Flags of a study on this node and on other backends."""
    return ("--backend", ",".join((engine, *more)), f"--{engine}-url", node.url)


def documents(n):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 256, (n, 16), dtype=np.uint8)
    keys = rng.integers(0, 2**32, (4, 1, n), dtype=np.uint32)
    made = Fingerprints(np.zeros(n, np.uint8), codes, keys, "bit")
    return Documents([f"d{i:06d}" for i in range(n)], [""] * n, made)


def lsh():
    return IndexSpec("engine", "lsh", "simhash", 4, (8, 16), 128)


class Reader:
    """Keeps what a running study says."""

    def __init__(self, process):
        self.process, self.text = process, ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        for line in self.process.stderr:
            self.text += line

    def wait_for(self, words, limit_s=120):
        end = time.monotonic() + limit_s
        while words not in self.text:
            assert self.process.poll() is None, self.text[-2000:]
            assert time.monotonic() < end, self.text[-2000:]
            time.sleep(0.05)

    def ended(self, limit_s=240):
        code = self.process.wait(timeout=limit_s)
        self._thread.join(timeout=10)
        self.process.stdout.close()
        self.process.stderr.close()
        assert "Traceback" not in self.text, self.text[-3000:]
        return code


def trials(made):
    return json.loads((made.folder / "summary.json").read_text())["trials"]


def whole(trial):
    """Whether a row is one that was measured on a server that was there all the time."""
    return trial["status"] == "ok" and not trial["errors"] and "unanswered" not in trial["flags"]


# ---- a node that dies


@only_elasticsearch
def test_a_node_killed_under_load_is_waited_for_and_the_rest_is_measured(study, engine, own_node):
    made = study(*FOUR, *on(engine, own_node), "--patience", "300")
    process = made.start()
    told = Reader(process)
    made.wait_for_rows(process, 1)
    own_node.kill()
    told.wait_for(f"{engine} is waited for, up to 5 min")
    kept = made.rows()
    own_node.bring_back()
    assert told.ended() in RAN, told.text
    assert f"{engine} is there: going on" in told.text
    assert made.rows("failed") == {}
    assert [whole(t) for t in trials(made)] == [True] * 4
    assert {key: made.rows()[key] for key in kept} == kept
    assert own_node.indices(OURS) == []


@only_opensearch
def test_ctrl_c_ends_the_wait_and_the_next_run_goes_on(study, engine, own_node):
    made = study(*TWO, *CALM, *on(engine, own_node), "--patience", "300")
    process = made.start()
    told = Reader(process)
    made.wait_for_rows(process, 1)
    own_node.kill()
    told.wait_for("is waited for")
    os.kill(process.pid, signal.SIGINT)
    assert told.ended(30) == 130
    assert "may still stand" in told.text
    own_node.bring_back()
    _, errors = made.run()
    assert "left behind by an earlier run" in errors
    assert all(map(whole, trials(made)))
    assert own_node.indices(OURS) == []


@only_elasticsearch
def test_a_node_that_stays_away_is_waited_for_once(study, engine, own_node):
    """Two indices were to be built after it died; the tables in process are not held up."""
    made = study(
        *("--corpus", "catalogue:300", "--family", "simhash", "--num-tables", "6"),
        *("--hash-length", "4,12", *CALM, "--patience", "3"),
        *on(engine, own_node, "tables"),
    )
    process = made.start()
    told = Reader(process)
    made.wait_for_rows(process, 1)
    own_node.kill()
    assert told.ended() in RAN, told.text
    assert told.text.count("is waited for") == 1
    assert told.text.count("did not come back within 3 s") == 1
    by_backend = {}
    for trial in trials(made):
        by_backend.setdefault(trial["setting"]["backend"], []).append(trial)
    assert all(map(whole, by_backend["tables"]))
    failed = [t for t in by_backend[engine] if t["status"] == "failed"]
    assert len(failed) >= 2
    # the first of them was under load, the others had no index to be put on
    assert all(re.search("no answer from|stopped answering", t["error"]) for t in failed), failed
    own_node.bring_back()
    made.run(expect=RAN)
    assert all(map(whole, trials(made)))
    assert own_node.indices(OURS) == []


# ---- a node that hangs


@only_opensearch
def test_a_node_that_hangs_for_a_while_under_load(study, engine, own_node):
    """Requests to it time out: they count against the trial, and the trial stays."""
    slow = ("--rate", "100", "--samples", "1000")
    made = study(*TWO, *slow, *on(engine, own_node))
    process = made.start()
    told = Reader(process)
    made.wait_for_rows(process, 1)
    time.sleep(5)  # in the ten seconds of the second trial's schedule
    own_node.signal(signal.SIGSTOP)
    time.sleep(4)
    own_node.signal(signal.SIGCONT)
    assert told.ended() in RAN, told.text
    assert [t["status"] for t in trials(made)] == ["ok", "ok"]
    hung = max(trials(made), key=lambda t: t["errors"])
    assert hung["errors"] >= 100  # of the 300 that waited longer than the second they may take
    assert "errors" in hung["flags"]
    assert not hung["feasible"]
    assert own_node.indices(OURS) == []


@only_elasticsearch
def test_a_node_that_hangs_for_good_fails_its_trials(study, engine, own_node):
    made = study(*TWO, "--rate", "300", *on(engine, own_node), "--patience", "1")
    process = made.start()
    told = Reader(process)
    made.wait_for_rows(process, 1)
    own_node.signal(signal.SIGSTOP)
    try:
        assert told.ended() in (*RAN, 1), told.text
    finally:
        own_node.signal(signal.SIGCONT)
    (failed,) = [t for t in trials(made) if t["status"] == "failed"]
    assert "no answer from" in failed["error"]
    assert "did not come back within 1 s" in told.text
    made.run(expect=RAN)
    assert len(made.rows()) == 2
    assert own_node.indices(OURS) == []


# ---- connections that break


def every(n, word):
    """Cuts every n-th request with these bytes in it, in turn before and after it is sent."""
    counter, ways = itertools.count(1), itertools.cycle(["before", "after"])
    return lambda data: next(ways) if word in data and not next(counter) % n else None


@pytest.fixture
def relay():
    """Makes relays to a server."""
    made = []

    def make(node, cut):
        made.append(ResettingProxy(node.url, cut))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def test_bulk_over_connections_that_break_loses_and_doubles_nothing(
    owned, node, relay, tmp_path, monkeypatch
):
    monkeypatch.setattr(chunks, "START_BYTES", 1 << 16)
    monkeypatch.setattr(sending, "ANSWER_AFTER_S", (0.05,) * 20)
    cuts = []
    inner = every(3, b"/_bulk")

    def cut(data):
        how = inner(data)
        cuts.extend([how] if how else [])
        return how

    through = relay(node, cut)
    docs = documents(4000)
    handle = owned(through).build(lsh(), docs, tmp_path)
    assert {"before", "after"} <= set(cuts)
    assert handle.documents == 4000
    path = f"/{handle.location}/_search?size=0&track_total_hits=true"
    assert node("POST", path)["hits"]["total"]["value"] == 4000
    stats = node("GET", f"/{handle.location}/_stats/docs")["_all"]["primaries"]["docs"]
    assert stats["count"] == 4000


@only_opensearch
def test_bulk_over_connections_that_always_break_fails_with_its_reason(
    owned, node, relay, tmp_path, monkeypatch
):
    monkeypatch.setattr(sending, "ANSWER_AFTER_S", (0.05,) * 3)
    through = relay(node, every(1, b"/_bulk"))
    with pytest.raises(EngineUnavailable, match="no answer from") as caught:
        owned(through).build(lsh(), documents(500), tmp_path)
    assert caught.value.waited_s > 0
    assert node.indices(f"harness-{OWNER}-*") == []


@only_opensearch
def test_load_over_connections_that_break_counts_them(study, engine, node, relay):
    through = relay(node, every(50, b"/_search"))
    made = study(*TWO, *CALM, *on(engine, through))
    process = made.start()
    told = Reader(process)
    made.wait_for_rows(process, 1)
    owner = _tag(made)
    assert told.ended() in RAN, told.text
    for trial in trials(made):
        assert trial["status"] == "ok"
        assert 1 <= trial["errors"] <= 30
        assert "errors" in trial["flags"]
        assert trial["quality"]["ANNRecall@10"] > 0.1  # asked again afterwards
    assert node.indices(f"harness-{owner}-*") == []


def _tag(made):
    """What the names of this study's indices alone have, while one stands or may stand."""
    with contextlib.closing(sqlite3.connect(made.folder / "study.sqlite")) as db:
        ((value,),) = db.execute("SELECT value FROM meta WHERE name = 'standing'").fetchall()
    (owner,) = {standing["owner"] for standing in json.loads(value)}
    return owner


# ---- other people on the cluster


def test_an_index_of_our_name_with_another_mapping_stays(owned, node, tmp_path, monkeypatch):
    drawn = iter(["0123abcd", "0123abcd", "4567cdef"])
    theirs = f"harness-{OWNER}-0123abcd"
    monkeypatch.setattr(temporary.secrets, "token_hex", lambda _: next(drawn))
    node("PUT", f"/{theirs}", {"mappings": {"properties": {"id": {"type": "date"}}}})
    try:
        before = node("GET", f"/{theirs}")
        backend = owned(node)
        handle = backend.build(lsh(), documents(200), tmp_path)
        assert handle.location == f"harness-{OWNER}-4567cdef"
        assert backend.sweep() == [handle.location]
        assert node("GET", f"/{theirs}") == before
        monkeypatch.setattr(temporary.secrets, "token_hex", lambda _: "0123abcd")
        with pytest.raises(BackendError, match="already exists"):
            backend.build(lsh(), documents(200), tmp_path)
        assert node("GET", f"/{theirs}") == before
    finally:
        node("DELETE", f"/{theirs}")


@only_opensearch
def test_two_studies_at_once_leave_each_other_alone(study, engine, own_node):
    flags = (*FOUR, *on(engine, own_node))
    pair = [study(*flags, out=name) for name in ("one", "other")]
    running = [(made, made.start()) for made in pair]
    readers = [Reader(process) for _, process in running]
    for made, process in running:
        made.wait_for_rows(process, 1)
    names = own_node.indices(OURS)
    assert len(names) == 2
    process = pair[0].start()  # a third, in a folder that is in use
    third = Reader(process)
    assert third.ended() == 1
    assert "is in use by another run" in third.text
    running[0][1].send_signal(signal.SIGINT)
    assert readers[0].ended(60) == 130
    (left,) = own_node.indices(OURS)
    assert _tag(pair[1]) in left
    assert readers[1].ended() in RAN
    assert all(map(whole, trials(pair[1])))
    assert own_node.indices(OURS) == []


def remove_ours(node, made, limit_s=60):
    """Remove the study's index as someone else would; gives the owner that it names."""
    end, owner = time.monotonic() + limit_s, _tag(made)
    while time.monotonic() < end:
        for name in node.indices(f"harness-{owner}-*"):
            node("DELETE", f"/{name}")
            return owner
        time.sleep(0.02)
    raise AssertionError("no index of ours")


@only_elasticsearch
def test_an_index_that_someone_removes_during_a_trial_is_made_again(study, engine, node):
    made = study(*FOUR, *on(engine, node))
    process = made.start()
    told = Reader(process)
    made.wait_for_rows(process, 1)
    owner = remove_ours(node, made)
    assert told.ended() in RAN, told.text
    assert "is gone: someone removed it" in told.text
    assert made.rows("failed") == {}
    assert [whole(t) for t in trials(made)] == [True] * 4
    assert node.indices(f"harness-{owner}-*") == []


def test_an_index_that_someone_removes_while_it_is_filled_is_missed(
    owned, node, tmp_path, monkeypatch
):
    """The next documents bring it back, with a mapping of the server's own and no tag of ours."""
    monkeypatch.setattr(chunks, "START_BYTES", 1 << 16)
    removed = []

    def remove(_):
        if not removed:
            removed.extend(node.indices(f"harness-{OWNER}-*"))
            node("DELETE", f"/{removed[0]}")

    with pytest.raises(BackendError, match="is gone: someone removed it while") as caught:
        owned(node).build(lsh(), documents(4000), tmp_path, remove)
    assert isinstance(caught.value, IndexMissing)
    assert node.indices(f"harness-{OWNER}-*") == []


# ---- a server that refuses


def breaker(node, limit):
    """What requests under way may hold; the setting itself is always let through."""
    name = "network.breaker.inflight_requests.limit"
    assert node("PUT", "/_cluster/settings", {"transient": {name: limit}})["acknowledged"]


@only_opensearch
def test_a_storm_of_429_fails_the_trials_in_it_and_no_others(study, engine, own_node):
    sizes = ("--num-tables", "2,3,4,6", "--hash-length", "4,8,12", "--samples", "100")
    made = study(*LSH, *sizes, *CALM, *on(engine, own_node))
    process = made.start()
    told = Reader(process)
    made.wait_for_rows(process, 1)
    breaker(own_node, "10b")
    try:
        while not made.rows("failed"):
            assert process.poll() is None, told.text
            time.sleep(0.02)
    finally:
        breaker(own_node, None)
    assert told.ended() in RAN, told.text
    found = trials(made)
    failed = [t for t in found if t["status"] == "failed"]
    assert all("HTTP 429 circuit_breaking_exception" in t["error"] for t in failed)
    assert 1 <= len(failed) < 11
    assert whole(found[-1])
    assert own_node.indices(OURS) == []
    made.run(expect=RAN)
    assert made.rows("failed") == {}
    assert len(made.rows()) == 12


@only_elasticsearch
def test_an_index_that_turns_read_only_is_searched_on_and_removed(study, engine, node):
    made = study(*FOUR, *on(engine, node))
    process = made.start()
    told = Reader(process)
    made.wait_for_rows(process, 1)
    owner = _tag(made)
    for name in node.indices(f"harness-{owner}-*"):
        node("PUT", f"/{name}/_settings", {"index.blocks.read_only": True})
    assert told.ended() in RAN, told.text
    assert [t["status"] for t in trials(made)] == ["ok"] * 4
    assert node.indices(f"harness-{owner}-*") == []
