"""Tables in process: building for a whole sweep against its largest setting; a query's time.

Run by hand: python tests/benchmarks/bench_tables.py [documents]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from indexers.backends.tables import Tables
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import Fingerprints

TABLES = (5, 10, 15, 20, 25, 30, 40, 50)
CASES = {"bit": ("simhash", 128, 1, (8, 12, 16, 20)), "row": ("minhash", 1024, 8, (1, 2, 4, 8))}
BACKEND = Tables(BackendConfig())


def fingerprints(n: int, atom: str, bits: int, words: int, seed: int) -> Fingerprints:
    """Uniform bits; rows with 60 values, so that a short key is shared by many."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**32 if atom == "bit" else 60, (max(TABLES), words, n), np.uint32)
    codes = rng.integers(0, 256, (n, bits // 8), np.uint8)
    return Fingerprints(np.zeros(n, np.uint8), codes, keys, atom)


def build_s(spec: IndexSpec, documents: Documents) -> float:
    """Best of three."""
    times = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            times.append(BACKEND.build(spec, documents, Path(folder)).build_s)
    return min(times)


def query_ms(handle, params: SearchParams, queries: Queries) -> list[float]:
    """Service times of all queries."""
    searcher = BACKEND.open(handle, params, queries, [])
    times = []
    for row in range(len(queries.texts)):
        start = time.perf_counter()
        searcher.search(row)
        times.append(1000 * (time.perf_counter() - start))
    searcher.close()
    return times


def main(n: int) -> None:
    for atom, (family, bits, words, lengths) in CASES.items():
        documents = Documents([], [], fingerprints(n, atom, bits, words, seed=1))
        queries = Queries([""] * 1000, fingerprints(1000, atom, bits, words, seed=2))

        def spec(hash_lengths, family=family, bits=bits):
            return IndexSpec("tables", "lsh", family, max(TABLES), tuple(hash_lengths), bits)

        build_s(spec(lengths[:1]), documents)  # compiles
        alone, shared = build_s(spec(lengths[-1:]), documents), build_s(spec(lengths), documents)
        print(f"{family}, {n:,} documents, {len(TABLES)} × {len(lengths)} settings")
        print(f"  build: largest alone {alone:.2f} s, all {shared:.2f} s: {shared / alone:.2f}×")
        with tempfile.TemporaryDirectory() as folder:
            handle = BACKEND.build(spec(lengths), documents, Path(folder))
            for length in lengths:
                for tables in (TABLES[0], TABLES[-1]):
                    times = query_ms(handle, SearchParams(10, tables, length), queries)
                    p50, p99 = statistics.median(times), np.quantile(times, 0.99)
                    print(f"  {tables:2} × {length:2}: p50 {p50:.3f} ms, p99 {p99:.3f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
