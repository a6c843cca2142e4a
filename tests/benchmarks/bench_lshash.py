"""LSHash against one matrix product of the same size, side by side in one run.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_lshash.py

The product is float32, vectors (100,000 x 384) by (384 x bits), into an array that is there
already; LSHash takes the same vectors and gives codes and keys. Where its keys need more
hyperplanes than the code has bits, the product has a column for each of these. Best of several,
each side in turn, on as many threads as the first line tells.
"""

from __future__ import annotations

import time

import numpy as np

ROWS, DIMENSION = 100_000, 384
TIMES = 5


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main():
    from threadpoolctl import threadpool_info

    from indexers.registry import family
    from indexers.types import HashParams, TableSize

    threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
    print(f"{ROWS:,} x {DIMENSION} float32, BLAS on {threads} thread(s)")
    heads = ("bits", "tables", "length", "columns", "product s", "lshash s", "ratio")
    print("".join(f"{head:>10}" for head in heads))
    source = np.random.default_rng(123)
    vectors = source.standard_normal((ROWS, DIMENSION), np.float32)
    for bits, size in (
        (128, TableSize(6, 8)),
        (128, TableSize(8, 16)),
        (128, TableSize(16, 8)),
        (128, TableSize(32, 4)),
        (128, TableSize(16, 20)),
        (128, TableSize(48, 20)),
        (512, TableSize(16, 20)),
    ):
        width = max(bits, size.num_tables * size.hash_length)
        planes = source.standard_normal((DIMENSION, width), np.float32)
        out = np.empty((ROWS, width), np.float32)
        params = HashParams(bits=bits, seed=123, dimension=DIMENSION)
        hasher = family("lshash").hasher(size, params)
        product, hashed = [], []
        for _ in range(TIMES):
            product.append(seconds(lambda p=planes, o=out: np.matmul(vectors, p, out=o)))
            hashed.append(seconds(lambda h=hasher: h(vectors)))
        ratio = min(hashed) / min(product)
        print(
            f"{bits:10}{size.num_tables:10}{size.hash_length:10}{width:10}"
            f"{min(product):10.3f}{min(hashed):10.3f}{ratio:10.2f}"
        )


if __name__ == "__main__":
    main()
