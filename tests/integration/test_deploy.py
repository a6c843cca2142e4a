"""`deploy/` of a pick: followed outside the checkout, it gives the trial's answers."""

import gzip
import json
import os
import re
import secrets
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import orjson
import pytest
import urllib3

from harness.config import StudyConfig
from harness.deploy.content import content
from harness.deploy.deployment import Deployment
from harness.deploy.write import put_deploy
from harness.tuning.plan import Plan
from harness.tuning.store import Store

K = 10
ENGINES = ("opensearch", "elasticsearch")


def lines(path):
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def write_lines(path, records):
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, data_dir):
    """40 judged queries, what is relevant to them, and 500 more documents, in no order of ids.

    Documents have a `rank` that tells nothing of them.
    """
    source, folder = data_dir("debian-neardup"), tmp_path_factory.mktemp("corpus")
    queries = lines(source / "queries.jsonl")[:40]
    asked = {query["_id"] for query in queries}
    judged = [row.split("\t") for row in (source / "qrels.tsv").read_text().splitlines()]
    kept = [row for row in judged[1:] if row[0] in asked]
    wanted = asked | {row[1] for row in kept}
    documents = lines(source / "corpus.jsonl")
    chosen = [d for d in documents if d["_id"] in wanted]
    chosen += [d for d in documents if d["_id"] not in wanted][:500]
    np.random.default_rng(5).shuffle(chosen)
    chosen = [document | {"rank": row} for row, document in enumerate(chosen)]
    write_lines(folder / "corpus.jsonl", chosen)
    write_lines(folder / "queries.jsonl", queries)
    rows = "\n".join("\t".join(row) for row in [judged[0], *kept])
    (folder / "qrels.tsv").write_text(rows + "\n")
    return folder


class Measured:
    """A study whose trials can be deployed one by one."""

    def __init__(self, folder, config, dimension=None):
        self.folder, self.config, self.dimension = folder, config, dimension

    def trials(self):
        store = Store(self.folder / "study.sqlite")
        try:
            return list(store.trials().values())
        finally:
            store.close()

    def find(self, **wanted):
        """The one trial of this setting."""
        (trial,) = (
            t
            for t in self.trials()
            if all(getattr(t.setting, name) == value for name, value in wanted.items())
        )
        return trial

    def deploy(self, into, **wanted):
        """Write the files for the one trial of this setting; gives it."""
        trial = self.find(**wanted)
        store = Store(self.folder / "study.sqlite")
        plan = Plan("a-study", self.folder, (), (), self.dimension)
        try:
            made = content(self.config, plan, store, trial, f"nDCG@{K}", "harness tune")
            put_deploy(into, made, {})
        finally:
            store.close()
        return trial

    def answers(self, key):
        """Query id -> ids as they were scored."""
        found = {}
        packed = (self.folder / "runs" / f"{key}.run.gz").read_bytes()
        for line in gzip.decompress(packed).decode().splitlines():
            query, _, document, *_ = line.split()
            found.setdefault(unquote(query), []).append(unquote(document))
        return found


