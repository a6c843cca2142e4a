"""One index with nested tokens against an index per setting, side by side.

    python tests/benchmarks/bench_nested.py opensearch=URL [elasticsearch=URL] [DOCUMENTS]

Simhash of the made-up catalogue. Both indexes of a setting are asked each query by turns; printed
are the share of queries with identical hits, scores included (all must be), p50 of both in ms, and
their ratio (goal: at most 1.15).
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from harness.collection import source
from indexers import registry
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import HashParams, TableSize

TABLES, LENGTHS = 50, (8, 12, 16)
SETTINGS = ((10, 8), (20, 12), (50, 12), (50, 16))
QUERIES, ROUNDS, K, BITS, GOAL = 100, 3, 10, 128, 1.15


def fingerprinted(n: int) -> tuple[Documents, Queries]:
    """The catalogue with this many documents."""
    corpus = source.open_corpus(f"catalogue:{n}", None, seed=123)
    params = HashParams(bits=BITS, seed=123)
    hasher = registry.family("simhash").hasher(TableSize(TABLES, LENGTHS[-1]), params)
    texts = corpus.query_texts[:QUERIES]
    documents = Documents(corpus.ids, corpus.texts, hasher(corpus.texts))
    return documents, Queries(texts, hasher(texts))


def compare(name: str, url: str, documents: Documents, queries: Queries) -> None:
    """One engine."""
    backend = registry.backend(name)(BackendConfig(url=url, owner="bench-nested", timeout_s=300))

    def build(tables: int, lengths: tuple[int, ...]):
        spec = IndexSpec(name, "lsh", "simhash", tables, lengths, BITS)
        return backend.build(spec, documents, Path())

    try:
        nested = build(TABLES, LENGTHS)
        for tables, length in SETTINGS:
            alone = build(tables, (length,))
            params = SearchParams(K, tables, length)
            open_ = [backend.open(h, params, queries, documents.ids) for h in (nested, alone)]
            same, p50 = by_turns(open_, len(queries.texts))
            for searcher in open_:
                searcher.close()
            backend.drop(alone)
            ratio = p50[0] / p50[1]
            print(
                f"{name:13} {tables:3} × {length:2}: identical hits {same:.1%}, p50 nested "
                f"{p50[0]:7.3f} ms, alone {p50[1]:7.3f} ms, ratio {ratio:.3f}"
                f"{'' if ratio <= GOAL else '  above the goal'}",
                flush=True,
            )
    finally:
        backend.sweep()


def by_turns(searchers, count: int) -> tuple[float, list[float]]:
    """Share of queries with identical hits, and p50 in ms of each searcher."""
    times: tuple[list[float], list[float]] = ([], [])
    same = asked = 0
    for turn in range(1 + ROUNDS):
        for query in range(count):
            hits = [None, None]
            for side in (0, 1) if (turn + query) % 2 else (1, 0):
                began = perf_counter()
                hits[side] = searchers[side].search(query)
                if turn:  # the first round warms up
                    times[side].append(1e3 * (perf_counter() - began))
            one, other = hits
            asked += 1
            same += np.array_equal(one.ordinals, other.ordinals) and np.array_equal(
                one.scores, other.scores
            )
    return same / asked, [float(np.median(values)) for values in times]


def main() -> None:
    engines = [argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument]
    sizes = [int(argument) for argument in sys.argv[1:] if "=" not in argument]
    documents, queries = fingerprinted(sizes[0] if sizes else 50_000)
    print(f"{len(documents.ids):,} documents, {len(queries.texts)} queries × {ROUNDS} rounds")
    for name, url in engines:
        compare(name, url, documents, queries)


if __name__ == "__main__":
    main()
