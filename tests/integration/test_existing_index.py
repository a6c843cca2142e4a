"""Indices that are there already, on real nodes: read out, measured, and never changed."""

import json
import signal
import socket
import socketserver
import threading
import time
import tracemalloc

import pytest

from harness.collection import index_corpus, index_snapshot
from harness.collection.jsonl import documents
from harness.progress import Progress
from harness.tuning.attached_bodies import deployed_bodies
from indexers import registry
from indexers.address import address_of
from indexers.backends import _engine_existing as existing
from indexers.backends import _engine_read
from indexers.backends._engine_http import HttpTransport
from indexers.deployed import Deployed
from indexers.errors import BackendError, CorpusError, EngineUnavailable, IndexMissing, SettingError
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import HashParams
from loadtest.attached_answers import AnswerSearcher

pytestmark = pytest.mark.engine
NAME = "e-existing"
ONE_SHARD = {"number_of_shards": 1, "number_of_replicas": 0}
MAPPING = {
    "properties": {
        "id": {"type": "keyword"},
        "sku": {"type": "keyword"},
        "title": {"type": "text"},
        "text": {"type": "text"},
        "price": {"type": "double"},
    }
}
MATCH = {
    "query": {"match": {"text": "{{text}}"}},
    "sort": [{"_score": "desc"}, {"id": "asc"}],
    "_source": False,
}


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def put(node):
    """Makes an index of a user's, as users do; all are gone afterwards."""
    made = set()

    def put(records, name=NAME, settings=ONE_SHARD, mapping=MAPPING):
        node("DELETE", f"/{name}")
        made.add(name)
        reply = node("PUT", f"/{name}", {"settings": settings, "mappings": mapping})
        assert reply.get("acknowledged"), reply
        for start in range(0, len(records), 2000):
            lines = []
            for record in records[start : start + 2000]:
                lines.append(json.dumps({"index": {"_id": record["_id"]}}))
                lines.append(json.dumps({k: v for k, v in record.items() if k != "_id"}))
            reply = node.pool.request(
                "POST",
                f"{node.url}/{name}/_bulk?filter_path=errors",
                body="\n".join(lines) + "\n",
                headers={"Content-Type": "application/x-ndjson"},
            )
            assert json.loads(reply.data) == {"errors": False}
        node("POST", f"/{name}/_refresh")
        return name

    yield put
    for name in made:
        node("DELETE", f"/{name}")


def everything_of(node, name=NAME):
    """All that a change of an index would change."""
    told = node("GET", f"/{name}")[name]
    (stats,) = node("GET", f"/{name}/_stats?level=shards")["indices"].values()
    sequence = [s["seq_no"]["max_seq_no"] for copies in stats["shards"].values() for s in copies]
    docs = stats["primaries"]["docs"]
    written = {k: v for k, v in stats["primaries"]["indexing"].items() if k.endswith("_total")}
    return told, sequence, docs["count"], docs["deleted"], written


def open_points(node, engine, name=NAME):
    if engine == "opensearch":
        return len(node("GET", "/_search/point_in_time/_all").get("pits", []))
    return node("GET", f"/{name}/_stats/search")["_all"]["total"]["search"]["open_contexts"]


def fetch(engine, url, *fields, name=NAME, id_field=None, fresh=False, say=print):
    access = BackendConfig(url=url)
    wanted = index_corpus.wanted_of(engine, access, name, fields, id_field)
    return index_corpus.fetch(wanted, access, fresh=fresh, stage=Progress().stage, say=say)


def held(snapshot):
    with snapshot.path.open() as lines:
        return {record["_id"]: record["text"] for record in map(json.loads, lines)}


def small(data_dir, count=800):
    """The first documents of a real corpus, with the queries that are among them."""
    folder = data_dir("debian-neardup")
    with (folder / "corpus.jsonl").open() as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
    for record in records:
        record |= {"id": record["_id"], "sku": f"s{record['_id']}"}
    return records


