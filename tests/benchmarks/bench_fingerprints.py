"""Fingerprinting against the reference packages, side by side in one run.

    python tests/benchmarks/bench_fingerprints.py

Texts are generated (245 characters each); every row is the best of a few runs, strings in,
fingerprints out. The reference packages run on one thread
and give 128 values, whatever the row asks of ours.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter

DOCUMENTS = 16_384
SAMPLE = 500


def generated_texts():
    source = random.Random(123)
    words = [
        "".join(source.choices("etaoinshrdlucmfwyp", k=source.randint(2, 9))) for _ in range(20_000)
    ]
    return [" ".join(source.choices(words, k=60))[:245] for _ in range(DOCUMENTS)]


def best_s(run, times=3):
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def grams(text):
    return [text[i : i + 3] for i in range(len(text) - 2)]


def reference_rates(texts):
    """Texts a second of the packages whose values ours equal."""
    from datasketch import MinHash
    from simhash import Simhash

    def minhash():
        sets = [[gram.encode() for gram in grams(text)] for text in texts]
        MinHash.bulk(sets, num_perm=128, seed=123, scheme="affine32")

    def simhash():
        for text in texts:
            Simhash(dict(Counter(grams(text))), f=128)

    return {"minhash": len(texts) / best_s(minhash, 1), "simhash": len(texts) / best_s(simhash, 1)}


def main():
    import numba

    with tempfile.TemporaryDirectory() as cold:
        numba.config.CACHE_DIR = cold
        from indexers.kernels import threads
        from indexers.registry import family
        from indexers.types import TableSize

        start = time.perf_counter()
        for name in ("simhash", "minhash"):
            family(name).hasher(TableSize(1, 1), bits=64, seed=1)(["compile"])
        print(f"compilation from nothing: {time.perf_counter() - start:.1f} s")

    texts = generated_texts()
    reference = reference_rates(texts[:SAMPLE])
    many = threads.SMALLEST
    heads = ("bits", "tables", "length", "1 thread", "threads", "reference", "ratio")
    print(f"{'family':8}" + "".join(f"{head:>10}" for head in heads))
    for name, bits, size in (
        ("simhash", 128, TableSize(1, 8)),
        ("simhash", 128, TableSize(50, 20)),
        ("minhash", 128, TableSize(1, 1)),
        ("minhash", 1024, TableSize(50, 8)),
    ):
        hasher = family(name).hasher(size, bits=bits, seed=123)
        hasher(texts)
        rates = []
        for threads.SMALLEST in (DOCUMENTS + 1, many):
            rates.append(DOCUMENTS / best_s(lambda hasher=hasher: hasher(texts)))
        sizes = f"{bits:10}{size.num_tables:10}{size.hash_length:10}"
        speeds = "".join(f"{rate:10,.0f}" for rate in (*rates, reference[name]))
        print(f"{name:8}{sizes}{speeds}{rates[0] / reference[name]:10.0f}")


if __name__ == "__main__":
    main()
