"""FuzzyHash on one and on two threads against the library `ppdeep` on one, in one run.

    python tests/benchmarks/bench_fuzzyhash.py

Texts are generated (245 and 1,500 characters each): strings in; ours gives statuses, digests and
the hashes of their n-grams, the library digests. The runs alternate, every figure is the best of
them; nothing else must use the cores.
"""

from __future__ import annotations

import os
import random
import time

CHARACTERS = {245: 30_000, 1_500: 6_000}
SAMPLE = 1_000
RUNS = 7


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

    from indexers.kernels import threads
    from indexers.registry import family
    from indexers.types import HashParams, TableSize

    hasher = family("fuzzyhash").hasher(TableSize(1, 1), HashParams(bits=0, seed=123))
    hasher(["compile the kernels"])
    cores = sorted(os.sched_getaffinity(0))
    print(f"{'characters':>10}{'threads':>9}{'ours/s':>12}{'library/s':>11}{'ratio':>8}")
    for characters, count in CHARACTERS.items():
        texts = generated_texts(count, characters)
        ours, theirs = {number: [] for number in (1, 2) if number <= len(cores)}, []
        for _ in range(RUNS):
            for number, seconds in ours.items():
                # held to as many cores, so are its threads: the kernels ask how many they may use
                os.sched_setaffinity(0, cores[:number])
                assert threads.SMALLEST * number <= count
                seconds.append(seconds_of(lambda texts=texts: hasher(texts)))
            theirs.append(seconds_of(lambda texts=texts: list(map(ppdeep.hash, texts[:SAMPLE]))))
        library = SAMPLE / min(theirs)
        for number, seconds in ours.items():
            rate = count / min(seconds)
            print(f"{characters:10}{number:9}{rate:12,.0f}{library:11,.0f}{rate / library:8.1f}")


if __name__ == "__main__":
    main()
