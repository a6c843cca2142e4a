"""All pairs of similarities against FAISS and a sparse product, side by side in one run.

One thread on both sides, if BLAS is told so. Run by hand:
OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_similarity.py [documents]
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import faiss
import numpy as np
from scipy import sparse

from indexers.codes import code_words
from indexers.kernels.hamming import distances
from indexers.nearest import nearest_by_matrix
from indexers.similarity import cosine, hamming, manhattan, multiset_jaccard
from indexers.similarity.jaccard import SIMILARITY as JACCARD
from indexers.text import Shingler
from indexers.types import Fingerprints, Ragged

BLOCK = 250
"""Queries of a sparse product at a time."""


def seconds(*works: Callable[[], object], rounds: int = 3) -> list[float]:
    """Best of several rounds for each, in turns, after one that compiles."""
    times = [[] for _ in works]
    for work in works:
        work()
    for _ in range(rounds):
        for work, taken in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]


def compare(what: str, ours: float, other: float, name: str) -> None:
    print(f"{what}: {ours:.3f} s; {name}: {other:.3f} s: {other / ours:.1f}×")


def fingerprints(n: int, **parts) -> Fingerprints:
    parts = {"codes": np.zeros((n, 0), np.uint8)} | parts
    return Fingerprints(
        np.zeros(n, np.uint8), keys=np.zeros((0, 0, n), np.uint32), atom="bit", **parts
    )


def bits(n: int) -> None:
    codes = np.random.default_rng(1).integers(0, 256, (n, 16), np.uint8)
    fp = fingerprints(n, codes=codes)
    columns = np.ascontiguousarray(code_words(codes).T)
    words = code_words(codes)
    table = np.empty((n, n), np.int32)
    index = faiss.IndexBinaryFlat(128)
    index.add(codes)

    def ours() -> None:
        for lo in range(0, n, 64):
            distances(columns, words, lo, min(lo + 64, n), True)

    def hammings() -> None:
        faiss.hammings(
            faiss.swig_ptr(codes), faiss.swig_ptr(codes), n, n, 16, faiss.swig_ptr(table)
        )

    def whole() -> None:
        hammings()
        1 / (1 + table)

    few = codes[:BLOCK]
    search = seconds(lambda: index.search(few, n), rounds=1)[0] * n / BLOCK
    took = seconds(ours, hammings, lambda: hamming.SIMILARITY.matrix(fp, fp, "bits"), whole)
    print(f"Hamming of 128 bits, {n:,} × {n:,}")
    compare("  distances", took[0], took[1], "faiss.hammings")
    compare("  similarities as float64", took[2], took[3], "faiss.hammings and 1 / (1 + d)")
    compare(
        "  distances",
        took[0],
        search,
        f"IndexBinaryFlat.search for all, sorted (from {BLOCK} queries)",
    )


def texts(n: int) -> list[str]:
    """About 250 characters each, words by Zipf's law."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    words = np.array(["".join(rng.choice(letters, rng.integers(2, 11))) for _ in range(20_000)])
    ranks = np.minimum(rng.zipf(1.3, (n, 38)) - 1, len(words) - 1)
    return [" ".join(row) for row in words[ranks]]


def shingle_hashes(n: int, size: int, every: int) -> Ragged:
    """Hashes of the shingles of texts; of `every` shingles only those with the same remainder."""
    block = Shingler(size).block(texts(n))
    spread = block.tokens.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    keep = (spread >> np.uint64(32)) % np.uint64(every) == 0
    ends = np.concatenate([[0], np.cumsum(keep)])
    return Ragged(ends[block.offsets], spread[keep])


def csr(lists: Ragged) -> sparse.csr_matrix:
    _, tokens = np.unique(lists.values, return_inverse=True)
    matrix = sparse.csr_matrix(
        (np.ones(len(tokens), np.int32), tokens, lists.indptr), dtype=np.int32
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def sparse_product(matrix: sparse.csr_matrix) -> np.ndarray:
    sizes = np.diff(matrix.indptr)
    result = np.empty((matrix.shape[0], matrix.shape[0]))
    columns = matrix.T.tocsr()
    for lo in range(0, len(result), BLOCK):
        common = (matrix[lo : lo + BLOCK] @ columns).toarray()
        result[lo : lo + BLOCK] = common / (sizes[lo : lo + BLOCK, None] + sizes - common)
    return result


def sets(n: int) -> None:
    for what, lists in (
        ("character 3-grams", shingle_hashes(n, 3, 1)),
        ("one in three character 5-grams, as winnowing selects", shingle_hashes(n, 5, 3)),
    ):
        fp = fingerprints(n, hashes=lists)
        matrix = csr(lists)
        np.testing.assert_array_equal(JACCARD.matrix(fp, fp, "sequence"), sparse_product(matrix))
        took = seconds(
            lambda fp=fp: JACCARD.matrix(fp, fp, "sequence"),
            lambda matrix=matrix: sparse_product(matrix),
            lambda lists=lists: sparse_product(csr(lists)),
            lambda fp=fp: multiset_jaccard.SIMILARITY.matrix(fp, fp, "sequence"),
        )
        print(f"Jaccard, {n:,} × {n:,}, {what}: {len(lists.values) / n:.0f} hashes a document")
        compare("  sets", took[0], took[1], "scipy from its ready matrix")
        compare("  sets", took[0], took[2], "scipy from the same hashes")
        print(f"  multisets: {took[3]:.3f} s")


def neighbours(n: int) -> None:
    documents = fingerprints(n, hashes=shingle_hashes(n, 5, 3))
    queries = documents.take(np.arange(1000))
    itself = np.arange(1000, dtype=np.int32)
    took = seconds(
        lambda: nearest_by_matrix(JACCARD, "sequence", queries, documents, k=10, exclude=itself),
        rounds=1,
    )
    print(f"10 nearest of 1,000 queries in {n:,} documents, Jaccard of 5-grams: {took[0]:.2f} s")


def vectors(n: int) -> None:
    rows = np.random.default_rng(2).standard_normal((n, 384)).astype(np.float32)
    fp = fingerprints(n, vectors=rows)
    took = seconds(
        lambda: cosine.SIMILARITY.matrix(fp, fp, "vector"),
        lambda: rows.astype(np.float64) @ rows.T.astype(np.float64),
        lambda: manhattan.SIMILARITY.matrix(fp, fp, "vector"),
    )
    print(f"Vectors of 384, {n:,} × {n:,}")
    compare("  cosine", took[0], took[1], "one matrix product in float64")
    print(f"  Manhattan: {took[2]:.3f} s")


if __name__ == "__main__":
    os.sched_getaffinity = lambda _: {0}  # one thread of our own
    faiss.omp_set_num_threads(1)
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    bits(size)
    sets(size)
    vectors(size // 2)
    neighbours(20 * size)
