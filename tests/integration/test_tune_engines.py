"""The main job on real nodes: the answers of the tables in process, and every fault in between."""

import json
import signal
import time

import pytest

pytestmark = pytest.mark.engine
SIZES = (
    *("--num-tables", "2,6", "--hash-length", "simhash=4,12", "--hash-length", "minhash=1,3"),
    *("--rate", "300"),
)
SMALL = ("--corpus", "catalogue:300", *SIZES)
OURS = "harness-*"


# a node of one's own takes a while to start: what is the same code for both is tried on one
only_opensearch = pytest.mark.parametrize("engine", ["opensearch"])
only_elasticsearch = pytest.mark.parametrize("engine", ["elasticsearch"])


def on(engine, node, *more):
    """Flags of a study on this node and on other backends."""
    return ("--backend", ",".join((engine, *more)), f"--{engine}-url", node.url)


def lsh_answers(made, summary):
    """(family, tables, length) -> backend -> the lines of its run."""
    found = {}
    for trial in summary["trials"]:
        setting = trial["setting"]
        if setting["kind"] == "lsh":
            sizes = setting["family"], setting["num_tables"], setting["hash_length"]
            found.setdefault(sizes, {})[setting["backend"]] = made.answers(trial)
    return found


def test_real_text_gives_the_same_answers_in_process_and_in_the_engine(
    study, engine, node, data_dir
):
    corpus = data_dir("debian-neardup")
    made = study(
        *("--corpus", corpus, "--fields", "text", *on(engine, node, "tables")),
        *("--num-tables", "5,20", "--rate", "200"),
        *("--hash-length", "simhash=8,16", "--hash-length", "minhash=2,4"),
    )
    summary = made.summary()
    assert summary["counts"] == {"trials": 21, "failed": 0, "impossible": 0}
    found = lsh_answers(made, summary)
    assert len(found) == 8
    for sizes, by_backend in found.items():
        assert by_backend["tables"] == by_backend[engine], sizes
        assert len(by_backend["tables"]) > 3000
    for name in summary["trials"][0]["quality"]:
        assert summary["pick"]["quality"][name] is not None, name
    assert [r["name"] for r in summary["reference"]][-1] == f"BM25 ({engine})"
    assert node.indices(OURS) == []


@only_opensearch
def test_per_setting_indices_give_the_same_answers(study, engine, node):
    arguments = (*SMALL, *on(engine, node))
    shared = study(*arguments, "--family", "minhash", out="shared")
    single = study(*arguments, "--family", "minhash", "--build", "per-setting", out="single")
    assert lsh_answers(shared, shared.summary()) == lsh_answers(single, single.summary())
    assert node.indices(OURS) == []


def test_ctrl_c_removes_the_index_and_the_study_goes_on(study, engine, node, end):
    made = study(*SMALL, *on(engine, node))
    process = made.start()
    made.wait_for_rows(process, 1)
    assert len(node.indices(OURS)) == 1
    code, errors = end(process, signal.SIGINT)
    assert code == 130
    assert "Traceback" not in errors
    assert node.indices(OURS) == []
    before = made.rows()
    summary = made.summary()
    assert {key: made.rows()[key] for key in before} == before
    # the rest was measured on the same index as what came before it: settings that share their
    # tokens have one size, of the whole index or of their own fields
    sizes: dict[int, set[int]] = {}
    for trial in summary["trials"]:
        setting = trial["setting"]
        if (setting["family"], setting["kind"]) == ("simhash", "lsh"):
            sizes.setdefault(setting["hash_length"], set()).add(trial["index_bytes"])
    assert len(sizes) == 2
    assert all(max(found) < 1.1 * min(found) for found in sizes.values())


@only_opensearch
def test_what_a_killed_run_left_is_removed_by_the_next(study, engine, node, end):
    made = study(*SMALL, *on(engine, node))
    process = made.start()
    made.wait_for_rows(process, 1)
    end(process, signal.SIGKILL)
    assert len(node.indices(OURS)) == 1
    _, errors = made.run()
    assert "left behind by an earlier run" in errors
    assert node.indices(OURS) == []


@only_elasticsearch
def test_the_index_of_someone_else_is_never_touched(study, engine, node):
    mapping = {"mappings": {"_meta": {"harness": {"owner": "somebody-else"}}}}
    node("PUT", "/harness-somebody-else-1", {**mapping, "settings": {"number_of_replicas": 0}})
    try:
        study(
            *("--corpus", "catalogue:100", "--family", "simhash", *on(engine, node)),
            *("--num-tables", "2", "--hash-length", "4"),
            *("--rate", "300"),
        ).run()
        assert node.indices(OURS) == ["harness-somebody-else-1"]
    finally:
        node("DELETE", "/harness-somebody-else-1")


@only_opensearch
def test_a_node_that_dies_fails_its_trials_and_no_others(study, engine, own_node):
    made = study(*SMALL, *on(engine, own_node, "tables"), "--patience", "2")
    process = made.start()
    made.wait_for_rows(process, 2)
    own_node.kill()
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    summary = json.loads((made.folder / "summary.json").read_text())
    by_status = {}
    for trial in summary["trials"]:
        by_status.setdefault((trial["setting"]["backend"], trial["status"]), []).append(trial)
    assert len(by_status["tables", "ok"]) == 8
    assert ("tables", "failed") not in by_status
    assert len(by_status[engine, "ok"]) >= 2
    for trial in by_status[engine, "failed"]:
        assert own_node.url.removeprefix("http://") in trial["error"]
        assert "\n" not in trial["error"]
    assert summary["counts"]["failed"] == len(by_status[engine, "failed"])
    assert output.strip().endswith("report.html")

    finished = made.rows()
    own_node.bring_back()
    made.run()
    assert own_node.indices(OURS) == []
    assert {key: made.rows()[key] for key in finished} == finished
    assert made.rows("failed") == {}
    assert len(made.rows()) == len(summary["trials"])


