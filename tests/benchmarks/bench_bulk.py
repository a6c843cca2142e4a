"""Our bulk against `helpers.parallel_bulk` of the official clients, on the same documents.

    python tests/benchmarks/bench_bulk.py URL... [--documents N] [--rounds R]

Both fill an index of the same settings and mapping, each in a child process of its own, in turn.
Documents a second are those of the whole call; CPU is user and system time of the client process.
Ours includes making the lines from fingerprints; parallel_bulk, with its default arguments, is
given documents that are parsed already: what parsing them takes is measured before and left out.
Targets: at least 1.3 times as fast, at no more than a quarter of the CPU.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import orjson

from indexers.backends import _engine_bulk as lines
from indexers.backends._engine_admin import count
from indexers.backends._engine_layout import properties
from indexers.backends._engine_root import ask_version
from indexers.backends._engine_temporary import new_name
from indexers.index_types import BackendConfig, Documents, IndexSpec
from indexers.registry import backend
from indexers.types import Fingerprints, no_progress

TABLES, LENGTHS, FASTER, LIGHTER = 50, (8, 12, 16, 20), 1.3, 4.0
"""Sizes of simhash in a study with the usual grid, and the targets."""
WARM_UP = 20_000
"""Documents filled before anything is measured: a server is slow until its code is compiled."""
TRIES, REST_S = 5, 10.0


def corpus(n: int) -> Documents:
    """Documents with random keys and codes."""
    rng = np.random.default_rng(123)
    keys = rng.integers(0, 2**32, (TABLES, 1, n), dtype=np.uint32)
    codes = rng.integers(0, 256, (n, 16), dtype=np.uint8)
    ids = [f"{i:09d}" for i in range(n)]
    return Documents(ids, [""] * n, Fingerprints(np.zeros(n, np.uint8), codes, keys, "bit"))


def cpu_s() -> float:
    """User and system time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def engine_at(url: str) -> str:
    """Which engine answers."""
    with urlopen(url) as reply:
        found = json.load(reply)["version"].get("distribution", "elasticsearch")
    return str(found)


def spec_of(name: str) -> IndexSpec:
    """What is built."""
    return IndexSpec(name, "lsh", "simhash", TABLES, LENGTHS, 128)


def child(mode: str, name: str, url: str, folder: Path, n: int) -> dict[str, float]:
    """One fill; documents a second and CPU seconds."""
    engine: Any = backend(name)(BackendConfig(url=url, owner="bench", timeout_s=120))
    docs, spec = corpus(n), spec_of(name)
    index, (_, numbers) = new_name("bench"), ask_version(engine._to, engine.flavour, 30)
    body = engine.index_body(spec, docs, numbers)
    with engine._building(spec.layout, index, body, no_progress) as build:
        build.create()
        try:
            if mode == "ours":
                rows = lines.indexed_rows(spec, docs)
                before, started = cpu_s(), time.perf_counter()
                build.fill(lines.blocks(spec, docs, rows, engine.dialect))
            else:
                client = official(name, url)
                parsing = cpu_s()
                for _ in parsed(folder):
                    pass
                before, started = cpu_s(), time.perf_counter()
                parsing = before - parsing
                fill(client, name, index, folder)
                before += parsing
            spent_s, used_s = time.perf_counter() - started, cpu_s() - before
            build.settle()
            assert count(engine._call, index) == n
        finally:
            engine.sweep()
    return {"rate": n / spent_s, "cpu": used_s}


def official(name: str, url: str) -> Any:
    """The official client with its defaults."""
    module = __import__("opensearchpy" if name == "opensearch" else "elasticsearch")
    if name == "opensearch":
        at = urlsplit(url)
        return module.OpenSearch([{"host": at.hostname, "port": at.port}], timeout=120)
    return module.Elasticsearch(url, request_timeout=120)


def parsed(folder: Path) -> Iterator[dict[str, Any]]:
    """Every document as a dictionary."""
    with (folder / "documents").open("rb") as file:
        for line in file:
            yield orjson.loads(line)


def fill(client: Any, name: str, index: str, folder: Path) -> None:
    """Fill with default arguments."""
    package = "opensearchpy" if name == "opensearch" else "elasticsearch"
    helpers = __import__(f"{package}.helpers").helpers
    actions = ({"_index": index, "_source": document} for document in parsed(folder))
    for done, item in helpers.parallel_bulk(client, actions):
        assert done, item


def write(folder: Path, name: str, n: int) -> None:
    """The same documents as lines of JSON."""
    docs, spec = corpus(n), spec_of(name)
    dialect: Any = backend(name)
    rows = lines.indexed_rows(spec, docs)
    assert properties(spec, docs, dialect.dialect)
    with (folder / "documents").open("wb") as file:
        for block in lines.blocks(spec, docs, rows, dialect.dialect):
            for line in block.lines:
                file.write(line.partition(b"\n")[2])


def run_child(mode: str, name: str, url: str, folder: Path, n: int) -> dict[str, float]:
    """One fill in a process of its own.

    parallel_bulk gives up where a server whose memory is short answers 429; it is run again then.
    """
    arguments = [sys.executable, __file__, "--child", mode, name, url, str(folder), str(n)]
    for _ in range(TRIES):
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found: dict[str, float] = json.loads(done.stdout)
            return found
        if mode == "ours" or "(429" not in done.stderr:
            break
        print(f"{name}: parallel_bulk gave up on a 429 and begins again", flush=True)
        time.sleep(REST_S)
    raise SystemExit(done.stderr)


def compare(url: str, n: int, rounds: int) -> None:
    """Print every pair and the median ratios."""
    name = engine_at(url)
    pairs = []
    with TemporaryDirectory() as made:
        folder = Path(made)
        write(folder, name, n)
        run_child("ours", name, url, folder, min(n, WARM_UP))
        for number in range(rounds):
            modes = ["ours", "helpers"] if number % 2 else ["helpers", "ours"]
            found = {mode: run_child(mode, name, url, folder, n) for mode in modes}
            ours, helpers = found["ours"], found["helpers"]
            pairs.append((ours["rate"] / helpers["rate"], helpers["cpu"] / ours["cpu"]))
            print(
                f"{name}: ours {ours['rate']:6.0f}/s {ours['cpu']:5.2f} s CPU, parallel_bulk "
                f"{helpers['rate']:6.0f}/s {helpers['cpu']:5.2f} s CPU: "
                f"{pairs[-1][0]:.2f} times as fast, 1/{pairs[-1][1]:.1f} of the CPU",
                flush=True,
            )
    faster, lighter = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"{name}, {n} documents, median of {rounds}: {faster:.2f} times as fast (target: "
        f"{FASTER}), 1/{lighter:.1f} of the CPU (target: 1/{LIGHTER:g})"
    )


def main() -> None:
    """Compare at every URL, or be one of the children."""
    if sys.argv[1:2] == ["--child"]:
        mode, name, url, folder, n = sys.argv[2:]
        print(json.dumps(child(mode, name, url, Path(folder), int(n))))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("url", nargs="+")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for url in options.url:
        compare(url, options.documents, options.rounds)


if __name__ == "__main__":
    main()
