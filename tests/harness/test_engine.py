"""`harness engine` without a Docker daemon.

What docker itself does is not played here: a stand-in on PATH writes down how it was called and
tells of containers, and the cluster that is waited for is a real one.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from harness.engine.waiting import health

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name("harness")
DOCKER = """#!{python}
import json, os, pathlib, sys
folder = pathlib.Path(__file__).parent
arguments = sys.argv[1:]
known = {{k: v for k, v in os.environ.items() if k.startswith("HARNESS_")}}
with open(folder / "calls", "a") as calls:
    calls.write(json.dumps([arguments, known]) + "\\n")
failing = folder / "failing"
if failing.exists() and failing.read_text() in arguments:
    print("it broke", file=sys.stderr)
    sys.exit(1)
if arguments[0] == "ps":
    (project,) = [a.rpartition("=")[2] for a in arguments if "compose.project=" in a]
    told = folder / f"{{project}}.ps"
    sys.stdout.write(told.read_text() if told.exists() else "")
if arguments[0] == "logs":
    print("ERROR: no memory for the likes of you")
if arguments[0] == "compose":
    print("compose was here")
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class StandIn:
    """A command named docker that does nothing, in a folder of its own on PATH."""

    def __init__(self, folder):
        self.folder = folder
        path = folder / "docker"
        path.write_text(DOCKER.format(python=sys.executable))
        path.chmod(0o755)

    def holds(self, project, *rows):
        """Containers that it tells of: service, engine, nodes, url, state, status."""
        lines = ["\t".join((*row, f"id-{row[0]}")) for row in rows]
        (self.folder / f"{project}.ps").write_text("".join(line + "\n" for line in lines))

    def fails(self, word):
        (self.folder / "failing").write_text(word)

    def composed(self):
        """Arguments and environment of the calls that change something."""
        lines = (self.folder / "calls").read_text().splitlines()
        calls = [json.loads(line) for line in lines]
        return [(a, e) for a, e in calls if a[0] == "compose" and a != ["compose", "version"]]


@pytest.fixture
def docker(tmp_path):
    return StandIn(tmp_path)


