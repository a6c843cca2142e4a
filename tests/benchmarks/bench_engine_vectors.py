"""Engines' own search of codes against brute force by a script, on the same documents.

    python tests/benchmarks/bench_engine_vectors.py ELASTICSEARCH_URL OPENSEARCH_URL
        [--documents N] [--queries Q] [--rounds R] [--bits B]

Codes lie around 1,000 centres, 8 % of their bits flipped. All indexes stand before the first
query; then every searcher is asked all queries in turn, round by round. Latencies are those of one
caller. Recall is the share of the 10 nearest that is found, ties with the tenth counted; every
score is held against bits − Hamming in numpy.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from indexers import registry
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import U8, Fingerprints

K, WARM_UP, CENTRES, FLIPPED = 10, 30, 1000, 0.08
INDEXES = (
    ("elasticsearch", "hnsw", "bit", (32, 128)),
    ("opensearch", "hnsw", "bit", (32, 128)),
    ("elasticsearch", "flat", "bit", (None,)),
    ("elasticsearch", "flat", None, (None,)),
    ("opensearch", "flat", None, (None,)),
)


def codes(count: int, bits: int, seed: int) -> U8:
    """Codes near the centres: uint8 (count, bits / 8)."""
    centres = np.random.default_rng(3).integers(0, 2, (CENTRES, bits))
    rng = np.random.default_rng(seed)
    chosen = centres[rng.integers(CENTRES, size=count)]
    return np.packbits(chosen ^ (rng.random((count, bits)) < FLIPPED), axis=1)


def fingerprints(held: U8) -> Fingerprints:
    """Codes alone."""
    n = len(held)
    return Fingerprints(np.zeros(n, np.uint8), held, np.zeros((0, 0, n), np.uint32), "bit")


def main() -> None:
    """Print a line for each searcher."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("elasticsearch")
    parser.add_argument("opensearch")
    for name, usual in (("documents", 20_000), ("queries", 100), ("rounds", 3), ("bits", 128)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    given = parser.parse_args()
    held, asked = codes(given.documents, given.bits, 1), codes(given.queries, given.bits, 2)
    ids = [f"d{row:08}" for row in range(len(held))]
    documents = Documents(ids, [""] * len(ids), fingerprints(held))
    queries = Queries([""] * len(asked), fingerprints(asked))
    distances = np.stack([np.unpackbits(held ^ code, axis=1).sum(axis=1) for code in asked])
    kth = np.sort(distances, axis=1)[:, K - 1]
    built, searchers = [], []
    try:
        for name, kind, vector_type, widths in INDEXES:
            config = BackendConfig(url=getattr(given, name), owner="bench-vectors")
            backend = registry.backend(name)(config)
            spec = IndexSpec(name, kind, "simhash", bits=given.bits, vector_type=vector_type)
            handle = backend.build(spec, documents, Path())
            built.append((backend, handle))
            for width in widths:
                searcher = backend.open(handle, SearchParams(K, ef_search=width), queries, ids)
                told = f"{name} {kind} {vector_type or 'by a script'}"
                searchers.append((f"{told} {width or ''}", handle, searcher))
        for _, _, searcher in searchers:
            for row in range(min(WARM_UP, len(asked))):
                searcher.search(row)
        latency_s: dict[str, list[float]] = {told: [] for told, _, _ in searchers}
        found = dict.fromkeys(latency_s, 0)
        for _ in range(given.rounds):
            for told, _, searcher in searchers:
                for row in range(len(asked)):
                    started = time.perf_counter()
                    hits = searcher.search(row)
                    latency_s[told].append(time.perf_counter() - started)
                    mine = distances[row][hits.ordinals]
                    assert (hits.scores == given.bits - mine).all()
                    found[told] += int((mine <= kth[row]).sum())
        for told, handle, _ in searchers:
            p50, p95 = (1e3 * np.quantile(latency_s[told], share) for share in (0.5, 0.95))
            recall = found[told] / (given.rounds * len(asked) * K)
            print(
                f"{told:36} p50 {p50:7.2f} ms  p95 {p95:7.2f} ms  recall {recall:.4f}  "
                f"build {handle.build_s:5.1f} s  {handle.size_bytes / 1e6:6.2f} MB"
            )
    finally:
        for backend, handle in built:
            backend.drop(handle)


if __name__ == "__main__":
    main()
