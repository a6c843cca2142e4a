"""Where a study was measured, for its report."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from indexers.kernels import threads

_LIBRARIES = (
    "bm25s",
    "numpy",
    "numba",
    "faiss-cpu",
    "locust",
    "gevent",
    "opensearch-py",
    "elasticsearch",
)


def environment() -> dict[str, str]:
    """Processor, cores, memory, system, Python and library versions."""
    facts = {
        "processor": _processor(),
        "cores": str(threads.cores()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
    }
    for name in _LIBRARIES:
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            continue
    return facts


def _processor() -> str:
    for line in _lines("/proc/cpuinfo"):
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def _memory() -> str:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemTotal:"):
            return f"{int(line.split()[1]) / 2**20:.1f} GiB"
    return "unknown"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