class Relay:
    """A way to a node that a test may close."""

    def __init__(self, url):
        host, port = url.removeprefix("http://").split(":")

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                with socket.create_connection((host, int(port))) as there:
                    thread = threading.Thread(target=_pump, args=(there, self.request), daemon=True)
                    thread.start()
                    _pump(self.request, there)

        socketserver.ThreadingTCPServer.daemon_threads = True
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def _pump(source, target):
    try:
        while part := source.recv(65536):
            target.sendall(part)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def test_an_index_is_read_whole_by_several_slices(engine, node, put, data_dir):
    path = data_dir("debian-neardup") / "corpus.jsonl"
    table = documents(path, ("title", "text"))
    with path.open() as lines:
        put([json.loads(line) for line in lines], settings={**ONE_SHARD, "number_of_shards": 3})
    before, points = everything_of(node), open_points(node, engine)
    snapshot = fetch(engine, node.url, "title", "text")
    assert held(snapshot) == dict(zip(table.ids, table.texts, strict=True))
    assert snapshot.documents == len(table.ids)
    assert everything_of(node) == before
    assert open_points(node, engine) <= points
    # unchanged: nothing is searched
    searched = node("GET", f"/{NAME}/_stats/search")["_all"]["total"]["search"]["query_total"]
    assert fetch(engine, node.url, "title", "text") == snapshot
    again = node("GET", f"/{NAME}/_stats/search")["_all"]["total"]["search"]["query_total"]
    assert again - searched <= 3  # of counting, one a shard
    # changed: read anew
    node("PUT", f"/{NAME}/_doc/new?refresh=true", {"title": "a new one"})
    changed = fetch(engine, node.url, "title", "text")
    assert changed.content != snapshot.content
    assert held(changed)["new"] == "a new one"


def test_more_shards_than_slices_and_an_alias(engine, node, put):
    records = [{"_id": str(n), "text": f"t {n}"} for n in range(700)]
    put(records, settings={**ONE_SHARD, "number_of_shards": 7})
    node("POST", "/_aliases", {"actions": [{"add": {"index": NAME, "alias": "e-alias"}}]})
    snapshot = fetch(engine, node.url, "text", name="e-alias")
    assert held(snapshot) == {record["_id"]: record["text"] for record in records}
    assert snapshot.name == NAME
    assert f"index e-alias ({NAME})" in index_corpus.provenance(snapshot)


def test_ids_from_a_field_and_texts_from_within(engine, node, put):
    mapping = {"properties": {"a": {"properties": {"b": {"type": "text"}, "n": {"type": "long"}}}}}
    put(
        [
            {"_id": "1", "a": {"b": ["x", "y"], "n": 1}},
            {"_id": "2", "a": [{"b": "z"}, {"b": "w", "n": 2}]},
            {"_id": "3", "a": {"b": "lost"}},
        ],
        mapping=mapping,
    )
    snapshot = fetch(engine, node.url, "a.b", id_field="a.n")
    assert held(snapshot) == {"1": "x y", "2": "z w"}
    assert snapshot.skipped == {index_snapshot.WITHOUT_ID: 1}


def test_what_cannot_be_read_is_one_line(engine, node, put):
    put([{"_id": "1", "text": "a", "price": 1.0}])
    put([], name="e-empty")
    put([], name="e-blind", mapping={"_source": {"enabled": False}, **MAPPING})
    both = [{"add": {"index": name, "alias": "e-both"}} for name in (NAME, "e-empty")]
    node("POST", "/_aliases", {"actions": both})
    for name, field, told in (
        ("e-none", "text", "e-none is not there"),
        (NAME, "txt", "field 'txt' is not in its mapping; choose with --text-field from: id, sku"),
        (NAME, "price", "of type double"),
        (NAME, "title", "no document has a value in 'title'"),
        ("e-empty", "text", "holds no documents"),
        ("e-blind", "text", "keeps no _source"),
        ("e-both", "text", "stands for 2 indices: name one of"),
    ):
        with pytest.raises((CorpusError, SettingError), match=told) as caught:
            fetch(engine, node.url, field, name=name)
        assert "\n" not in str(caught.value)
    node("POST", f"/{NAME}/_close")
    with pytest.raises(CorpusError, match="closed"):
        fetch(engine, node.url, "text")
    other = {"opensearch": "elasticsearch", "elasticsearch": "opensearch"}[engine]
    with pytest.raises(EngineUnavailable, match="is no"):
        fetch(other, node.url, "text")


