"""Quality by size."""

import math
from collections import Counter

import numpy as np
import pytest

from harness.bench.choices import Choice
from harness.bench.compare import Sides
from harness.bench.config import bench_config
from harness.bench.grid import grid
from harness.bench.grid_sizes import plans, unknown_targets
from harness.bench.hashing import bench_params, fingerprint
from harness.bench.left_out import LeftOut
from harness.bench.panels import panels
from harness.bench.scoring import Task, score
from harness.bench.weighted import counted
from indexers import registry
from indexers.errors import SettingError
from indexers.types import Fingerprints, TableSize

TABLES = {"num_tables": ("5,10",), "hash_length": ("4,9",)}


def planned(pools, family, vectors=None, *, named=True, **flags):
    """The plans, the lines on what is left out, and what they were made of."""
    config = bench_config({"corpus": "x", "vectors": "x", "grid": True, **flags})
    corpus = pools.corpus
    asked = None if vectors is None else vectors[corpus.query_self]
    sides = Sides(corpus.texts, corpus.query_texts, vectors, asked)
    left_out = LeftOut(lambda _: None)
    found = plans(config, [Choice(family, (("hamming", "bits"),), named)], sides, left_out)
    return found, left_out.lines, sides


def cells(pools, family, vectors=None, **flags):
    found, _, sides = planned(pools, family, vectors, **flags)
    return [cell for plan in found for cell in grid(Task(pools, "pool", 2.0), plan, sides)]


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
    hashed = fingerprint(
        "simhash", bench_params("simhash"), corpus.texts, corpus.query_texts, TableSize(10, 9)
    )

    # by hand: the first 9 bits of the first 5 tables
    def bits(side):
        keys = side.keys[:5, 0]
        return ((keys[:, :, None] >> (31 - np.arange(9, dtype=np.uint32))) & 1).astype(int)

    documents, queries = bits(hashed.documents), bits(hashed.queries)
    distance = np.abs(queries[:, :, None] - documents[:, None]).sum(axis=(0, 3))

    class ByHand:
        name, forms = "by hand", ("bits",)

        def fitted(self, _documents):
            return self

        def matrix(self, asked, offered, _form):
            rows = np.array(
                [np.flatnonzero(hashed.queries.keys[0, 0] == k)[0] for k in asked.keys[0, 0]]
            )
            return -distance[
                np.ix_(rows, [ordinal[key] for key in map(tuple, offered.keys[:, 0].T)])
            ]

    ordinal = {tuple(key): n for n, key in enumerate(hashed.documents.keys[:, 0].T)}
    task = Task(topics, "pool", 2.0)
    wanted = score(task, ByHand(), "bits", hashed.documents, hashed.queries).pooled
    assert found[1].map_ == pytest.approx(wanted.per_query["MAP"].mean())


def test_rows_of_minhash_agree(topics):
    found = cells(topics, "minhash", num_tables=("8,64",), hash_length=("minhash=1,16",))
    assert {c.similarity for c in found} == {"agreement"}
    # 1,024 rows estimate the exact Jaccard closely
    assert found[-1].bits == 1024
    assert found[-1].share == pytest.approx(1.0, abs=0.1)
    assert found[0].reference == "exact jaccard of word 1-grams"


@pytest.mark.parametrize(("weighting", "named"), [("idf", "tf-idf"), ("tf", "tf")])
def test_weighted_families_are_a_share_of_weighted_cosine(topics, weighting, named):
    """By hand: words counted, and weighed in eighths of ln((2n + 2) / (2 df + 1))."""
    chosen = {"unit": "word", "shingle_size": "1", "weighting": weighting, **TABLES}
    found = cells(topics, "simhash", **chosen)
    assert found[0].reference == f"exact cosine of {named} of word 1-grams"
    texts = topics.corpus.texts
    counts = [Counter(text.split()) for text in texts]
    held = Counter(word for count in counts for word in count)

    def weight(word):
        if weighting == "tf":
            return 1
        return max(1, round(8 * math.log((2 * len(texts) + 2) / (2 * held[word] + 1))))

    def product(a, b):
        return sum(a[word] * b[word] * weight(word) ** 2 for word in a)

    table = np.array(
        [
            [
                product(asked, other) / math.sqrt(product(asked, asked) * product(other, other))
                for other in counts
            ]
            for asked in (counts[own] for own in topics.corpus.query_self)
        ]
    )
    whole = map_of(topics, np.round(table, 12))
    for cell in found:
        assert cell.share == pytest.approx(cell.map_ / whole)


