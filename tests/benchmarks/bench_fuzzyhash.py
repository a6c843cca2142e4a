"""FuzzyHash on all cores against the library on one, side by side in one run.

    python tests/benchmarks/bench_fuzzyhash.py

Texts are generated (245 and 1,500 characters each): strings in; ours gives statuses, digests and
the hashes of their n-grams, the library digests. The runs alternate, every figure is the best of
them; nothing else must use the cores. `taskset` holds it to fewer of them.
"""

from __future__ import annotations

import os
import random
import time

CHARACTERS = {245: 30_000, 1_500: 6_000}
RUNS = 4


def generated_texts(count, characters):
    source = random.Random(123)
    words = [
        "".join(source.choices("etaoinshrdlucmfwyp", k=source.randint(2, 9))) for _ in range(20_000)
    ]
    return [" ".join(source.choices(words, k=characters // 3))[:characters] for _ in range(count)]


def seconds_of(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main():
    import ppdeep

    from indexers.registry import family
    from indexers.types import HashParams, TableSize

    hasher = family("fuzzyhash").hasher(TableSize(1, 1), HashParams(bits=0, seed=123))
    hasher(["compile the kernel and load the library"])
    cores = len(os.sched_getaffinity(0))
    print(f"{'characters':>10}{'processes':>10}{'ours/s':>10}{'library/s':>11}{'ratio':>8}")
    for characters, count in CHARACTERS.items():
        texts = generated_texts(count, characters)
        ours, theirs = [], []
        for _ in range(RUNS):
            ours.append(seconds_of(lambda texts=texts: hasher(texts)))
            theirs.append(seconds_of(lambda texts=texts: [ppdeep.hash(text) for text in texts]))
        rates = f"{count / min(ours):10,.0f}{count / min(theirs):11,.0f}"
        print(f"{characters:10}{cores:10}{rates}{min(theirs) / min(ours):8.2f}")


if __name__ == "__main__":
    main()
