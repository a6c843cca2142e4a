"""Hash curves of 10,000 queries and 1,000,000 codes of 128 bits: time and greatest memory.

    python tests/benchmarks/bench_curves.py [QUERIES [DOCUMENTS]]

One process, as many threads as it may use. A blocked numpy version (unpacked matrix products
would be slower still) is timed on a share of the queries beside it, one thread stated.
"""

import os
import resource
import sys
import time

import numpy as np

from harness.measures import curves
from harness.measures.curves_counting import Coded, LabelRelevance, count_distances

BITS = 128
LABELS = 10
NUMPY_QUERIES = 20


def by_numpy(codes, query_codes, labels, query_labels):
    """The histograms by xor, bit counts and bincount, one query at a time."""
    words, query_words = codes.view(np.uint64), query_codes.view(np.uint64)
    rows = []
    for query, label in zip(query_words, query_labels, strict=True):
        distances = np.bitwise_count(words ^ query).sum(axis=1)
        rows.append(
            (
                np.bincount(distances, minlength=BITS + 1),
                np.bincount(distances[labels == label], minlength=BITS + 1),
            )
        )
    return np.array(rows)


def main(queries=10_000, documents=1_000_000):
    random = np.random.default_rng(1)
    codes = random.integers(0, 256, (documents, BITS // 8), np.uint8)
    query_codes = random.integers(0, 256, (queries, BITS // 8), np.uint8)
    relevance = LabelRelevance(
        random.integers(0, LABELS, documents), random.integers(0, LABELS, queries)
    )
    few = Coded.of(BITS, codes[:100], query_codes[:2])
    count_distances(few, LabelRelevance(relevance.documents[:100], relevance.queries[:2]))
    started = time.perf_counter()
    counts = count_distances(Coded.of(BITS, codes, query_codes), relevance)
    counted_s = time.perf_counter() - started
    started = time.perf_counter()
    curves.by_radius(counts), curves.by_radius(counts, average="macro")
    ranks = curves.ranks_to_show(documents)
    found = curves.expected_found(counts, ranks)
    curves.by_rank(found, counts.wanted, ranks)
    curves.expected_average_precision(counts)
    curves_s = time.perf_counter() - started
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    started = time.perf_counter()
    some = slice(0, NUMPY_QUERIES)
    plain = by_numpy(codes, query_codes[some], relevance.documents, relevance.queries[some])
    numpy_s = (time.perf_counter() - started) * queries / NUMPY_QUERIES
    assert np.array_equal(plain[:, 0], counts.documents[some])
    assert np.array_equal(plain[:, 1], counts.relevant[some])
    cores = len(os.sched_getaffinity(0))
    print(f"{queries:,} queries x {documents:,} codes of {BITS} bits, {LABELS} labels")
    print(f"counted in {counted_s:.1f} s on {cores} threads; curves in {curves_s:.1f} s")
    print(f"numpy on one thread, from {NUMPY_QUERIES} queries: {numpy_s:.0f} s")
    print(f"ratio {numpy_s / counted_s:.1f}; greatest memory {peak_mib:.0f} MiB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
