"""How much of the dense ranking the codes keep, on CSFCube's judged pools."""

import json

import numpy as np
import pytest

from indexers.registry import family
from indexers.types import HashParams, TableSize

RELEVANT = 2


@pytest.fixture(scope="module")
def csfcube(data_dir):
    """Vectors, and (query row, candidate rows, relevant) of each query."""
    folder = data_dir("csfcube")
    with (folder / "corpus.jsonl").open() as lines:
        row_of = {json.loads(line)["_id"]: row for row, line in enumerate(lines)}
    with (folder / "queries.jsonl").open() as lines:
        asked = [json.loads(line) for line in lines]
    own = {query["_id"]: row_of[query["metadata"]["paper_id"]] for query in asked}
    pools = {name: [] for name in own}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, label = line.split("\t")
        if document in row_of and row_of[document] != own[query]:
            pools[query].append((row_of[document], int(label) >= RELEVANT))
    columns = ((own[name], *map(np.array, zip(*pool, strict=True))) for name, pool in pools.items())
    return np.load(folder / "minilm.npy"), list(columns)


def expected_ap(scores, relevant):
    """AP over R with the mean over all orders of each tie class."""
    found = seen = total = 0
    for score in np.unique(scores)[::-1]:
        tied = relevant[scores == score]
        size, good = len(tied), int(tied.sum())
        for place in range(1, size + 1):
            among = (place - 1) * (good - 1) / (size - 1) if size > 1 else 0
            total += good / size * (found + 1 + among) / (seen + place) if good else 0
        found, seen = found + good, seen + size
    return total / max(1, found)


def mean_ap(pools, score):
    return np.mean([expected_ap(score(query, rows), good) for query, rows, good in pools])


def code_ap(name, csfcube, bits, tables=1, seed=123):
    vectors, pools = csfcube
    params = HashParams(bits, seed, dimension=384)
    codes = np.unpackbits(family(name).hasher(TableSize(tables, 8), params)(vectors).codes, axis=1)
    return mean_ap(pools, lambda query, rows: -(codes[rows] != codes[query]).sum(axis=1))


@pytest.fixture(scope="module")
def dense(csfcube):
    vectors, pools = csfcube
    made = family("bge").hasher(TableSize(1, 1), HashParams(0, 123, dimension=384))(vectors)
    return mean_ap(pools, lambda query, rows: made.vectors[rows] @ made.vectors[query])


def test_dense(csfcube, dense):
    assert len(csfcube[1]) == 50
    assert dense >= 0.38


@pytest.mark.parametrize(("bits", "share"), [(128, 0.78), (384, 0.90)])
def test_bihash_keeps(csfcube, dense, bits, share):
    assert code_ap("bihash", csfcube, bits) >= share * dense


@pytest.mark.parametrize(("bits", "share"), [(128, 0.75), (512, 0.92)])
def test_lshash_keeps_at_its_best_number_of_tables(csfcube, dense, bits, share):
    swept = family("lshash").sweep(384).num_tables
    assert max(code_ap("lshash", csfcube, bits, tables) for tables in swept) >= share * dense


def test_lsh_keeps(csfcube, dense):
    shares = [code_ap("lsh", csfcube, 512, seed=seed) / dense for seed in (1, 2, 3, 123)]
    assert np.mean(shares) >= 0.85
