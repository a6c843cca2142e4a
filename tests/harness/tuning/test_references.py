"""Searches without an index tell how far they are, in the unit of their stage."""

from contextlib import contextmanager

import numpy as np
import pytest

from harness.collection import source
from harness.config_sources import study_config
from harness.tuning.encode import Inputs, encode
from harness.tuning.hashing import Hashing
from harness.tuning.references import exact_nearest
from harness.tuning.vectors import find_neighbours
from indexers.store import load_fingerprints, load_queries
from indexers.types import TableSize, no_progress

SIZE = TableSize(1, 1)


@pytest.fixture(scope="module")
def corpus():
    return source.open_corpus("catalogue:300")


def encoded(hashing, corpus, folder):
    inputs = Inputs(corpus.texts, corpus.query_texts)
    return encode(
        hashing, inputs, corpus, folder, SIZE, seed=1, dimension=None, progress=no_progress
    )


@pytest.mark.parametrize(
    "hashing", [Hashing("simhash", 64, shingle_size=3), Hashing("winnowing", shingle_size=3)]
)
def test_exact_search_tells_of_documents_done(hashing, corpus, tmp_path):
    told = []
    exact_nearest(encoded(hashing, corpus, tmp_path), corpus, 5, told.append)
    assert sum(told) == len(corpus.ids) != len(corpus.query_ids)


class Stages:
    """Stages with what they were to reach and what was told."""

    def __init__(self):
        self.seen = []

    @contextmanager
    def stage(self, _name, total):
        told = []
        yield told.append
        self.seen.append((total, sum(told)))


def test_neighbours_by_cosine_reach_their_total(corpus):
    stages = Stages()
    rng = np.random.default_rng(0)
    counts = (len(corpus.ids), len(corpus.query_ids))
    vectors = Inputs(*(rng.standard_normal((n, 8)).astype(np.float32) for n in counts))
    config = study_config({"sla_ms": "1", "reference": "cosine"})
    find_neighbours(config, corpus, vectors, stages)
    assert stages.seen == [(300, 300)]


def test_queries_carry_what_made_the_documents(corpus, tmp_path):
    made = encoded(Hashing("simhash", 64, weighting="idf"), corpus, tmp_path)
    assert {"family", "seed", "learnt"} <= set(made.made_by)
    load_queries(made.queries_folder, **made.made_by)
    load_fingerprints(tmp_path / "documents", **made.made_by)
