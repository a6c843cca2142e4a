"""Locust's master and workers with the project's file, on a real node."""

import json
import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import urllib3

ROOT = Path(__file__).parents[2]
INDEX = f"test-locust-{os.getpid()}-{secrets.token_hex(2)}"
pytestmark = [pytest.mark.engine]


@pytest.fixture
def index(opensearch_url):
    def call(method, path, body=None):
        reply = urllib3.request(method, f"{opensearch_url}/{path}", json=body, retries=False)
        assert reply.status < 300, reply.data

    call("PUT", INDEX, {"settings": {"number_of_replicas": 0}})
    call("PUT", f"{INDEX}/_doc/1?refresh=true", {"word": "x"})
    yield INDEX
    call("DELETE", INDEX)


@pytest.fixture
def locust(tmp_path, opensearch_url, index):
    """Starts Locust with the file and so many arguments."""
    started = []
    bodies = tmp_path / "queries.jsonl"
    bodies.write_text('{"query": {"match_all": {}}}\n\n{"query": {"term": {"word": "x"}}}\n')

    def start(*arguments, url=opensearch_url, **environment):
        command = [
            sys.executable,
            "-m",
            "locust",
            "--locustfile",
            ROOT / "docker" / "locustfile.py",
        ]
        known = {
            "HARNESS_URL": url,
            "HARNESS_INDEX": index,
            "HARNESS_QUERIES": str(bodies),
            "HARNESS_RATE": "20",
        }
        process = subprocess.Popen(
            [*map(str, (*command, *arguments))],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **known, "PYTHONPATH": str(ROOT), **environment},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_master_and_two_workers_ask_the_index(locust, tmp_path):
    port = str(free_port())
    bind = ["--master-bind-host", "127.0.0.1", "--master-bind-port", port]
    run = ["--headless", "--users", "4", "--spawn-rate", "4", "--run-time", "3s"]
    master = locust("--master", *bind, "--expect-workers", "2", *run, "--json-file", "told")
    workers = [
        locust("--worker", "--master-host", "127.0.0.1", "--master-port", port) for _ in range(2)
    ]
    out = master.communicate(timeout=120)[0]
    assert master.returncode == 0, out
    assert [worker.wait(timeout=30) for worker in workers] == [0, 0]
    (entry,) = json.loads((tmp_path / "told.json").read_text())
    assert (entry["name"], entry["method"]) == (INDEX, "SEARCH")
    assert entry["num_requests"] >= 20
    assert entry["num_failures"] == 0
    assert out.count("reported as ready") >= 2


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("", "HARNESS_QUERIES is not set: see the docstring of "),
        ("nowhere", "nowhere: No such file or directory; give a JSONL file"),
    ],
)
def test_queries_that_are_not_there_are_named(locust, value, told):
    process = locust("--headless", HARNESS_QUERIES=value)
    out = process.communicate(timeout=60)[0]
    assert told in out
    assert "Traceback" not in out


def test_credentials_are_not_told(locust):
    run = ["--headless", "--users", "1", "--run-time", "6s"]
    process = locust(*run, url="http://me:secret-word@127.0.0.1:9")
    out = process.communicate(timeout=60)[0]
    assert process.returncode == 1  # Locust's own code where requests failed
    assert "Connection refused" in out
    assert "secret-word" not in out
