"""The files of a deploy folder, made without a server or a corpus."""

import json
import shlex
import shutil
import subprocess

import pytest

from harness.config import StudyConfig
from harness.deploy.content import content, shown_command
from harness.deploy.write import digests, put_deploy
from harness.settings import Setting
from harness.tuning.conclude import _deploy
from harness.tuning.pick import Choice
from harness.tuning.plan import Plan
from harness.tuning.store import Store
from harness.tuning.trial import Trial

VERSIONS = {"opensearch": "2.19.1", "elasticsearch": "9.4.3"}


@pytest.fixture
def files(tmp_path):
    """Makes the files of a setting: name -> text."""

    def make(setting, dimension=None, **config):
        trial = Trial("0123456789abcdef", setting, False, "ok", quality={"nDCG@10": 0.5})
        plan = Plan("goods-12345678", tmp_path, (), (), dimension)
        store = Store(tmp_path / "study.sqlite")
        store.put_meta("backends", {name: {"version": v} for name, v in VERSIONS.items()})
        study = StudyConfig(sla_ms=100, **config)
        try:
            found = content(study, plan, store, trial, "nDCG@10", "harness tune --sla-ms 100")
        finally:
            store.close()
        return {name: text.decode() for name, text in found.items()}

    return make


def lsh(backend, **more):
    told = {"bits": 128, "rerank": "code", "shingle_size": 3, "unit": "char", "weighting": "tf"}
    return Setting("simhash", backend, "lsh", 6, 8, **{**told, **more})


def test_an_engine_gets_settings_of_production(files):
    found = files(lsh("opensearch", shards=3, replicas=1))
    assert sorted(found) == [
        "README.md",
        "fingerprint.json",
        "index.json",
        "ingest.py",
        "query.json",
        "query.py",
    ]
    body = json.loads(found["index.json"])
    index = body["settings"]["index"]
    assert (index["number_of_shards"], index["number_of_replicas"]) == (3, 1)
    for name in ("refresh_interval", "queries.cache.enabled", "requests.cache.enable"):
        assert name not in index  # the engine's own
    assert "translog.durability" not in index
    assert "aliases" not in body
    tag = body["mappings"]["_meta"]["harness"]
    assert sorted(tag) == ["manifest", "search"]  # no owner: nothing may remove it
    assert tag["manifest"]["index"]["num_tables"] == 6
    assert set(body["mappings"]["properties"]) == {"id", "c", "h8"}


def test_a_refresh_interval_that_was_measured_is_kept(files):
    body = json.loads(files(lsh("opensearch", refresh_interval="5s"))["index.json"])
    assert body["settings"]["index"]["refresh_interval"] == "5s"


@pytest.mark.parametrize("engine", VERSIONS)
def test_a_query_template_has_what_differs_as_placeholders(files, engine):
    query = json.loads(files(lsh(engine))["query.json"])
    scored = query["query"]["script_score"]
    assert scored["query"]["bool"]["filter"]["terms"] == {"h8": "{{h8}}"}
    assert scored["script"]["params"]["code"] == "{{code}}"
    assert query["size"] == 10
    assert query["sort"] == [{"_score": "desc"}, {"id": "asc"}]


@pytest.mark.parametrize("engine", VERSIONS)
def test_every_kind_of_an_engine_has_a_template(files, engine):
    hashed = {"bits": 128, "rerank": "code", "shingle_size": 3, "unit": "char", "weighting": "tf"}
    settings = [
        Setting(None, engine, "bm25"),
        Setting(None, engine, "more_like_this"),
        Setting(None, engine, "min_hash"),
        Setting("simhash", engine, "flat", **hashed),
        Setting("simhash", engine, "hnsw", **hashed, m=16, ef_construction=100, ef_search=64),
        lsh(engine, rerank="window", window_size=50),
        lsh(engine, rerank="none"),
        Setting("winnowing", engine, "tokens", rerank="jaccard", shingle_size=3, window=5),
        Setting("winnowing", engine, "flat", rerank="jaccard", shingle_size=3, window=5),
        Setting("fuzzyhash", engine, "tokens", rerank="levenshtein"),
        lsh(engine, fetch="source"),
        lsh(engine, filter="price=10..50"),
    ]
    for setting in settings:
        found = files(setting)
        assert "{{" in found["query.json"], setting
        json.loads(found["query.json"]), json.loads(found["index.json"])


