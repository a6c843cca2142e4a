"""Building one index for a grid of hash lengths against building its largest setting alone.

    python tests/benchmarks/bench_opensearch_build.py URL [documents]

Target: 4 hash lengths × 50 tables over 100,000 documents in at most 3 times the time of 1 × 50.
Fingerprints are random, so that the server's share is measured alone. Best of alternating runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from indexers.backends.opensearch import OpenSearch
from indexers.index_types import BackendConfig, Documents, IndexSpec
from indexers.types import Fingerprints

TABLES, LENGTHS, ROUNDS, TARGET = 50, (8, 12, 16, 20), 2, 3.0


def corpus(n: int) -> Documents:
    """Documents with random keys and codes."""
    rng = np.random.default_rng(123)
    keys = rng.integers(0, 2**32, (TABLES, 1, n), dtype=np.uint32)
    codes = rng.integers(0, 256, (n, 16), dtype=np.uint8)
    ids = [f"{i:09d}" for i in range(n)]
    return Documents(ids, [""] * n, Fingerprints(np.zeros(n, np.uint8), codes, keys, "bit"))


def main() -> None:
    """Print both times and their ratio."""
    url = sys.argv[1]
    documents = corpus(int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
    backend = OpenSearch(BackendConfig(url=url, owner="bench", timeout_s=120))
    best: dict[tuple[int, ...], float] = {}
    for _ in range(ROUNDS):
        for lengths in (LENGTHS[-1:], LENGTHS):
            spec = IndexSpec("opensearch", "lsh", "random", TABLES, lengths, 128)
            handle = backend.build(spec, documents, Path())
            backend.drop(handle)
            best[lengths] = min(best.get(lengths, float("inf")), handle.build_s)
            rate = handle.documents / handle.build_s
            print(
                f"{len(lengths)} × {TABLES}: {handle.build_s:6.1f} s, {rate:6.0f} documents/s, "
                f"{handle.size_bytes / 1e6:5.1f} MB",
                flush=True,
            )
    ratio = best[LENGTHS] / best[LENGTHS[-1:]]
    print(f"nested / largest alone: {ratio:.2f} (target: at most {TARGET})")


if __name__ == "__main__":
    main()