def measure(folder, corpus, urls, *arguments, expect=(0,), dimension=None, **values):
    """Run `harness tune`; gives the study."""
    command = [str(Path(sys.executable).with_name("harness")), "tune", "--sla-ms", "2000"]
    command += ["--config", str(folder.parent / "quick.yaml"), "--out", str(folder)]
    (folder.parent / "quick.yaml").write_text("burst_s: 0.1\nsamples: 300\nrate: 1000\n")
    environment = os.environ | {f"HARNESS_{n.upper()}_URL": u for n, u in urls.items()}
    done = subprocess.run(
        [*command, "--corpus", str(corpus), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
    )
    assert done.returncode in expect, done.stderr[-2000:]
    config = StudyConfig(sla_ms=2000, corpus=str(corpus), samples=300, **values)
    return Measured(folder, config, dimension)


@pytest.fixture(scope="module")
def urls(opensearch_url, elasticsearch_url):
    return {"opensearch": opensearch_url, "elasticsearch": elasticsearch_url}


@pytest.fixture(scope="module")
def texts(tmp_path_factory, corpus, urls):
    """Settings over texts on every backend."""
    return measure(
        tmp_path_factory.mktemp("texts") / "study",
        corpus,
        urls,
        *("--backend", "opensearch,elasticsearch,tables,faiss"),
        *("--family", "simhash,minhash", "--num-tables", "6"),
        *("--hash-length", "simhash=8", "--hash-length", "minhash=2"),
        *("--kind", "lsh,multihash,bm25"),
    )


DIMENSION = 256


@pytest.fixture(scope="module")
def vectors(corpus, tmp_path_factory):
    """One a document, in the order of the file, and one a query: those of the documents."""
    folder = tmp_path_factory.mktemp("vectors")
    ids = [document["_id"] for document in lines(corpus / "corpus.jsonl")]
    made = np.random.default_rng(7).normal(size=(len(ids), DIMENSION)).astype(np.float32)
    np.save(folder / "documents.npy", made)
    row_of = {name: row for row, name in enumerate(ids)}
    rows = [row_of[query["_id"]] for query in lines(corpus / "queries.jsonl")]
    np.save(folder / "queries.npy", made[rows])
    return folder


IN_PROCESS_STUDY = (
    *("--backend", "tables,hnswlib", "--family", "simhash,bihash", "--weighting", "idf"),
    *("--kind", "lsh,hnsw", "--num-tables", "6", "--hash-length", "8", "--ef-search", "32"),
)


@pytest.fixture(scope="module")
def learnt(tmp_path_factory, corpus, vectors, hnswlib):  # noqa: ARG001  # needs it
    """Settings over weights that were learnt, and over vectors, in process."""
    return measure(
        tmp_path_factory.mktemp("learnt") / "study",
        corpus,
        {},
        *IN_PROCESS_STUDY,
        *("--vectors", vectors / "documents.npy"),
        dimension=DIMENSION,
        weighting="idf",
        vectors=str(vectors / "documents.npy"),
        family=("simhash", "bihash"),
    )


@pytest.fixture
def index(urls):
    """A name that no index has; what is made of it is removed."""
    name = f"deploy-test-{secrets.token_hex(4)}"
    yield name
    for url in urls.values():
        urllib3.request("DELETE", f"{url}/{name}")


def run(folder, script, *arguments, cwd, expect=0):
    """A script of the folder with the installed package alone; gives (stdout, stderr)."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith("HARNESS_")}
    done = subprocess.run(
        [sys.executable, "-I", str(folder / "deploy" / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        timeout=300,
    )
    assert done.returncode == expect, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def asked(printed, queries):
    """Query id -> ids, the query itself left out as the study does."""
    found = {}
    for line in printed.splitlines():
        told = json.loads(line)
        hits = [hit["id"] for hit in told["hits"] if hit["id"] != told["query"]]
        found[told["query"]] = hits[:K]
    assert sorted(found) == sorted(queries)
    return {query: hits for query, hits in found.items() if hits}


def follow(folder, place, corpus, tmp_path, *, more=(), query_more=()):
    """What deploy/README.md says to do; gives query id -> ids."""
    run(folder, "ingest.py", *place, *more, corpus / "corpus.jsonl", cwd=tmp_path)
    queries = corpus / "queries.jsonl"
    wanted = [*place, *query_more, "--queries", queries, "--k", K + 1, "--json"]
    printed, _ = run(folder, "query.py", *wanted, cwd=tmp_path)
    return asked(printed, [query["_id"] for query in lines(queries)])


ON_ENGINES = [
    {"family": "simhash", "kind": "lsh"},
    {"family": "minhash", "kind": "lsh"},
    {"family": None, "kind": "bm25"},
]


@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("setting", ON_ENGINES, ids=lambda s: f"{s['family']}-{s['kind']}")
def test_an_engine_gives_the_answers_of_the_trial(
    engine, setting, texts, urls, index, corpus, tmp_path
):
    trial = texts.deploy(tmp_path, backend=engine, **setting)
    place = ["--url", urls[engine], "--index", index]
    answers = follow(tmp_path, place, corpus, tmp_path)
    assert len(answers) == 40
    assert answers == texts.answers(trial.key)


FILTER, OTHER = "rank=100..450", "none"
EVERY_KIND = [
    {"family": "bihash", "kind": "lsh", "rerank": "window"},
    {"family": "bihash", "kind": "lsh", "rerank": "none"},
    {"family": "bihash", "kind": "hnsw"},
    {"family": "bihash", "kind": "flat"},
    {"family": "winnowing", "kind": "tokens"},
]


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory, corpus, vectors, urls):
    """Every kind of an engine, over vectors where it can be, without a filter and under one."""
    return measure(
        tmp_path_factory.mktemp("kinds") / "study",
        corpus,
        {"opensearch": urls["opensearch"]},
        *("--backend", "opensearch", "--family", "winnowing,bihash", "--rate", "200"),
        *("--kind", "lsh,hnsw,flat,tokens", "--rerank", "window,none", "--samples", "40"),
        *("--num-tables", "6", "--hash-length", "8", "--ef-search", "500"),
        *("--filter", FILTER, "--filter", OTHER, "--vectors", vectors / "documents.npy"),
        expect=(3,),  # so few samples bound no p99: only answers matter here
        dimension=DIMENSION,
        family=("winnowing", "bihash"),
        filter=(FILTER, OTHER),
        vectors=str(vectors / "documents.npy"),
    )


class InPlace:
    """The index of deploy files, filled and asked without their scripts."""

    def __init__(self, folder, url, name, corpus, vectors):
        self.deployment = Deployment(folder / "deploy")
        self.index = self.deployment.index(url, name)
        self.records, self.vectors = lines(corpus / "queries.jsonl"), vectors
        assert self.index.ensure(self.deployment.index_body())
        documents, path = corpus / "corpus.jsonl", str(vectors / "documents.npy")
        count = self.deployment.check(documents, path)
        done, left = self.index.put(self.deployment.documents(documents, path), lambda _: None)
        assert done + left == count

    def ask(self, filter_=None):
        """Query id -> (id, score) of its answers, the query itself left out."""
        texts = [record["text"] for record in self.records]
        queries = self.deployment.queries(texts, str(self.vectors / "queries.npy"))
        answers = self.index.ask(queries, self.deployment.search(K + 1, filter_))
        found = {}
        for record, hits in zip(self.records, answers, strict=True):
            kept = [(hit.id, hit.score) for hit in hits if hit.id != record["_id"]][:K]
            if kept:
                found[record["_id"]] = kept
        return found


def same(found, expected, *, tied):
    """Whether answers are the trial's; `tied`: but for which of the worst score are the last."""
    assert sorted(found) == sorted(expected)
    for query, hits in found.items():
        ids = [name for name, _ in hits]
        if not tied:
            assert ids == expected[query], query
            continue
        assert len(ids) == len(expected[query])
        worst = min(score for _, score in hits)
        above = [name for name, score in hits if score > worst]
        assert expected[query][: len(above)] == above, query


@pytest.mark.engine
@pytest.mark.parametrize("setting", EVERY_KIND, ids=lambda s: "-".join(s.values()))
def test_every_kind_gives_the_answers_of_its_rows_under_any_filter(
    setting, every_kind, urls, index, corpus, vectors, tmp_path
):
    # which documents of equal scores are in the window, or are met by a graph, is the engine's
    tied = setting["kind"] == "hnsw" or setting.get("rerank") == "window"
    every_kind.deploy(tmp_path, filter=FILTER, **setting)
    mine = InPlace(tmp_path, urls["opensearch"], index, corpus, vectors)
    for asked_for, row in ((None, None), (OTHER, None), (FILTER, FILTER)):
        expected = every_kind.answers(every_kind.find(filter=row, **setting).key)
        same(mine.ask(asked_for), expected, tied=tied)


@pytest.mark.engine
def test_the_only_filter_of_a_study_is_asked_for_unless_told_otherwise(
    every_kind, urls, index, corpus, vectors, tmp_path
):
    study, setting = every_kind, {"family": "bihash", "kind": "flat"}
    alone = Measured(study.folder, study.config.model_copy(update={"filter": (FILTER,)}), DIMENSION)
    alone.deploy(tmp_path, filter=FILTER, **setting)
    mine = InPlace(tmp_path, urls["opensearch"], index, corpus, vectors)
    for asked_for, row in ((None, FILTER), (OTHER, None)):
        expected = study.answers(study.find(filter=row, **setting).key)
        same(mine.ask(asked_for), expected, tied=False)


@pytest.mark.engine
def test_a_file_with_an_id_twice_is_refused_before_anything_is_made(
    texts, urls, index, corpus, tmp_path
):
    """An engine would delete first and index later: which of the two would stay is a race."""
    texts.deploy(tmp_path, backend="opensearch", family="simhash")
    records = lines(corpus / "corpus.jsonl")[:3]
    write_lines(tmp_path / "twice.jsonl", [*records, records[1] | {"title": " ", "text": " "}])
    place = ["--url", urls["opensearch"], "--index", index, "twice.jsonl"]
    _, told = run(tmp_path, "ingest.py", *place, cwd=tmp_path, expect=1)
    assert f"line 4: id '{records[1]['_id']}' is given twice, first in line 2" in told
    assert urllib3.request("GET", f"{urls['opensearch']}/{index}").status == 404


IN_PROCESS = [
    {"backend": "tables", "family": "simhash", "kind": "lsh"},
    {"backend": "tables", "family": "minhash", "kind": "lsh"},
    {"backend": "faiss", "family": "simhash", "kind": "multihash"},
]


@pytest.mark.engine
@pytest.mark.parametrize("setting", IN_PROCESS, ids=lambda s: "-".join(s.values()))
def test_a_folder_gives_the_answers_of_the_trial(setting, texts, corpus, tmp_path):
    trial = texts.deploy(tmp_path, **setting)
    assert not (tmp_path / "deploy" / "index.json").exists()
    answers = follow(tmp_path, ["--folder", "built"], corpus, tmp_path)
    assert answers == texts.answers(trial.key)
    first = sorted((tmp_path / "built").rglob("*"))
    follow(tmp_path, ["--folder", "built"], corpus, tmp_path)
    assert sorted((tmp_path / "built").rglob("*")) == first


OF_LEARNT = [
    {"backend": "tables", "family": "simhash"},
    {"backend": "tables", "family": "bihash"},
    {"backend": "hnswlib", "family": "bihash"},
]


@pytest.mark.parametrize("setting", OF_LEARNT, ids=lambda s: "-".join(s.values()))
def test_learnt_weights_and_vectors_from_a_file_give_the_same(
    setting, learnt, corpus, vectors, tmp_path
):
    trial = learnt.deploy(tmp_path, **setting)
    more, query_more = (), ()
    if setting["family"] == "bihash":
        more = ("--vectors", vectors / "documents.npy")
        query_more = ("--vectors", vectors / "queries.npy")
    place = ["--folder", "built"]
    answers = follow(tmp_path, place, corpus, tmp_path, more=more, query_more=query_more)
    assert answers == learnt.answers(trial.key)
    if not more:
        return
    # nothing here could make the vectors: it says so, and builds nothing
    wanted = ["--folder", "other", corpus / "corpus.jsonl"]
    assert "--vectors FILE" in run(tmp_path, "ingest.py", *wanted, cwd=tmp_path, expect=1)[1]
    assert not (tmp_path / "other").exists()


def test_the_pick_of_a_study_is_deployed_and_goes_with_it(learnt, corpus, vectors):
    files = {path.name: path.read_text() for path in (learnt.folder / "deploy").glob("*.[mpj]*")}
    told = json.loads(files["fingerprint.json"])["source"]
    summary = json.loads((learnt.folder / "summary.json").read_text())
    assert told["trial"] == summary["pick"]["key"]
    assert "deploy/README.md" in (learnt.folder / "report.md").read_text()
    for text in files.values():
        assert str(learnt.folder.parent) not in text
        assert str(corpus) not in text
    again = (*IN_PROCESS_STUDY, "--vectors", vectors / "documents.npy")
    measure(learnt.folder, corpus, {}, *again, "--sla-ms", "0.00001", expect=(3,))
    assert not (learnt.folder / "deploy").exists()
    measure(learnt.folder, corpus, {}, *again)
    back = {path.name: path.read_text() for path in (learnt.folder / "deploy").glob("*.[mpj]*")}
    assert {n: t for n, t in back.items() if n != "README.md"} == {
        n: t for n, t in files.items() if n != "README.md"
    }


def steps(folder):
    """The commands of deploy/README.md, as they stand there."""
    block = re.search(
        r"## Index and ask\n\n```\n(.*?)```", (folder / "README.md").read_text(), re.S
    )
    return [shlex.split(line)[1:] for line in block[1].splitlines()]


@pytest.mark.engine
def test_an_index_of_another_making_is_left_alone(texts, urls, index, corpus, tmp_path):
    texts.deploy(tmp_path, backend="opensearch", family="simhash")
    url = urls["opensearch"]
    place = ["--url", url, "--index", index]
    few = tmp_path / "few.jsonl"
    write_lines(few, lines(corpus / "corpus.jsonl")[:20])
    asking = [*place, "--json", "a text"]
    assert "run ingest.py first" in run(tmp_path, "query.py", *asking, cwd=tmp_path, expect=1)[1]
    urllib3.request("PUT", f"{url}/{index}")
    before = urllib3.request("GET", f"{url}/{index}").data
    assert "left as it is" in run(tmp_path, "ingest.py", *place, few, cwd=tmp_path, expect=1)[1]
    assert urllib3.request("GET", f"{url}/{index}").data == before
    urllib3.request("DELETE", f"{url}/{index}")

    # the README's own lines, names filled in
    names = {"URL": url, "NAME": index, "documents.jsonl": few}
    names["queries.jsonl"] = corpus / "queries.jsonl"
    commands = steps(tmp_path / "deploy")
    assert [command[0] for command in commands] == ["ingest.py", "query.py", "query.py"]
    for script, *arguments in commands:
        run(tmp_path, script, *(names.get(a, a) for a in arguments), cwd=tmp_path)

    # a document that comes again takes the place of the old one; one without text goes
    records = lines(few)
    records[0]["title"] = records[0]["text"] = " "
    records[1]["text"] = "zebra crossing"
    write_lines(few, records)
    printed, _ = run(tmp_path, "ingest.py", *place, few, cwd=tmp_path)
    assert "indexed 19 documents; 1 have no usable text" in printed
    assert json.loads(urllib3.request("GET", f"{url}/{index}/_count").data)["count"] == 19

    # other parameters: refused by both scripts
    path = tmp_path / "deploy" / "fingerprint.json"
    path.write_text(path.read_text().replace('"seed": 123', '"seed": 5'))
    for script, last in (("ingest.py", few), ("query.py", "a text")):
        _, told = run(tmp_path, script, *place, last, cwd=tmp_path, expect=1)
        assert "fingerprint.seed 123" in told