@pytest.mark.parametrize("backend", ["tables", "faiss", "hnswlib", "exact"])
def test_in_process_there_is_no_index_json(files, backend):
    setting = lsh(backend) if backend == "tables" else Setting("simhash", backend, "flat", bits=128)
    found = files(setting)
    assert sorted(found) == ["README.md", "fingerprint.json", "ingest.py", "query.py"]
    assert "`index.json` and `query.json` do not exist" in found["README.md"]


def test_vectors_are_said_to_be_needed(files):
    setting = Setting("bihash", "tables", "lsh", 6, 8, bits=128, rerank="code")
    found = files(setting, 256, vectors="/somewhere/mine.npy", family="bihash")
    source = json.loads(found["fingerprint.json"])["source"]
    assert source["model"] is None
    assert "--vectors vectors.npy" in found["README.md"]
    assert "somewhere" not in "".join(found.values())
    assert json.loads(found["fingerprint.json"])["fingerprint"]["dimension"] == 256


def test_without_the_weights_nothing_is_deployed(files):
    found = files(lsh("tables", weighting="idf"), weighting="idf")
    assert list(found) == ["README.md"]
    assert "--fresh" in found["README.md"]


def test_a_command_is_shown_without_folders_and_credentials():
    told = "harness tune --corpus /home/me/goods --out=/srv/x --opensearch-url http://u:p@host:1"
    assert shown_command(told) == (
        "harness tune --corpus goods --out=x --opensearch-url 'http://***@host:1'"
    )


def test_the_folder_is_replaced_whole_and_removed(tmp_path):
    first, second = {"index.json": b"1", "README.md": b"2"}, {"README.md": b"3"}
    put_deploy(tmp_path, first, {})
    (tmp_path / ".harness-deploy-0123abc_" / "old").mkdir(parents=True)  # by a run that was killed
    assert put_deploy(tmp_path, second, digests(first)) is None
    held = {p.name: p.read_bytes() for p in (tmp_path / "deploy").iterdir()}
    assert held == {"README.md": b"3"}
    assert [p.name for p in tmp_path.iterdir()] == ["deploy"]
    before = (tmp_path / "deploy").stat().st_ino
    put_deploy(tmp_path, second, {})  # the same: left alone
    assert (tmp_path / "deploy").stat().st_ino == before
    assert put_deploy(tmp_path, None, digests(second)) is None
    assert put_deploy(tmp_path, None, digests(second)) is None
    assert list(tmp_path.iterdir()) == []


def manifest(found):
    told = json.loads(found["fingerprint.json"])
    return told["index"], told["search"]


@pytest.mark.parametrize("filters", [("none", "price=10..50"), ("price=10..50", "brand=acme")])
def test_of_several_filters_none_is_deployed_but_all_can_be_asked(files, filters):
    found = files(lsh("opensearch", filter="price=10..50"), filter=filters)
    index, search = manifest(found)
    held = {"price": "double", "brand": "keyword"}
    fields = sorted(text.partition("=")[0] for text in filters if text != "none")
    assert index["attributes"] == [[name, held[name]] for name in fields]
    assert "filter" not in search
    properties = json.loads(found["index.json"])["mappings"]["properties"]
    assert {n for n in properties if n.startswith("a")} == {
        f"a{row}_{name}" for row, name in enumerate(fields)
    }
    assert "range" not in found["query.json"]
    readme = found["README.md"]
    assert "price" not in readme.splitlines()[0]
    assert "all documents may be answered" in readme
    assert "the figures are of the slowest: `price=10..50`" in readme


def test_an_unfiltered_row_of_a_filtered_study_holds_the_attributes(files):
    index, search = manifest(files(lsh("tables"), filter=("none", "price=10..50")))
    assert index["attributes"] == [["price", "double"]]
    assert "filter" not in search


def test_the_only_filter_of_a_study_is_that_of_every_query(files):
    found = files(lsh("opensearch", filter="price=10..50"), filter=("price=10..50",))
    index, search = manifest(found)
    assert index["attributes"] == [["price", "double"]]
    assert search["filter"] == {"field": "price", "low": 10, "high": 50}
    assert '"range"' in found["query.json"]
    assert "without it `price=10..50` counts" in found["README.md"]


