"""Two backends that behave as a test says, found by the load process as real ones are."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexers import store
from indexers.index_types import BackendConfig, IndexHandle, IndexSpec, Queries, SearchParams
from indexers.types import Fingerprints
from loadtest.profile import Target
from loadtest.runner import ROOT, LoadRunner

PLAY = '''
"""Answers ordinals query, query + 1, …; what else it does is written in the location."""

import ctypes
import json
import os
import sys
import time

import numpy as np

from indexers.errors import BackendError
from indexers.index_types import Hits

LIBC = ctypes.CDLL(None)  # its sleep is not patched, as no C extension's waiting is


def wait(seconds):
    LIBC.usleep(int(1e6 * seconds))


class Searcher:
    def __init__(self, acts, k):
        self.acts, self.k, self.calls, self.until = acts, k, 0, 0.0
        self.seen = set()

    def search(self, query):
        acts = self.acts
        call = self.calls = self.calls + 1
        if call == acts.get("stall_at"):
            self.until = time.perf_counter() + acts["stall_s"]
        wait(max(0.0, self.until - time.perf_counter()))
        wait(acts.get("sleep_s", {}).get(str(query), acts.get("each_s", 0.0)))
        if call == acts.get("die_at"):
            print("a library gave up", file=sys.stderr, flush=True)
            os._exit(3)
        first = query not in self.seen
        self.seen.add(query)
        if acts.get("fail") or query in acts.get("fail_always", ()):
            raise BackendError(f"query {query} is broken")
        if first and query in acts.get("fail_once", ()):
            raise ValueError("not now")
        m = 1 if query in acts.get("short", ()) else self.k
        found = np.arange(query, query + m, dtype=np.int32)
        if call >= acts.get("changes_at", call + 1):
            found = found[::-1].copy()
        return Hits(found, np.zeros(m), duplicates=1)

    def close(self):
        pass


class Play:
    name, kinds, remote = "play", ("flat",), False

    def __init__(self, config):
        self.config = config

    def open(self, handle, params, queries, ids, transport=None):
        acts = json.loads(handle.location)
        if acts.get("print"):
            print("a library greets you")
            os.write(1, b"another does so from C\\n")
        if acts.get("says"):
            raise ValueError(acts["says"])
        if acts.get("open"):
            raise BackendError("the index is damaged")
        assert ids == ["a", "b"]
        return Searcher(acts, params.k)


BACKEND = Play
'''

WIRE = '''
"""Asks a server, which answers a JSON array of ordinals."""

import json

import numpy as np

from indexers.errors import BackendError
from indexers.http_request import HttpRequest
from indexers.index_types import Hits


class Searcher:
    def __init__(self, transport):
        self.transport = transport

    def search(self, query):
        status, body = self.transport(HttpRequest("POST", ("ask",), body=str(query).encode()))
        if status != 200:
            raise BackendError(f"status {status}")
        found = json.loads(body)
        return Hits(np.array(found, dtype=np.int32), np.zeros(len(found)))

    def close(self):
        pass


class Wire:
    name, kinds, remote = "wire", ("flat",), True

    def __init__(self, config):
        self.config = config

    def open(self, handle, params, queries, ids, transport=None):
        return Searcher(transport)


BACKEND = Wire
'''

CHILD = """
import sys
sys.path.insert(0, {root!r})
import indexers.backends
indexers.backends.__path__.append({folder!r})
from loadtest.locustfile import main
main()
"""


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Starts a load process that knows the backends `play` and `wire` too."""
    folder = tmp_path_factory.mktemp("backends")
    (folder / "play.py").write_text(PLAY)
    (folder / "wire.py").write_text(WIRE)
    script = folder.parent / "child.py"
    script.write_text(CHILD.format(root=str(ROOT), folder=str(folder)))
    return (sys.executable, str(script))


@pytest.fixture(scope="module")
def runner(command: tuple[str, ...]) -> Iterator[LoadRunner]:
    with LoadRunner(command) as running:
        yield running


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Target]:
    """A target of the backend `play`, or `wire` where a URL is given, with ten queries."""
    folder = tmp_path_factory.mktemp("target")
    queries, bits = 10, 64
    prints = Fingerprints(
        status=np.zeros(queries, np.uint8),
        codes=np.zeros((queries, bits // 8), np.uint8),
        keys=np.zeros((1, 1, queries), np.uint32),
        atom="bit",
    )
    store.save_queries(folder / "queries", Queries(["text"] * queries, prints))
    store.save_ids(folder / "ids.json", ["a", "b"])

    def make(url: str | None = None, k: int = 3, runnable: Any = None, **acts: Any) -> Target:
        name = "play" if url is None else "wire"
        spec = IndexSpec(name, "flat", family="simhash", bits=bits)
        return Target(
            config=BackendConfig(url=url),
            handle=IndexHandle(spec, json.dumps(acts), 2, 1, 0.0),
            params=SearchParams(k=k),
            queries=folder / "queries",
            ids=folder / "ids.json",
            runnable=np.asarray(range(queries) if runnable is None else runnable, dtype=np.int32),
        )

    return make


@pytest.fixture(scope="session")
def expected() -> Callable[[int, int], list[int]]:
    """The answers of `play` to a query, by its number and k."""
    return lambda query, k: list(range(query, query + k))


@pytest.fixture
def parent(command: tuple[str, ...], tmp_path: Path) -> Callable[[str], list[str]]:
    """Command of a program that owns a load process, prints its pid and does as told."""

    def write(body: str) -> list[str]:
        script = tmp_path / "parent.py"
        script.write_text(
            f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
            "from loadtest.profile import LoadProfile\n"
            "from loadtest.runner import LoadRunner\n"
            f"with LoadRunner({command!r}) as runner:\n"
            "    print(runner._child._process.pid, flush=True)\n" + body
        )
        return [sys.executable, str(script)]

    return write
