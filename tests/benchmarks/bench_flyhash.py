"""FlyHash against a scipy sparse product with the same projection, in one run.

    python tests/benchmarks/bench_flyhash.py [FILE.jsonl]

Texts are 100,000 products of the built-in catalogue, or `title` and `text` of the file's lines.
Strings in, codes out, one thread, processor time, best of several, in turns. Both sides
cut shingles with the package's own shingler and know the vocabulary; the product's side takes
winners by numpy's partition, ties as they come.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from harness.collection.catalogue import load
from indexers.families.flyhash import UNITS_A_WINNER
from indexers.kernels import threads
from indexers.registry import family
from indexers.types import HashParams, TableSize

ITEMS, BLOCK, TIMES, TARGET = 100_000, 16_384, 3, 2
CASES = (
    HashParams(bits=2048, seed=55),
    HashParams(bits=2048, seed=55, unit="word", shingle_size=1, weighting="idf"),
)


def texts(path):
    if path:
        lines = map(json.loads, Path(path).read_text("utf-8").splitlines())
        return [f"{line.get('title', '')} {line['text']}" for line in lines]
    return list(load(ITEMS, 100, 123).texts)


def product_codes(hasher, block, bits):
    """Codes of one block by a sparse product with the hasher's own projection."""
    tokens = hasher._shingler.block(block)
    units, size = hasher._units, hasher._shingler.size
    if hasher._frequencies is None:
        weights = np.ones(size, np.float32)
    else:
        weights = hasher._frequencies.weights(size)[:size].astype(np.float32)
    values = np.repeat(weights, units.shape[1])
    bounds = units.shape[1] * np.arange(size + 1)
    projection = sparse.csr_matrix((values, units.ravel().astype(np.int32), bounds), (size, bits))
    ones = np.ones(len(tokens.tokens), np.float32)
    counts = sparse.csr_matrix((ones, tokens.tokens, tokens.offsets), (len(block), size))
    winners = bits // UNITS_A_WINNER
    codes = np.zeros((len(block), bits // 8), np.uint8)
    for start in range(0, len(block), 1024):
        sums = (counts[start : start + 1024] @ projection).toarray()
        best = np.argpartition(sums, -winners, axis=1)[:, -winners:]
        found = np.zeros(sums.shape, bool)
        np.put_along_axis(found, best, np.take_along_axis(sums, best, 1) > 0, 1)
        codes[start : start + 1024] = np.packbits(found, axis=1)
    return codes


def main(path):
    documents = texts(path)
    threads.SMALLEST = len(documents) + 1  # one thread
    mean = sum(map(len, documents)) / len(documents)
    print(f"{len(documents):,} texts of {mean:.0f} characters, one thread")
    blocks = [documents[start : start + BLOCK] for start in range(0, len(documents), BLOCK)]
    for params in CASES:
        hasher = family("flyhash").hasher(TableSize(1, 8), params)
        if params.weighting == "idf":
            hasher.learn(documents)
        best = [float("inf")] * 2
        equal = []
        for _ in range(TIMES):
            start = time.process_time()
            mine = [hasher(block).codes for block in blocks]
            best[0] = min(best[0], time.process_time() - start)
            start = time.process_time()
            theirs = [product_codes(hasher, block, params.bits) for block in blocks]
            best[1] = min(best[1], time.process_time() - start)
            same = [
                np.bitwise_count(a ^ b).sum(axis=1) == 0 for a, b in zip(mine, theirs, strict=True)
            ]
            equal.append(np.concatenate(same).mean())
        rates = [len(documents) / spent for spent in best]
        print(
            f"flyhash {params.bits} bits, {params.unit} {params.shingle_size}, {params.weighting}: "
            f"{rates[0]:,.0f}/s, product {rates[1]:,.0f}/s: {rates[0] / rates[1]:.1f}x "
            f"(at least {TARGET}x; codes alike but for ties: {100 * equal[0]:.0f} %)"
        )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
