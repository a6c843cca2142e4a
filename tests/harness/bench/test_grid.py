"""Quality by size."""

import numpy as np
import pytest

from harness.bench.compare import Sides
from harness.bench.config import bench_config
from harness.bench.grid import grid
from harness.bench.hashing import bench_params, fingerprint
from harness.bench.panels import panels
from harness.bench.scoring import Task, score
from indexers import registry
from indexers.errors import SettingError
from indexers.types import TableSize

TABLES = {"num_tables": ("5,10",), "hash_length": ("4,9",)}


def cells(pools, family, vectors=None, **flags):
    config = bench_config({"corpus": "x", "vectors": "x", "grid": True, **flags})
    corpus = pools.corpus
    asked = None if vectors is None else vectors[corpus.query_self]
    sides = Sides(corpus.texts, corpus.query_texts, vectors, asked)
    return list(grid(Task(pools, "pool", 2.0), config, family, sides))


@pytest.fixture
def vectors(topics):
    random = np.random.default_rng(2)
    centres = random.normal(size=(4, 48))
    noise = random.normal(size=(len(topics.corpus.ids), 48))
    return (np.repeat(centres, 6, axis=0) + 0.8 * noise).astype(np.float32)


def test_a_cell_is_the_distance_of_its_atoms(topics):
    found = cells(topics, "simhash", **TABLES)
    assert [(c.num_tables, c.hash_length, c.bits) for c in found] == [
        (5, 4, 20),
        (5, 9, 45),
        (10, 4, 40),
        (10, 9, 90),
    ]
    corpus = topics.corpus
    printed = fingerprint(
        "simhash", bench_params("simhash"), corpus.texts, corpus.query_texts, TableSize(10, 9)
    )

    # by hand: the first 9 bits of the first 5 tables
    def bits(side):
        keys = side.keys[:5, 0]
        return ((keys[:, :, None] >> (31 - np.arange(9, dtype=np.uint32))) & 1).astype(int)

    documents, queries = bits(printed.documents), bits(printed.queries)
    distance = np.abs(queries[:, :, None] - documents[:, None]).sum(axis=(0, 3))

    class ByHand:
        name, forms = "by hand", ("bits",)

        def matrix(self, asked, offered, _form):
            rows = np.array(
                [np.flatnonzero(printed.queries.keys[0, 0] == k)[0] for k in asked.keys[0, 0]]
            )
            return -distance[
                np.ix_(rows, [ordinal[key] for key in map(tuple, offered.keys[:, 0].T)])
            ]

    ordinal = {tuple(key): n for n, key in enumerate(printed.documents.keys[:, 0].T)}
    task = Task(topics, "pool", 2.0)
    wanted = score(task, ByHand(), "bits", printed.documents, printed.queries).pooled
    assert found[1].map_ == pytest.approx(wanted.per_query["MAP"].mean())


def test_rows_of_minhash_agree(topics):
    found = cells(topics, "minhash", num_tables=("8,64",), hash_length=("minhash=1,16",))
    assert {c.similarity for c in found} == {"agreement"}
    # 1,024 rows estimate the exact Jaccard closely
    assert found[-1].bits == 1024
    assert found[-1].share == pytest.approx(1.0, abs=0.1)
    assert found[0].reference == "exact jaccard of word 1-grams"


def test_codes_of_every_width(topics, vectors):
    found = cells(topics, "bihash", vectors)
    assert [(c.num_tables, c.bits) for c in found] == [(None, 48)]
    assert found[0].reference == "exact cosine of vectors"
    assert 0 < found[0].share <= 1.2


def test_codes_cut_by_tables(topics, vectors):
    found = cells(topics, "lshash", vectors, num_tables=("4,8",))
    assert {c.num_tables for c in found} == {4, 8}
    assert {c.bits for c in found} == {64, 128, 256, 384, 512}
    (panel,) = panels([c.values() for c in found])
    assert (panel.column_name, panel.rows, panel.columns[0]) == ("bits", (4, 8), 64)


def test_panels_of_keys_and_of_codes(topics, vectors):
    both = [*cells(topics, "simhash", **TABLES), *cells(topics, "bihash", vectors)]
    keyed, coded = panels([cell.values() for cell in both])
    assert (keyed.family, keyed.column_name, keyed.rows, keyed.columns) == (
        "simhash",
        "hash_length",
        (5, 10),
        (4, 9),
    )
    assert (coded.family, coded.rows, coded.columns) == ("bihash", (None,), (48,))


def test_families_without_sizes_have_no_cells(topics):
    assert cells(topics, "winnowing") == []


def test_sizes_out_of_range_are_refused(topics):
    assert registry.family("simhash").max_hash_length == 32
    with pytest.raises(SettingError, match="hash_length 40 is out of range"):
        cells(topics, "simhash", hash_length=("40",))
