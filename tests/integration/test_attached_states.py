"""Rows of an attached index on real nodes: of one state, or it is said."""

import json
from contextlib import closing

import pytest

from harness.collection import index_corpus
from harness.config_sources import study_config
from harness.progress import Progress
from harness.settings import Setting
from harness.tuning.attached import (
    CHANGED,
    has_changed,
    put_attached,
    transport_to,
    with_rebuilt,
    without_handle,
)
from harness.tuning.attached import Asked as AskedIndex
from harness.tuning.attached_bodies import deployed_bodies
from harness.tuning.plan import Plan, Planned
from harness.tuning.space import Point
from harness.tuning.store import Store
from harness.tuning.trial import Trial
from indexers import registry
from indexers.address import address_of
from indexers.backends import _engine_existing as existing
from indexers.backends._engine_http import HttpTransport
from indexers.deployed import Deployed
from indexers.errors import BackendError, CorpusError
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import HashParams
from loadtest.attached_answers import AnswerSearcher

pytestmark = pytest.mark.engine
NAME = "m-attached"
ONE_ENGINE = pytest.mark.parametrize("engine", ["opensearch"], indirect=True)
"""What is stored is the same for both."""


@pytest.fixture
def shop(node):
    """A user's index with ten documents; what is called makes it anew."""

    def make():
        node("DELETE", f"/{NAME}")
        settings = {"number_of_shards": 1, "number_of_replicas": 0}
        node("PUT", f"/{NAME}", {"settings": settings})
        lines = [
            f'{{"index":{{"_id":"{number}"}}}}\n{{"text":"listing {number}"}}\n'
            for number in range(10)
        ]
        path = f"{node.url}/{NAME}/_bulk?refresh=true"
        headers = {"Content-Type": "application/x-ndjson"}
        reply = node.pool.request("POST", path, body="".join(lines), headers=headers)
        assert reply.status == 200

    make()
    yield make
    node("DELETE", f"/{NAME}")


class Studied:
    """A study of two search bodies, whose rows come and go without any load."""

    def __init__(self, folder, engine, url):
        given = {"sla_ms": 100, "attach": f"{engine}:{NAME}", "kind": "attached"}
        self.config = study_config({**given, f"{engine}_url": url})
        rows = [Setting(None, engine, "attached", index=NAME, body=body) for body in "ab"]
        self.planned = tuple(
            Planned(f"{body:0>16}", Point(row, False)) for body, row in zip("ab", rows, strict=True)
        )
        self.plan = Plan("study", folder, self.planned, ())
        self.store = Store(folder / "study.sqlite")
        self.engine = engine
        self.said = Progress()
        self.lines = []
        self.said.say = self.lines.append

    def missing(self):
        """Letters of the rows that this run measures."""
        stored = self.store.trials()
        left = tuple(p for p in self.planned if p.key not in stored)
        self.left = with_rebuilt(self.config, self.plan, left, self.store, self.said)
        return "".join(p.key[-1] for p in self.left)

    def look(self):
        with closing(transport_to(self.config, self.engine)) as send:
            found = {
                "uuid": existing.look(send, NAME).uuid,
                "state": existing.state(send, NAME),
            }
        put_attached(self.store, self.plan, self.left, {f"{self.engine}:{NAME}": found})

    def measure(self, letters):
        for planned in self.planned:
            if planned.key[-1] in letters:
                self.store.put(Trial(planned.key, planned.point.setting, False, "ok"))

    def changed(self):
        with closing(transport_to(self.config, self.engine)) as send:
            return has_changed(self.store, self.config, send)


@pytest.fixture
def studied(tmp_path, engine, node, shop):  # noqa: ARG001  # the index is there
    found = Studied(tmp_path, engine, node.url)
    yield found
    found.store.close()


@ONE_ENGINE
def test_a_killed_run_leaves_no_row_of_an_index_that_is_gone(studied, shop):
    assert studied.missing() == "ab"
    studied.look()
    studied.measure("ab")
    assert studied.missing() == ""
    shop()
    assert studied.missing() == "ab"
    assert "another one" in studied.lines[-1]
    studied.look()
    studied.measure("a")  # and killed
    assert studied.missing() == "b"
    assert list(studied.store.trials()) == [studied.planned[0].key]


@ONE_ENGINE
def test_a_look_that_fails_keeps_what_was_measured(studied, shop):
    studied.missing()
    studied.look()
    studied.measure("ab")
    shop()
    assert studied.missing() == "ab"  # and an error before anything was asked
    assert len(studied.store.trials()) == 2
    assert studied.missing() == "ab"