@pytest.fixture
def engine(tmp_path):
    """Runs the command; gives stdout and stderr."""

    def run(*arguments, expect=0, path=f"{tmp_path}:/usr/bin:/bin"):
        done = subprocess.run(
            [str(COMMAND), "engine", *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            env={"PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        )
        assert done.returncode == expect, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr

    return run


def node(url="http://127.0.0.1:9", state="running", nodes="1", number=1, engine="opensearch"):
    status = "Up 2 minutes (healthy)" if state == "running" else "Exited (137) 3 seconds ago"
    return (f"node-{number}", engine, nodes, url, state, status)


# ---- no Docker


@pytest.mark.parametrize("command", [["up"], ["down"], ["status"], ["status", "--json"]])
def test_without_docker_one_line_says_what_to_do(engine, tmp_path, command):
    out, told = engine(*command, expect=2, path=str(tmp_path))
    assert out == ""
    assert told == (
        "harness: there is no docker on PATH: install Docker, or start an engine otherwise and "
        "name it with --opensearch-url or --elasticsearch-url\n"
    )


def test_without_a_daemon_one_line_says_what_to_do(engine, docker):
    docker.fails("version")
    told = engine("up", expect=2)[1]
    assert told.startswith("harness: the Docker daemon does not answer (it broke): start it")
    assert len(told.splitlines()) == 1


def test_without_compose_one_line_says_what_to_do(engine, docker, tmp_path):
    docker.fails("compose")
    told = engine("up", expect=2, path=str(tmp_path))[1]
    assert told.startswith("harness: docker has no compose: install its plugin (docker-compose-")
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [["up", "solr"], ["up", "--nodes", "2"], ["up", "--port", "0"], ["down", "solr"]]
)
def test_what_does_not_exist_is_refused(engine, arguments):
    told = engine(*arguments, expect=2)[1]
    assert len(told.splitlines()) == 1


# ---- how compose is called


def test_up_again_waits_for_a_running_cluster_and_prints_its_url(engine, docker, opensearch_url):
    port = urlsplit(opensearch_url).port
    url = f"http://127.0.0.1:{port}"
    docker.holds("harness-opensearch", node(url))
    out, told = engine("up", "--timeout", "20")
    assert out == f"{url}\n"
    assert "compose was here" in told  # not on stdout
    ((arguments, environment),) = docker.composed()
    assert arguments == [
        *("compose", "--project-name", "harness-opensearch"),
        *("--file", str(ROOT / "docker" / "opensearch.yaml")),
        *("up", "--detach"),
    ]
    assert environment == {"HARNESS_ENGINE_PORT": str(port), "HARNESS_DASHBOARDS_PORT": "5601"}


def test_up_with_everything_asked_for(engine, docker):
    port = free_port()
    arguments = ("elasticsearch", "--dashboards", "--port", str(port), "--timeout", "1")
    told = engine("up", *arguments, expect=2)[1]
    ((called, environment),) = docker.composed()
    assert called[2] == "harness-elasticsearch"
    assert called[4] == str(ROOT / "docker" / "elasticsearch.yaml")
    assert called[5:] == ["--profile", "dashboards", "up", "--detach"]
    assert environment["HARNESS_ENGINE_PORT"] == str(port)
    assert "is not usable after 1 s (no answer yet): look at docker logs" in told


def test_three_nodes_are_a_project_of_their_own(engine, docker):
    told = engine("up", "--nodes", "3", "--port", str(free_port()), "--timeout", "1", expect=2)[1]
    if "vm.max_map_count is" in told:  # so is this machine's kernel set
        assert "run sysctl -w vm.max_map_count=262144 as root, or start one node" in told
        assert docker.composed() == []
        return
    ((called, _),) = docker.composed()
    assert called[2] == "harness-opensearch-three"
    assert called[4] == str(ROOT / "docker" / "opensearch-three.yaml")


def test_another_number_of_nodes_is_not_started_beside_the_running_one(engine, docker):
    docker.holds("harness-opensearch-three", *(node(number=n, nodes="3") for n in (1, 2, 3)))
    told = engine("up", expect=2)[1]
    assert "opensearch already runs with --nodes 3: run harness engine down opensearch" in told
    assert docker.composed() == []


def test_a_port_in_use_is_told_before_anything_is_started(engine, docker):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        told = engine("up", "--port", str(port), expect=2)[1]
    assert f"port {port} of 127.0.0.1 cannot be used (Address already in use)" in told
    assert docker.composed() == []


def test_a_node_that_ends_is_told_with_its_last_words(engine, docker):
    docker.holds("harness-opensearch", node(state="exited"))
    told = engine("up", "--port", str(free_port()), "--timeout", "30", expect=2)[1]
    assert (
        "node-1 of harness-opensearch ended (Exited (137) 3 seconds ago); its last words: " in told
    )
    assert "ERROR: no memory for the likes of you" in told


def test_compose_that_fails_is_an_error(engine, docker):
    docker.fails("--detach")
    told = engine("up", "--port", str(free_port()), expect=1)[1]
    assert "docker compose could not bring harness-opensearch up (exit status 1)" in told
    assert "it broke" in told


def test_down_takes_down_what_is_up_and_keeps_the_data(engine, docker):
    docker.holds("harness-elasticsearch", node(engine="elasticsearch"))
    told = engine("down")[1]
    ((arguments, _),) = docker.composed()
    assert arguments[2] == "harness-elasticsearch"
    assert arguments[5:] == ["--profile", "dashboards", "down", "--remove-orphans"]
    assert "harness-elasticsearch is down; its data is kept" in told
    assert told.count("was not up") == 3


def test_down_removes_data_on_request(engine, docker):
    engine("down", "opensearch", "--remove-data")
    called = [arguments for arguments, _ in docker.composed()]
    assert [one[2] for one in called] == ["harness-opensearch", "harness-opensearch-three"]
    assert all(one[-1] == "--volumes" for one in called)


@pytest.mark.parametrize("command", [["up"], ["down"], ["down", "--remove-data"]])
def test_a_project_of_that_name_that_is_not_ours_is_not_touched(engine, docker, command):
    docker.holds("harness-opensearch", node(), ("web", "", "", "", "running", "Up 3 days"))
    told = engine(*command, expect=1)[1]
    assert "a container of project harness-opensearch (id-web) does not carry the label" in told
    assert docker.composed() == []


def test_status(engine, docker, opensearch_url):
    url = f"http://127.0.0.1:{urlsplit(opensearch_url).port}"
    boards = ("dashboards", "opensearch", "", "http://127.0.0.1:5601", "running", "Up")
    docker.holds("harness-opensearch", boards, node(url))
    docker.holds("harness-elasticsearch", node(engine="elasticsearch", state="exited"))
    found = json.loads(engine("status", "--json")[0])
    assert [(one["engine"], one["nodes"]) for one in found] == [
        *(("opensearch", 1), ("opensearch", 3), ("elasticsearch", 1), ("elasticsearch", 3))
    ]
    assert found[0].pop("health") in ("green", "yellow")
    assert found[0] == {
        "engine": "opensearch",
        "nodes": 1,
        "running": 1,
        "url": url,
        "dashboards_url": "http://127.0.0.1:5601",
    }
    assert [one["running"] for one in found[1:]] == [0, 0, 0]
    lines = engine("status", "opensearch")[0].splitlines()
    assert lines[0].startswith("opensearch --nodes 1: 1 running, ")
    assert lines[0].endswith(f"{url}, dashboards http://127.0.0.1:5601")
    assert lines[1] == "opensearch --nodes 3: not up"
    assert docker.composed() == []


def test_health_of_what_is_no_cluster():
    assert health("http://127.0.0.1:9").status == "none"


def test_the_real_docker_command_without_a_daemon(engine, tmp_path):
    """Where there is one: it is asked for its containers at an address where nobody answers."""
    real = next((p for p in os.environ["PATH"].split(":") if (Path(p) / "docker").is_file()), None)
    if real is None:
        pytest.skip("there is no docker command here")
    wrapper = tmp_path / "docker"
    wrapper.write_text(f'#!/bin/sh\nDOCKER_HOST=unix://{tmp_path}/none exec {real}/docker "$@"\n')
    wrapper.chmod(0o755)
    told = engine("status", expect=2)[1]
    assert told.startswith("harness: the Docker daemon does not answer (")
    assert len(told.splitlines()) == 1