def test_a_server_that_is_away_is_done_without(engine, node, put):
    put([{"_id": str(n), "text": f"t {n}"} for n in range(30)])
    relay = Relay(node.url)
    try:
        snapshot = fetch(engine, relay.url, "text")
    finally:
        relay.close()
    said = []
    assert fetch(engine, relay.url, "text", say=said.append) == snapshot
    assert "as read at" in said[0]
    with pytest.raises(EngineUnavailable):
        fetch(engine, relay.url, "text", fresh=True)
    with pytest.raises(EngineUnavailable):
        fetch(engine, relay.url, "title")


def test_a_large_index_streams_through_little_memory(engine, node, put, monkeypatch):
    count, length = 20_000, 500
    text = "word " * (length // 5)
    put([{"_id": str(n), "text": f"{n} {text}"} for n in range(count)])
    monkeypatch.setattr(_engine_read, "PAGE_BYTES", 128 * 1024)
    to = address_of(engine, BackendConfig(url=node.url))
    pages = _engine_read.read_pages(to, engine, NAME, ["text"], shards=1, timeout_s=60)
    tracemalloc.start()
    try:
        seen = size = 0
        for page in pages:
            seen += len(page)
            size += sum(len(hit["_source"]["text"]) for hit in page)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seen == count
    assert size > 10_000_000
    assert peak < 5_000_000


@pytest.mark.parametrize("broken_by", [GeneratorExit, KeyboardInterrupt, RuntimeError])
def test_a_reading_that_breaks_off_closes_its_point_in_time(engine, node, put, broken_by):
    put([{"_id": str(n), "text": "t"} for n in range(1000)])
    points = open_points(node, engine)
    to = address_of(engine, BackendConfig(url=node.url))
    pages = _engine_read.read_pages(to, engine, NAME, ["text"], shards=1, timeout_s=60)
    next(pages)
    if broken_by is GeneratorExit:
        pages.close()
    else:
        with pytest.raises(broken_by):
            pages.throw(broken_by)
    limit = time.monotonic() + 5
    while open_points(node, engine) > points:  # a search on its way ends first
        assert time.monotonic() < limit
        time.sleep(0.1)


def test_an_index_that_goes_away_while_it_is_read_is_told(engine, node, put):
    put([{"_id": str(n), "text": "t"} for n in range(1000)])
    to = address_of(engine, BackendConfig(url=node.url))
    pages = _engine_read.read_pages(to, engine, NAME, ["text"], shards=1, timeout_s=60, threads=1)
    next(pages)
    node("DELETE", f"/{NAME}")
    with pytest.raises(BackendError, match=f"reading index {NAME} failed"):
        list(pages)


def on(engine, node, folder, records, **bodies):
    """Flags of a study over an index, with files for its queries."""
    queries, body = folder / "queries.jsonl", folder / "match.json"
    queries.write_text(
        "".join(json.dumps({"_id": r["_id"], "text": r["text"]}) + "\n" for r in records[::40])
    )
    body.write_text(json.dumps(bodies.get("body", MATCH)))
    return (f"--{engine}-url", node.url, "--attach", f"{engine}:{NAME}", "--body", body)


SWEEP = ("--family", "simhash", "--num-tables", "4", "--hash-length", "8", "--rate", "100")


def test_a_study_over_an_index_is_that_over_its_documents(
    study, engine, node, put, data_dir, tmp_path
):
    records = small(data_dir)
    put(records)
    attach = on(engine, node, tmp_path, records)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    (tmp_path / "queries.jsonl").rename(folder / "queries.jsonl")
    before = everything_of(node)
    index = ("--index", f"{engine}:{NAME}", "--text-field", "text")
    index += ("--queries", folder / "queries.jsonl")
    backends = ("--backend", f"tables,{engine}", "--kind", "lsh,bm25")
    made = study(*index, *attach, *backends, *SWEEP)
    summary = made.summary()
    assert everything_of(node) == before
    assert node.indices(f"harness-{NAME}-*") == []
    plain = study("--corpus", folder, "--fields", "text", "--backend", "tables", *SWEEP, out="file")
    rows = {(t["setting"]["backend"], t["setting"]["kind"]): t for t in summary["trials"]}
    (of_file,) = plain.summary()["trials"]
    assert rows["tables", "lsh"]["quality"] == of_file["quality"]
    assert rows[engine, "lsh"]["quality"] == of_file["quality"]
    assert rows[engine, "attached"]["quality"] == rows[engine, "bm25"]["quality"]
    assert not rows[engine, "attached"]["baseline"]
    assert "unknown-ids" not in rows[engine, "attached"]["flags"]
    assert summary["corpus"]["documents"] == len(records)
    report = (made.folder / "report.md").read_text()
    assert f"index {NAME} of {engine} at" in report


@pytest.mark.parametrize("engine", ["opensearch"], indirect=True)
def test_a_limit_is_judged_anew_while_the_server_is_away(study, engine, node, put, tmp_path):
    records = [
        {"_id": str(n), "id": str(n), "text": f"word{n % 7} common{n % 3} t{n}"} for n in range(200)
    ]
    put(records)
    relay = Relay(node.url)
    try:
        attach = on(engine, relay, tmp_path, records)
        made = study(
            *("--index", f"{engine}:{NAME}", "--text-field", "text", "--kind", "attached", *attach),
            *("--rate", "50"),
        )
        made.run("--sla-ms", "5000")
        finished = made.rows()
        assert len(finished) == 1
    finally:
        relay.close()
    _, errors = made.run("--sla-ms", "6000")
    assert made.rows() == finished
    assert "as read at" in errors


def test_an_index_of_other_documents_is_refused_before_anything_is_built(
    study, engine, node, put, tmp_path
):
    records = [{"_id": f"x{n}", "sku": str(n), "text": f"listing {n}"} for n in range(50)]
    put(records)
    body = {"query": {"match": {"text": "{{text}} listing"}}, "_source": False}
    attach = on(engine, node, tmp_path, records, body=body)
    corpus = tmp_path / "own.jsonl"
    corpus.write_text(
        "".join(json.dumps({"_id": r["sku"], "text": r["text"]}) + "\n" for r in records)
    )
    arguments = ("--corpus", corpus, "--kind", "attached", *attach, "--rate", "50")
    before = everything_of(node)
    _, errors = study(*arguments).run(expect=2)
    assert "is a document of the corpus by its _id (such as 'x" in errors
    assert "--id-field" in errors
    summary = study(*arguments, "--id-field", "sku", out="sku").summary("--sla-ms", "5000")
    assert summary["trials"][0]["quality"]["ANNRecall@10"] > 0
    assert everything_of(node) == before


def test_a_body_that_the_engine_refuses_is_told_before_anything_is_built(
    study, engine, node, put, tmp_path
):
    put([{"_id": str(n), "text": f"t{n}"} for n in range(20)])
    records = [{"_id": "1", "text": "t1"}]
    before = everything_of(node)
    for body, told in (
        ({"query": {"mtch": {"text": "{{text}}"}}}, "mtch"),
        ({"query": {"match": {"text": "{{text}}"}}, "size": 3}, "size 3"),
    ):
        attach = on(engine, node, tmp_path, records, body=body)
        index = ("--index", f"{engine}:{NAME}", "--text-field", "text", "--backend", engine)
        _, errors = study(*index, *attach).run(expect=2)
        assert told in errors.splitlines()[-1]
    index = ("--index", f"{engine}:{NAME}", "--text-field", "text", "--kind", "attached")
    server = (f"--{engine}-url", node.url)
    _, errors = study(*index, *server, "--attach", f"{engine}:{NAME}").run(expect=2)
    assert "no manifest" in errors.splitlines()[-1]
    _, errors = study(*index, *server, "--attach", f"{engine}:e-none").run(expect=2)
    assert "e-none is not there" in errors.splitlines()[-1]
    assert everything_of(node) == before
    assert node.indices(f"harness-{NAME}-*") == []


def test_ctrl_c_leaves_the_index_as_it_was(study, engine, node, put, end, tmp_path):
    records = [{"_id": str(n), "id": str(n), "text": f"w{n % 9} t{n}"} for n in range(300)]
    put(records)
    before = everything_of(node)
    attach = on(engine, node, tmp_path, records)
    index = ("--index", f"{engine}:{NAME}", "--text-field", "text", "--kind", "attached")
    made = study(*index, *attach, "--rate", "20")
    process = made.start()
    try:
        searched = -1
        limit = time.monotonic() + 180
        while searched < 100:  # the load runs
            assert process.poll() is None, process.stderr.read()[-2000:]
            assert time.monotonic() < limit
            stats = node("GET", f"/{NAME}/_stats/search")["_all"]["total"]["search"]
            searched = stats["query_total"]
            time.sleep(0.1)
        code, errors = end(process, signal.SIGINT)
    finally:
        process.kill()
    assert code == 130, errors
    assert "Traceback" not in errors
    assert everything_of(node) == before


def test_no_tag_makes_an_attached_index_ours(engine, node, put):
    """Not even one that carries our prefix and a manifest of deploy files."""
    name = "harness-products-12345678"
    mapping = {**MAPPING, "_meta": {"harness": {"manifest": {"format": 1}}}}
    put([{"_id": "1", "text": "t"}], name=name, mapping=mapping)
    before = everything_of(node, name)
    backend = registry.backend(engine)(BackendConfig(url=node.url, owner="products"))
    assert backend.sweep() == []
    assert everything_of(node, name) == before


def test_what_is_told_of_an_index_is_only_read(engine, node, put):
    put([{"_id": "1", "text": "t"}])
    before = everything_of(node)
    send = HttpTransport(address_of(engine, BackendConfig(url=node.url)), 10)
    found = existing.look(send, NAME)
    assert (found.name, found.shards) == (NAME, 1)
    assert existing.count(send, NAME) == 1
    state, segments = existing.state(send, NAME), existing.segments(send, NAME)
    assert state
    assert segments
    assert existing.size_bytes(send, NAME) > 0
    with pytest.raises(IndexMissing):
        existing.look(send, "e-none")
    assert everything_of(node) == before
    node("PUT", f"/{NAME}/_doc/1?refresh=true", {"text": "u"})
    assert existing.state(send, NAME) != state
    assert existing.segments(send, NAME) != segments
    send.close()


def test_an_index_with_a_manifest_is_asked_as_it_says(engine, node, tmp_path):
    texts = [f"listing {n} of word{n % 5} and word{n % 3} and more of it" for n in range(60)]
    ids = [f"d{n:03}" for n in range(60)]
    spec = IndexSpec(engine, "lsh", "simhash", num_tables=4, hash_lengths=(6,), bits=128)
    search = SearchParams(k=5, num_tables=4, hash_length=6)
    deployed = Deployed(spec, search, HashParams(bits=128, seed=123))
    prints = deployed.hasher()(texts)
    backend = registry.backend(engine)(BackendConfig(url=node.url, owner="e-manifest"))
    handle = backend.build(spec, Documents(ids, texts, prints), tmp_path)
    send = HttpTransport(address_of(engine, BackendConfig(url=node.url)), 30)
    try:
        with pytest.raises(SettingError, match="no manifest"):
            deployed_bodies(engine, existing.look(send, handle.location), texts, 5, send)
        held = existing.look(send, handle.location).mapping["_meta"]["harness"]
        meta = {"_meta": {"harness": {**held, "manifest": deployed.manifest}}}
        node("PUT", f"/{handle.location}/_mapping", meta)
        index = existing.look(send, handle.location)
        bodies = deployed_bodies(engine, index, [*texts[:9], " "], 5, send)
        assert bodies[9] == b""
        attached = AnswerSearcher(handle.location, bodies[:9], ids, None, send)
        ours = backend.open(handle, search, Queries(texts, prints), ids, send)
        for query in range(9):
            expected = ours.search(query).ordinals.tolist()
            assert expected[0] == query
            assert attached.search(query).ordinals.tolist() == expected
    finally:
        backend.drop(handle)
        send.close()
