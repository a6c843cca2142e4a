"""Exact neighbours: Jaccard against a sparse product, Hamming against FAISS, in one run.

Run by hand: python tests/benchmarks/bench_truth.py [documents]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import faiss
import numpy as np
from scipy import sparse

from indexers.similarity import hamming, jaccard
from indexers.text import Shingler

QUERIES, K = 1000, 10


def seconds(work: Callable[[], object]) -> float:
    """Best of two, after whatever the first call compiles."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def texts(n: int) -> list[str]:
    """About 250 characters each, words by Zipf's law."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    words = np.array(["".join(rng.choice(letters, rng.integers(2, 11))) for _ in range(20_000)])
    ranks = np.minimum(rng.zipf(1.3, (n, 38)) - 1, len(words) - 1)
    return [" ".join(row) for row in words[ranks]]


def sparse_product(documents: list[str], queries: list[str]) -> None:
    shingler = Shingler(3)

    def sets(of: list[str]):
        block = shingler.block(of)
        ones = np.ones(len(block.tokens), np.int32)
        shape = (len(of), shingler.size)
        matrix = sparse.csr_matrix((ones, block.tokens, block.offsets), shape)
        matrix.sum_duplicates()
        matrix.data[:] = 1
        return matrix

    mine, theirs = sets(queries), sets(documents)
    mine.resize(len(queries), shingler.size)
    sizes = np.asarray(theirs.sum(axis=1)).ravel()
    for lo in range(0, len(queries), 100):
        common = (mine[lo : lo + 100] @ theirs.T).toarray()
        union = sizes + np.asarray(mine[lo : lo + 100].sum(axis=1)) - common
        np.partition(common / union, -K, axis=1)


def main(n: int) -> None:
    documents = texts(n)
    queries = documents[:QUERIES]
    itself = np.arange(QUERIES, dtype=np.int32)
    ours = seconds(lambda: jaccard.nearest(documents, queries, k=K, exclude=itself))
    print(f"exact Jaccard, {n:,} documents × {QUERIES} queries, K = {K}: {ours:.2f} s")
    if n <= 100_000:
        other = seconds(lambda: sparse_product(documents, queries))
        print(f"  sparse product, without order and ties: {other:.2f} s: {other / ours:.1f}×")

    rng = np.random.default_rng(1)
    codes = rng.integers(0, 256, (n, 16), np.uint8)
    status = np.zeros(n, np.uint8)
    ours = seconds(
        lambda: hamming.nearest(
            codes, status, codes[:QUERIES], status[:QUERIES], k=K, exclude=itself
        )
    )
    index = faiss.IndexBinaryFlat(128)
    index.add(codes)
    other = seconds(lambda: index.search(codes[:QUERIES], K + 1))
    print(f"exact Hamming, 128 bits, with ties: {ours:.2f} s")
    print(f"  FAISS flat, without ties: {other:.2f} s: {other / ours:.1f}×")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
