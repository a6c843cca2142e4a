"""Winnowing against `copydetect`, side by side in one run, one thread each.

    python tests/benchmarks/bench_winnowing.py

Texts are generated (245 and 1,500 characters each): strings in, selected hashes out, the k-grams
made on both sides. Every figure is the best of a few runs.
"""

from __future__ import annotations

import random
import time

CHARACTERS = {245: 8_192, 1_500: 2_048}
SAMPLE = 128
SHINGLE_SIZE, WINDOW = 3, 5


def generated_texts(count, characters):
    source = random.Random(123)
    words = [
        "".join(source.choices("etaoinshrdlucmfwyp", k=source.randint(2, 9))) for _ in range(20_000)
    ]
    return [" ".join(source.choices(words, k=characters // 3))[:characters] for _ in range(count)]


def best_s(run, times=5):
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main():
    from copydetect.utils import hashed_kgrams, winnow

    from indexers.kernels import threads
    from indexers.registry import family
    from indexers.types import HashParams, TableSize

    threads.SMALLEST = max(CHARACTERS.values()) + 1
    params = HashParams(bits=0, seed=123, shingle_size=SHINGLE_SIZE, window=WINDOW)
    hasher = family("winnowing").hasher(TableSize(1, 1), params)
    hasher(["compile"])
    print(f"{'characters':>10}{'ours/s':>12}{'copydetect/s':>14}{'ratio':>8}")
    for characters, count in CHARACTERS.items():
        texts = generated_texts(count, characters)

        def reference(texts=texts[:SAMPLE]):
            for text in texts:
                winnow(hashed_kgrams(text, SHINGLE_SIZE), WINDOW, remove_duplicates=False)

        ours = count / best_s(lambda texts=texts: hasher(texts))
        theirs = SAMPLE / best_s(reference)
        print(f"{characters:10}{ours:12,.0f}{theirs:14,.0f}{ours / theirs:8.0f}")


if __name__ == "__main__":
    main()
