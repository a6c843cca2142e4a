"""Runs `harness tune` as a person would, and gives nodes that tests may disturb."""

import contextlib
import gzip
import importlib.util
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
import urllib3

from indexers import registry
from indexers.errors import EngineUnavailable
from indexers.index_types import BackendConfig

ENGINE_SCRIPTS = Path(__file__).parents[1] / "engines"
SECURE_PROXY = Path(__file__).parents[1] / "secure_proxy.py"
COMMAND = Path(sys.executable).with_name("harness")
QUICK = "burst_s: 0.1\nsamples: 300\nsla_ms: 100\n"


class Study:
    """One study folder with the arguments that belong to it."""

    def __init__(self, folder, arguments, config):
        self.folder = folder
        self.command = [str(COMMAND), "tune", "--config", str(config), "--out", str(folder)]
        self.command += [str(a) for a in arguments]

    def run(self, *more, expect=0):
        """Run to the end; gives (stdout, stderr). One exit code is expected, or one of several."""
        codes = expect if isinstance(expect, tuple) else (expect,)
        done = subprocess.run(
            [*self.command, *map(str, more)], capture_output=True, text=True, timeout=300
        )
        assert done.returncode in codes, done.stderr[-2000:]
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr

    def summary(self, *more, expect=0):
        """Run to the end; gives what --json prints."""
        return json.loads(self.run("--json", *more, expect=expect)[0])

    def answers(self, trial):
        """The lines of a trial's run, without the tag that names the study."""
        with gzip.open(self.folder / "runs" / f"{trial['key']}.run.gz", "rt") as file:
            return [tuple(line.split()[:5]) for line in file]

    def start(self):
        """Start it and let it run."""
        return subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def rows(self, status="ok"):
        """key -> (row, raw latencies) of the stored trials."""
        path = self.folder / "study.sqlite"
        if not path.exists():
            return {}
        with contextlib.closing(sqlite3.connect(path)) as db:
            try:
                found = db.execute(
                    "SELECT key, row, latency_ms FROM trials WHERE status = ?", (status,)
                ).fetchall()
            except sqlite3.OperationalError:
                return {}
        return {key: (row, raw) for key, row, raw in found}

    def wait_for_rows(self, process, count, limit_s=120):
        """Wait until the running study has stored this many trials."""
        end = time.monotonic() + limit_s
        while len(self.rows()) < count:
            assert process.poll() is None, process.stderr.read()[-2000:]
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.fixture
def study(tmp_path):
    """Makes studies: `study(*arguments, out="name", config="more yaml")`."""
    made = []

    def make(*arguments, out="study", config=""):
        path = tmp_path / f"{out}.yaml"
        path.write_text(QUICK + config)
        made.append(Study(tmp_path / out, arguments, path))
        return made[-1]

    return make


@pytest.fixture
def end():
    """Signals a process and waits for its end; gives exit code and stderr."""

    def signal_and_wait(process, number):
        os.kill(process.pid, number)
        _, errors = process.communicate(timeout=60)
        return process.returncode, errors

    return signal_and_wait


class Node:
    """Plain requests to a node, past our own client."""

    def __init__(self, url):
        self.url, self.pool = url, urllib3.PoolManager()

    def __call__(self, method, path, body=None):
        headers = {"Content-Type": "application/json"}
        reply = self.pool.request(
            method, self.url + path, body=orjson.dumps(body) if body else None, headers=headers
        )
        return orjson.loads(reply.data or b"{}")

    def indices(self, pattern="*"):
        found = self("GET", f"/_cat/indices/{pattern}?format=json")
        return sorted(entry["index"] for entry in found)


class OwnNode(Node):
    """A node that a test may kill and bring back with what it holds."""

    def __init__(self, engine, *more):
        self.engine, self.more = engine, more
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = str(probe.getsockname()[1])
        self.up()
        super().__init__(f"http://127.0.0.1:{self.port}")

    def up(self, *more):
        done = self._script("up", "--port", self.port, "--heap", "512m", *self.more, *more)
        if done.returncode == 3:
            pytest.skip(done.stderr)
        assert done.returncode == 0, done.stderr

    def alive(self):
        return self._script("status", "--port", self.port).returncode == 0

    def signal(self, number):
        usual = f"/var/tmp/harness-{self.engine}"
        home = Path(os.environ.get(f"HARNESS_{self.engine.upper()}_HOME", usual))
        os.kill(int((home / f"node-{self.port}" / "pid").read_text()), number)

    def kill(self):
        self.signal(signal.SIGKILL)

    def bring_back(self):
        assert not self.alive()
        self.up("--keep")

    def down(self):
        assert self._script("down", "--port", self.port).returncode == 0

    def _script(self, *arguments):
        return subprocess.run(
            [sys.executable, str(ENGINE_SCRIPTS / f"{self.engine}.py"), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine(request):
    """Name of the engine that `node` and `own_node` run."""
    return request.param


@pytest.fixture
def node(engine, request):
    """The shared node: tests leave it as they found it."""
    return Node(request.getfixturevalue(f"{engine}_url"))


@pytest.fixture
def owned(engine, request):
    """Makes backends of the OWNER of the test's module on a node; gives back what they hold."""
    made = []

    def make(node, timeout_s=30, **more):
        owner = request.module.OWNER
        config = BackendConfig(url=node.url, owner=owner, timeout_s=timeout_s, **more)
        made.append(registry.backend(engine)(config))
        return made[-1]

    yield make
    for one in made:
        with contextlib.suppress(EngineUnavailable):
            one.sweep()


@pytest.fixture
def backend(owned, node, request):
    """One of them on the shared node, on which nothing stays."""
    made = owned(node)
    yield made
    made.sweep()
    assert node.indices(f"harness-{request.module.OWNER}-*") == []


@pytest.fixture(scope="session")
def _secure_proxy_module():
    spec = importlib.util.spec_from_file_location("secure_proxy", SECURE_PROXY)
    module = importlib.util.module_from_spec(spec)
    sys.modules["secure_proxy"] = module  # where dataclasses look for their annotations
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def _proxies():
    made = {}
    yield made
    for one in made.values():
        one.stop()


@pytest.fixture
def proxy(engine, request, nginx, _secure_proxy_module, _proxies, tmp_path_factory):
    """TLS and a lock (`tests/secure_proxy.py`) before the shared node of `engine`."""
    if engine not in _proxies:
        url = request.getfixturevalue(f"{engine}_url")
        folder = tmp_path_factory.mktemp(f"proxy-{engine}")
        one = _secure_proxy_module.SecureProxy(folder, url, nginx)
        one.start()
        _proxies[engine] = one
    return _proxies[engine]


@pytest.fixture(scope="session")
def _own_nodes():
    made = {}
    yield made
    for one in made.values():
        one.down()


@pytest.fixture
def own_node(engine, request, _own_nodes):
    """A second node for what would disturb others, running when the test starts."""
    request.getfixturevalue(f"{engine}_url")  # skips where no node can be
    if engine not in _own_nodes:
        _own_nodes[engine] = OwnNode(engine)
    if not _own_nodes[engine].alive():
        _own_nodes[engine].up("--keep")
    for name in _own_nodes[engine].indices("harness-*"):  # of a test that failed
        _own_nodes[engine]("DELETE", f"/{name}")
    return _own_nodes[engine]