@ONE_ENGINE
def test_rows_of_two_states_are_not_held_against_each_other(studied, node):
    studied.missing()
    studied.look()
    studied.measure("a")  # and killed
    assert studied.missing() == "b"
    assert not studied.changed()
    node("PUT", f"/{NAME}/_doc/new?refresh=true", {"text": "one more"})
    assert studied.changed()
    assert studied.missing() == "ab"
    assert "all of its rows are measured again" in studied.lines[-1]
    studied.look()
    assert studied.store.trials() == {}
    studied.measure("ab")
    assert not studied.changed()


@ONE_ENGINE
def test_a_finished_study_keeps_its_rows_of_an_index_that_changed(studied, node):
    studied.missing()
    studied.look()
    studied.measure("ab")
    node("PUT", f"/{NAME}/_doc/new?refresh=true", {"text": "one more"})
    assert studied.missing() == ""
    assert "--fresh measures all again" in studied.lines[-1]


def test_a_row_tells_that_the_index_changed_since_the_first():
    remarks = without_handle((), AskedIndex((), ("as it is",)), 0, changed=True)
    assert remarks == ("as it is", CHANGED)


def test_an_index_that_ranks_a_window_can_be_attached(engine, node, tmp_path):
    """Its answers bring no `_id`, and equal scores in no order."""
    texts = [f"listing {n // 6} of this shop and more of it" for n in range(60)]
    ids = [f"d{n:03}" for n in reversed(range(60))]
    order = sorted(range(60), key=ids.__getitem__)
    ids, texts = [ids[row] for row in order], [texts[row] for row in order]
    spec = IndexSpec(engine, "lsh", "simhash", num_tables=4, hash_lengths=(6,), bits=128)
    search = SearchParams(k=5, num_tables=4, hash_length=6, rerank="window", window_size=60)
    deployed = Deployed(spec, search, HashParams(bits=128, seed=123))
    prints = deployed.hasher()(texts)
    backend = registry.backend(engine)(BackendConfig(url=node.url, owner="m-window"))
    handle = backend.build(spec, Documents(ids, texts, prints), tmp_path)
    send = HttpTransport(address_of(engine, BackendConfig(url=node.url)), 30)
    try:
        held = existing.look(send, handle.location).mapping["_meta"]["harness"]
        tag = {"manifest": deployed.manifest, "search": deployed.document["search"]}
        node("PUT", f"/{handle.location}/_mapping", {"_meta": {"harness": {**held, **tag}}})
        index = existing.look(send, handle.location)
        bodies = deployed_bodies(engine, index, texts[:10], 5, send)
        attached = AnswerSearcher(handle.location, bodies, ids, None, send)
        ours = backend.open(handle, search, Queries(texts, prints), ids, send)
        for query in range(10):
            found = attached.search(query)
            assert found.unknown == 0
            assert len(found.ordinals) == 5
            assert found.ordinals.tolist() == ours.search(query).ordinals.tolist()
    finally:
        backend.drop(handle)
        send.close()


def test_a_reading_that_loses_documents_is_told(engine, node, shop, monkeypatch, tmp_path):  # noqa: ARG001
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    access = BackendConfig(url=node.url)
    wanted = index_corpus.wanted_of(engine, access, NAME, ("text",))

    def fetch():
        stage = Progress().stage
        return index_corpus.fetch(wanted, access, fresh=False, stage=stage, say=print)

    whole = index_corpus.read_pages

    def short(*arguments, **options):
        for page in whole(*arguments, **options):
            yield [hit for hit in page if hit["_id"] != "3"]

    monkeypatch.setattr(index_corpus, "read_pages", short)
    with pytest.raises(CorpusError, match="9 of its 10 documents were read") as caught:
        fetch()
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(index_corpus, "read_pages", whole)
    assert fetch().documents == 10  # nothing of the short reading was kept

    def growing(*arguments, **options):
        yield from short(*arguments, **options)
        node("PUT", f"/{NAME}/_doc/3?refresh=true", {"text": "listing, changed meanwhile"})

    node("PUT", f"/{NAME}/_doc/4?refresh=true", {"text": "listing, changed"})
    monkeypatch.setattr(index_corpus, "read_pages", growing)
    assert fetch().documents == 9  # of what changes meanwhile, nobody can say more


def test_a_count_of_a_part_is_no_count():
    failed = {"failed": 1, "failures": [{"reason": {"type": "t", "reason": "shard is gone"}}]}

    def send(_):
        return 200, json.dumps({"count": 5, "_shards": failed}).encode()

    with pytest.raises(BackendError, match="failed on 1 of its shards: t: shard is gone"):
        existing.count(send, NAME)
