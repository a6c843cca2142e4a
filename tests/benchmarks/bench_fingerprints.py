"""Fingerprints against the packages whose values they equal, and large sizes against small ones.

    python tests/benchmarks/bench_fingerprints.py [FILE.jsonl]

Texts are 100,000 products of the built-in catalogue, or `title` and `text` of the file's lines.
Strings in, fingerprints out, one thread, processor time, best of several; the parts of a
ratio take turns, so that a busy machine slows them alike. The packages hash a sample of the
texts, cut into the same shingles. Blocks are small: fresh arrays of many megabytes cost a large
signature as much as hashing does.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ITEMS, SAMPLE, BLOCK, TIMES = 100_000, 1000, 1024, 5


def texts(path):
    if path:
        lines = map(json.loads, Path(path).read_text("utf-8").splitlines())
        return [f"{line.get('title', '')} {line['text']}" for line in lines]
    from harness.collection.catalogue import load

    return list(load(ITEMS, 100, 123).texts)


def best_s(runs, times=TIMES):
    """Least processor time of each run; they take turns."""
    best = [float("inf")] * len(runs)
    for _ in range(times):
        for i, run in enumerate(runs):
            start = time.process_time()
            run()
            best[i] = min(best[i], time.process_time() - start)
    return best


def grams(text):
    from indexers.normaliser import normalise

    text = normalise(text)
    return [text[i : i + 3] for i in range(len(text) - 2)]


def datasketch_bulk(documents):
    from datasketch import MinHash

    sets = [[gram.encode() for gram in grams(text)] for text in documents]
    MinHash.bulk(sets, num_perm=128, seed=123, scheme="affine32")


def simhash_package(documents):
    from simhash import Simhash

    for text in documents:
        Simhash(dict(Counter(grams(text))), f=128)


def ours(name, documents, bits, tables, length, **more):
    """A run that hashes all documents, after one that compiles and learns the vocabulary."""
    from indexers.registry import family
    from indexers.types import HashParams, TableSize

    compat = {"compat": True} if more.pop("compat", False) else {}
    params = HashParams(bits=bits, seed=123, **more)
    hasher = family(name).hasher(TableSize(tables, length), params, **compat)
    if params.weighting == "idf":
        hasher.learn(documents)

    def run():
        for start in range(0, len(documents), BLOCK):
            hasher(documents[start : start + BLOCK])

    run()
    return run


def compilation_s():
    """Seconds that the kernels take to compile from nothing."""
    import numba

    with tempfile.TemporaryDirectory() as cold:
        numba.config.CACHE_DIR = cold
        start = time.perf_counter()
        for name in ("simhash", "minhash"):
            ours(name, ["compile"], 64, 1, 1)
        return time.perf_counter() - start


def against_package(label, run, package, documents, target):
    sample = documents[:: max(len(documents) // SAMPLE, 1)]
    mine, theirs = best_s([run, lambda: package(sample)], 3)
    rate, other = len(documents) / mine, len(sample) / theirs
    print(f"{label:46}{rate:10,.0f}/s{other:10,.0f}/s{rate / other:8.1f}x   (at least {target}x)")


def against_small(label, large, small, documents, target):
    many, few = best_s([large, small])
    rate, other = len(documents) / many, len(documents) / few
    print(f"{label:46}{rate:10,.0f}/s{other:10,.0f}/s{many / few:8.2f}x   (at most {target}x)")


def main(path):
    print(f"compilation from nothing: {compilation_s():.1f} s")
    from indexers.kernels import threads

    documents = texts(path)
    threads.SMALLEST = len(documents) + 1  # one thread
    mean = sum(map(len, documents)) / len(documents)
    print(f"{len(documents):,} texts of {mean:.0f} characters, one thread")
    minhash = ours("minhash", documents, 128, 1, 1)
    compat = ours("simhash", documents, 128, 1, 8, compat=True)
    long = path is not None
    against_package(
        "minhash 128 rows : datasketch bulk",
        minhash,
        datasketch_bulk,
        documents,
        25 if long else 40,
    )
    against_package(
        "simhash 128 bits : simhash", compat, simhash_package, documents, 35 if long else 60
    )
    simhash = ours("simhash", documents, 128, 1, 8)
    tables = ours("simhash", documents, 64, 50, 24)
    against_small("simhash 50 x 24 bits : 128 bits", tables, simhash, documents, 2.2)
    for count in (43, 50):  # the code's 64 rows hold the first table's
        rows = ours("minhash", documents, 64, count, 8)
        label = f"minhash {64 + 8 * (count - 1)} rows, {count} x 8 : 128 rows"
        against_small(label, rows, minhash, documents, 2.0)
    weighted = ours("simhash", documents, 128, 1, 8, weighting="idf")
    against_small("simhash 128 bits, tf-idf : tf", weighted, simhash, documents, 2.0)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
