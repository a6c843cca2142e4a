"""`harness load` as a person gives it: on a study's pick, an engine, an index of their own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("harness")
SMALL = (
    *("--corpus", "catalogue:300", "--family", "simhash", "--num-tables", "2,6"),
    *("--hash-length", "4,12", "--rate", "300"),
)
OURS = "harness-*"


class Load:
    """`harness load` with these arguments."""

    def __init__(self, *arguments, cwd=None):
        self.command, self.cwd = [str(COMMAND), "load", *map(str, arguments)], cwd

    def run(self, *more, expect=0):
        """Run to the end; gives (stdout, stderr)."""
        done = subprocess.run(
            [*self.command, *map(str, more)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self.cwd,
        )
        assert done.returncode == expect, done.stderr[-2000:]
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr

    def figures(self, *more, expect=0):
        """Run to the end; gives what --json prints."""
        return json.loads(self.run("--json", *more, expect=expect)[0])

    def start(self, *more):
        """Start it and wait until it has told how the load goes."""
        process = subprocess.Popen(
            [*self.command, *map(str, more)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in process.stderr:
            if "requests/s" in line:
                return process
        raise AssertionError("it ended before it told anything")


@pytest.fixture
def engine():
    """One of the two: both are asked in the same way."""
    return "opensearch"


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A finished study in process."""
    folder = tmp_path_factory.mktemp("tuned") / "study"
    (folder.parent / "quick.yaml").write_text("burst_s: 0.1\nsamples: 300\nsla_ms: 1000\n")
    subprocess.run(
        [str(COMMAND), "tune", "--config", folder.parent / "quick.yaml", "--out", folder, *SMALL],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return folder


def test_the_pick_is_driven_for_as_long_as_asked(tuned):
    summary = json.loads((tuned / "summary.json").read_text())
    found = Load("--study", tuned).figures("--rate", 200, "--duration", 4)
    assert found["key"] == summary["pick"]["key"]
    assert found["meets"] is True
    kept = re.match(r"Meets the SLA at (\S+) requests/s: p99 ", found["verdict"])
    assert float(kept.group(1)) == pytest.approx(200, rel=0.05)
    assert found["sla"] == {"limit_ms": 1000, "stat": "p99"}
    assert found["load"]["requests"] == found["latency_ms"]["n"] == 800
    assert found["load"]["lasted_s"] == pytest.approx(4, rel=0.05)
    assert found["upper_ms"]["p99"] >= found["latency_ms"]["p99"]
    assert found["qps"] > 0
    assert found["errors"] == 0
    # the same index gives the same answers
    same = {name: summary["pick"]["quality"][name] for name in found["quality"]}
    assert found["quality"] == same
    assert not (tuned / ".harness-work").exists()


def test_a_trial_by_the_first_digits_of_its_key(tuned):
    summary = json.loads((tuned / "summary.json").read_text())
    other = next(t for t in summary["trials"] if t["key"] != summary["pick"]["key"])
    load = Load("--study", tuned, "--key", other["key"][:8], "--duration", 1.5)
    text, progress = load.run()
    assert f"trial {other['key']} of {summary['study']}" in text
    assert "quality of these answers: " in text
    assert "building its index again" in progress


def test_an_sla_that_is_missed_is_exit_code_3(tuned):
    text, _ = Load("--study", tuned, "--sla-ms", 0.001, "--duration", 2).run(expect=3)
    assert text.startswith("Misses the SLA at ")
    assert "against 0.001 ms" in text
    assert "client-bound" in text


def test_relative_places_are_found_from_anywhere(tuned, tmp_path):
    folder = os.path.relpath(tuned, tmp_path)
    assert Load("--study", folder, "--duration", 1, cwd=tmp_path).figures()["key"]


def test_a_study_that_was_written_before_is_taken_up_again(tuned, tmp_path):
    assert "name a folder that `harness tune` wrote" in Load("--study", tmp_path).run(expect=2)[1]
    assert "no trial of" in Load("--study", tuned, "--key", "zz").run(expect=2)[1]
    assert not (tmp_path / "study.sqlite").exists()


def test_ctrl_c_prints_what_was_measured(tuned):
    process = Load("--study", tuned, "--duration", 60).start()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert re.match(r"Interrupted after \d\S* s; until then:\nMeets the SLA at ", output)
    assert "quality in the study: " in output
    assert not (tuned / ".harness-work").exists()


@pytest.fixture(scope="module")
def tune_engine(tmp_path_factory):
    """Tunes a study on an engine: gives its folder."""

    def tune(url):
        folder = tmp_path_factory.mktemp("engine") / "study"
        config = folder.parent / "quick.yaml"
        config.write_text("burst_s: 0.1\nsamples: 300\nsla_ms: 1000\n")
        arguments = ("--backend", "opensearch", "--opensearch-url", url)
        subprocess.run(
            [str(COMMAND), "tune", "--config", config, "--out", folder, *arguments, *SMALL],
            check=True,
            capture_output=True,
            timeout=240,
        )
        return folder

    return tune


@pytest.mark.engine
def test_an_engine_is_driven_and_left_as_it_was(tune_engine, node):
    folder = tune_engine(node.url)
    summary = json.loads((folder / "summary.json").read_text())
    load = Load("--study", folder, "--rate", 200)
    found = load.figures("--duration", 2)
    assert found["key"] == summary["pick"]["key"]
    assert found["load"]["requests"] == 400
    same = {name: summary["pick"]["quality"][name] for name in found["quality"]}
    assert found["quality"] == same
    assert node.indices(OURS) == []
    # one cut short leaves nothing either
    process = load.start("--duration", 60)
    assert len(node.indices(OURS)) == 1
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output.startswith("Interrupted after ")
    assert node.indices(OURS) == []
    # and what one that was killed left is removed by the next
    process = load.start("--duration", 60)
    process.kill()
    process.communicate(timeout=60)
    assert len(node.indices(OURS)) == 1
    assert "left behind by an earlier run" in load.run("--duration", 2)[1]
    assert node.indices(OURS) == []
    other = Load("--study", folder, "--opensearch-url", "http://127.0.0.1:9").run(expect=2)[1]
    assert f"the study was measured on {node.url}" in other


@pytest.mark.engine
def test_a_node_that_dies_is_one_clear_line(tune_engine, own_node):
    process = Load("--study", tune_engine(own_node.url), "--duration", 60).start()
    own_node.kill()
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert output == ""
    assert "Traceback" not in errors
    assert re.search(r"^until then: \d+ s: ", errors, re.MULTILINE)
    assert re.search(r"^harness: \S*127.0.0.1:\S+ the search engine stopped", errors, re.MULTILINE)
    assert "a temporary index may still stand" in errors


@pytest.fixture
def mine(node, tmp_path):
    """An index of someone's own, with files of queries and body."""
    node("PUT", "/load-mine", {"settings": {"number_of_replicas": 0}})
    for number, text in enumerate(["red shoes", "blue hat", 'a "quoted" shoe']):
        node("PUT", f"/load-mine/_doc/{number}?refresh=true", {"text": text})
    lines = [{"_id": "a", "text": 'red "shoes"'}, {"text": "hat"}]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    body = {"size": 5, "query": {"match": {"text": "{{text}}"}}}
    (tmp_path / "body.json").write_text(json.dumps(body))
    (tmp_path / "bodies.jsonl").write_text('{"query": {"match_all": {}}}\n')
    yield tmp_path
    node("DELETE", "/load-mine")


@pytest.mark.engine
def test_an_index_of_ones_own(mine, node):
    before = node("GET", "/load-mine/_stats/docs,indexing,store")["_all"]["primaries"]
    load = Load("--opensearch-url", node.url, "--index", "load-mine", "--rate", 100, cwd=mine)
    texts = ("--queries", "texts.jsonl", "--body", "body.json", "--duration", 4)
    found = load.figures(*texts, "--sla-ms", 10_000)
    assert (found["meets"], found["key"], found["quality"]) == (True, None, None)
    assert found["load"]["requests"] == 400
    assert found["what"] == "index load-mine"
    text, progress = load.run("--queries", "bodies.jsonl", "--duration", 1)
    assert text.startswith("Measured at ")
    assert "load-mine: 3 hits of the first query" in progress
    assert node("GET", "/load-mine/_stats/docs,indexing,store")["_all"]["primaries"] == before


@pytest.mark.engine
@pytest.mark.parametrize(
    ("index", "queries", "body", "told"),
    [
        ("load-none", "bodies.jsonl", None, "load-none is not there"),
        ("load-mine", "texts.jsonl", None, "HTTP 400"),
        ("load-mine", "texts.jsonl", "bodies.jsonl", "stands in none of its strings"),
    ],
)
def test_what_cannot_be_asked_is_told_before(mine, node, index, queries, body, told):
    arguments = ["--opensearch-url", node.url, "--index", index, "--queries", queries]
    arguments += [] if body is None else ["--body", body]
    output, errors = Load(*arguments, cwd=mine).run(expect=2)
    assert told in errors
    assert output == ""
    assert len(errors.splitlines()) == 1


@pytest.mark.engine
def test_an_index_that_is_removed_meanwhile(mine, node):
    load = Load("--opensearch-url", node.url, "--index", "load-mine", "--duration", 60)
    process = load.start("--queries", mine / "bodies.jsonl")
    node("DELETE", "/load-mine")
    time.sleep(0.1)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "harness: load-mine is not there" in errors