def test_the_readme_follows_the_statistic(tmp_path):
    trial = Trial(
        "0123456789abcdef",
        lsh("tables"),
        False,
        "ok",
        quality={"nDCG@10": 0.5},
        latency_ms={"p50": 1.5, "p99": 7.5},
    )
    plan = Plan("goods-12345678", tmp_path, (), ())
    store = Store(tmp_path / "study.sqlite")
    readmes = []
    for stat in ("p99", "p50", "p99"):
        study = StudyConfig(sla_ms=100, sla_stat=stat)
        choice = Choice(trial, None, None, (), None)
        _deploy(study, plan, store, "nDCG@10", choice, "harness tune")
        readmes.append((tmp_path / "deploy" / "README.md").read_text())
    store.close()
    assert "- p99: 7.5 ms" in readmes[0]
    assert "- p50: 1.5 ms" in readmes[1]
    assert readmes[2] == readmes[0]


def put_into(place):
    (place / "index").mkdir()
    (place / "index" / "mine").write_text("mine")


def edit(place):
    (place / "README.md").write_bytes(b"1, and two replicas")


def replace_by_a_file(place):
    shutil.rmtree(place)
    place.write_text("mine")


def replace_by_a_link(place):
    shutil.rmtree(place)
    place.with_name("elsewhere").mkdir(exist_ok=True)
    place.symlink_to(place.with_name("elsewhere"))


def link_a_file(place):
    place.with_name("mine").write_bytes(b"1")
    (place / "README.md").unlink()
    (place / "README.md").symlink_to(place.with_name("mine"))


@pytest.mark.parametrize("files", [{"README.md": b"2"}, None])
@pytest.mark.parametrize(
    "change", [put_into, edit, replace_by_a_file, replace_by_a_link, link_a_file]
)
def test_a_folder_that_a_user_changed_is_kept(tmp_path, change, files):
    written = {"README.md": b"1"}
    for number in (1, 2):
        assert put_deploy(tmp_path, written, digests(written)) is None
        change(tmp_path / "deploy")
        before = seen(tmp_path / "deploy")
        kept = tmp_path / f"deploy-{number}"
        assert put_deploy(tmp_path, files, digests(written)) == kept
        assert seen(kept) == before
        assert (tmp_path / "deploy").exists() == (files is not None)
        assert put_deploy(tmp_path, None, digests(files or {})) is None


def seen(place):
    """What a path holds, links unfollowed."""
    if place.is_symlink():
        return str(place.readlink())
    if place.is_dir():
        return {path.name: seen(path) for path in place.iterdir()}
    return place.read_bytes()


@pytest.mark.parametrize(
    "name", [".deploy.old", ".deploy.d", ".harness-deploy-", ".harness-deploy-notmine!"]
)
def test_a_folder_of_a_user_s_of_nearly_that_name_stays(tmp_path, name):
    (tmp_path / name / "old").mkdir(parents=True)
    (tmp_path / ".harness-deploy-0123abcd").mkdir()
    (tmp_path / ".harness-deploy-0123abcd" / "mine").write_text("mine")
    put_deploy(tmp_path, {"README.md": b"1"}, {})
    assert (tmp_path / name / "old").is_dir()
    assert (tmp_path / ".harness-deploy-0123abcd" / "mine").read_text() == "mine"


def test_the_command_of_a_readme_is_one_line_that_a_shell_reads_the_same(tmp_path):
    words = ["harness", "tune", "--filter", "title=a  b`x`\n$(reboot) 'é'", "--out", "a b"]
    shown = shown_command(shlex.join(words))
    assert shown.isprintable()
    assert "  " not in shown
    script = f"printf '%s\\0' {shown}"
    told = subprocess.run(["bash", "-c", script], capture_output=True, cwd=tmp_path, check=True)
    assert told.stdout.decode().split("\0")[:-1] == words


def test_values_of_a_study_stay_values_in_a_readme(files):
    field = "a`b\n## x"
    found = files(lsh("opensearch", filter=f"{field}=1"), filter=(f"{field}=1",))
    headings = [line for line in found["README.md"].splitlines() if line.startswith("## x")]
    assert headings == []
    assert "`` a`b ## x ``" in found["README.md"]