@only_opensearch
def test_a_backend_without_a_finished_trial_is_exit_code_1(study, engine, own_node):
    made = study(
        *("--corpus", "catalogue:2000", *SIZES, *on(engine, own_node), "--patience", "2"),
    )
    process = made.start()
    end = time.monotonic() + 60
    while not own_node.indices(OURS):
        assert time.monotonic() < end
        time.sleep(0.02)
    own_node.kill()
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 1, errors
    assert made.rows() == {}
    own_node.bring_back()
    made.run(expect=(0, 3))
    assert own_node.indices(OURS) == []


def test_an_index_that_turned_read_only_is_removed_all_the_same(study, engine, node, end):
    made = study(*SMALL, *on(engine, node))
    process = made.start()
    made.wait_for_rows(process, 1)
    (name,) = node.indices(OURS)
    node("PUT", f"/{name}/_settings", {"index.blocks.read_only": True})
    code, errors = end(process, signal.SIGINT)
    assert code == 130, errors
    assert node.indices(OURS) == []


@only_elasticsearch
def test_a_node_that_hangs_does_not_hold_up_ctrl_c(study, engine, own_node, end):
    made = study(*SMALL, *on(engine, own_node))
    process = made.start()
    made.wait_for_rows(process, 1)
    own_node.signal(signal.SIGSTOP)
    try:
        code, errors = end(process, signal.SIGINT)
    finally:
        own_node.signal(signal.SIGCONT)
    assert code == 130, errors
    assert "a temporary index may still stand" in errors
    _, errors = made.run()
    assert "left behind by an earlier run" in errors
    assert own_node.indices(OURS) == []


@only_opensearch
def test_a_read_only_cluster_fails_with_its_reason(study, engine, own_node):
    block = "cluster.blocks.read_only"
    own_node("PUT", "/_cluster/settings", {"transient": {block: True}})
    try:
        made = study(*SMALL, *on(engine, own_node, "tables"))
        summary = made.summary(expect=1)
    finally:
        own_node("PUT", "/_cluster/settings", {"transient": {block: None}})
    failed = [t for t in summary["trials"] if t["setting"]["backend"] == engine]
    assert all(t["status"] == "failed" for t in failed)
    assert all("read" in t["error"] for t in failed)
    assert summary["pick"]["setting"]["backend"] == "tables"
    report = (made.folder / "report.md").read_text()
    assert f"{engine} finished none of its {len(failed)} trials" in report
    # text search is still there to compare with
    assert "BM25 (in process)" in [r["name"] for r in summary["reference"]]


@only_elasticsearch
def test_a_red_cluster_is_refused_and_a_yellow_one_is_told(study, engine, own_node):
    one = ("--corpus", "catalogue:100", "--family", "simhash", *on(engine, own_node))
    one += ("--num-tables", "2", "--hash-length", "4", "--rate", "300")
    nowhere = {"index.routing.allocation.require._name": "nobody", "number_of_replicas": 0}
    own_node("PUT", "/other?wait_for_active_shards=0", {"settings": nowhere})
    try:
        made = study(*one, out="red")
        _, errors = made.run(expect=2)
        assert "red" in errors
        assert not made.folder.exists()
    finally:
        own_node("DELETE", "/other")
    own_node("PUT", "/other", {"settings": {"number_of_replicas": 1}})
    try:
        made = study(*one, out="yellow")
        made.run()
        assert "yellow" in (made.folder / "report.md").read_text()
    finally:
        own_node("DELETE", "/other")


def test_an_unreachable_engine_is_one_line_before_anything_is_built(study, engine, monkeypatch):
    monkeypatch.setenv(f"HARNESS_{engine.upper()}_URL", "http://user:secret@127.0.0.1:9")
    made = study(*SMALL, "--backend", engine)
    output, errors = made.run(expect=2)
    assert output == ""
    (line,) = errors.strip().splitlines()
    assert "127.0.0.1:9" in line
    assert "secret" not in line
    assert not made.folder.exists()


@only_elasticsearch
def test_a_password_is_nowhere_in_what_a_run_leaves(study, engine, node, monkeypatch):
    # this node asks for none and takes any
    url = node.url.replace("http://", "http://user:secret-word@")
    variable = f"HARNESS_{engine.upper()}_URL"
    monkeypatch.setenv(variable, url)
    made = study(
        *("--corpus", "catalogue:100", "--family", "simhash", "--backend", engine),
        *("--num-tables", "2", "--hash-length", "4", "--rate", "300"),
    )
    output, errors = made.run()
    assert "secret-word" not in output + errors
    for path in made.folder.rglob("*"):
        assert path.is_dir() or b"secret-word" not in path.read_bytes(), path
    _, errors = made.run(f"--{engine}-url", url, expect=2)
    assert variable in errors
    assert "secret-word" not in errors