def test_weighted_cosine_knows_texts_of_nothing_and_words_of_queries_alone():
    params = bench_params("flyhash", unit="word", shingle_size=1, weighting="tf")
    similarity, documents, queries = counted(["a a b", "", "c"], ["a z", " ", "b"], params)
    got = similarity.matrix(queries, documents, "sequence")
    nan = math.nan
    wanted = [[2 / math.sqrt(10), nan, 0], [nan, nan, nan], [1 / math.sqrt(5), nan, 0]]
    np.testing.assert_allclose(got, wanted)


class Tabled:
    """Similarities that were worked out beforehand, found by the number in each vector or code."""

    name, forms = "tabled", ("bits",)

    def __init__(self, table):
        self.table = table

    def fitted(self, _documents):
        return self

    def matrix(self, asked, offered, _form):
        return self.table[np.ix_(asked.codes[:, 0], offered.codes[:, 0])]


def map_of(pools, table):
    """MAP of similarities of all queries to all documents."""

    def numbered(n):
        codes = np.arange(n, dtype=np.uint8)[:, None]
        return Fingerprints(np.zeros(n, np.uint8), codes, np.zeros((0, 0, n), np.uint32), "bit")

    sides = numbered(table.shape[1]), numbered(table.shape[0])
    found = score(Task(pools, "pool", 2.0), Tabled(table), "bits", *sides).pooled
    return found.per_query["MAP"].mean()


def test_codes_of_every_width(topics, vectors):
    """By hand: 48 values make a code of 48 signs, compared by the bits that differ."""
    (cell,) = cells(topics, "bihash", vectors)
    assert (cell.num_tables, cell.bits) == (None, 48)
    assert cell.reference == "exact cosine of vectors"
    signs = vectors >= 0
    asked = topics.corpus.query_self
    differing = (signs[asked][:, None] != signs[None]).sum(axis=2)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    whole = map_of(topics, units[asked] @ units.T)
    assert cell.map_ == pytest.approx(map_of(topics, -differing))
    assert cell.share == pytest.approx(cell.map_ / whole)


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


@pytest.mark.parametrize(
    ("family", "flags", "line"),
    [
        ("simhash", {"hash_length": ("8,40",)}, "hash_length 40 is out of range"),
        ("minhash", {"num_tables": ("5,9000",)}, "num_tables 9000 is out of range"),
        ("lshash", {"num_tables": ("4,5",)}, "num_tables 5 does not divide D 48"),
        ("lshash", {"hash_length": ("8",)}, "--hash-length does not change"),
        ("bihash", {"num_tables": ("8",)}, "--num-tables does not change"),
        ("bihash", {"hash_length": ("8",)}, "--hash-length does not change"),
    ],
)
def test_sizes_that_a_family_cannot_serve(topics, vectors, family, flags, line):
    """Refused where the family was named, else dropped with a line."""
    of_vectors = vectors if registry.family(family).source == "vector" else None
    with pytest.raises(SettingError, match=line):
        planned(topics, family, of_vectors, **flags)
    ((plan,), (told,), _) = planned(topics, family, of_vectors, named=False, **flags)
    assert line in told
    if "num_tables" in flags:
        assert plan.num_tables == {"minhash": (5,), "lshash": (4,), "bihash": ()}[family]
    if family == "simhash":
        assert plan.hash_lengths == (8,)
    # asked for by the family's own name
    keyed = {name: (f"{family}={sizes}",) for name, (sizes,) in flags.items()}
    with pytest.raises(SettingError, match=line):
        planned(topics, family, of_vectors, named=False, **keyed)


def test_sizes_of_families_that_are_not_there():
    config = bench_config({"corpus": "x", "grid": True, "num_tables": ("winnowing=5", "minhash=5")})
    not_compared, no_tables = unknown_targets(config, ["winnowing", "simhash"])
    assert "--num-tables minhash: the family is not compared" in no_tables
    assert "--num-tables winnowing: the family has no tables" in not_compared
