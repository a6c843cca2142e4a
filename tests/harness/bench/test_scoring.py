"""Rankings of pools and of all documents."""

import numpy as np
import pytest

from harness.bench import scoring
from harness.bench.hashing import bench_params, fingerprint
from harness.bench.scoring import Task, score
from indexers import registry
from indexers.types import Fingerprints, Status


class Given:
    """Scores that were set beforehand, by the first byte of the codes."""

    name = "given"
    forms = ("bits",)

    def __init__(self, table):
        self.table, self.fits = np.asarray(table, np.float64), 0

    def fitted(self, _documents):
        return self

    def matrix(self, queries, documents, _form):
        found = self.table[np.ix_(queries.codes[:, 0], documents.codes[:, 0])]
        found[:, documents.status != Status.OK] = np.nan
        return found


def numbered(n, status=None):
    codes = np.arange(n, dtype=np.uint8)[:, None]
    found = np.zeros(n, np.uint8) if status is None else status
    return Fingerprints(found, codes, np.zeros((0, 0, n), np.uint32), "bit")


def test_pools_are_ranked_by_their_own_candidates(topics):
    n = len(topics.corpus.ids)
    table = np.random.default_rng(5).random((4, n))
    found = score(Task(topics, "pool", 2.0), Given(table), "bits", numbered(n), numbered(4))
    for row, scores in enumerate(found.scores):
        inside = slice(topics.indptr[row], topics.indptr[row + 1])
        np.testing.assert_array_equal(scores, table[row, topics.candidates[inside]])
    assert found.seconds > 0


def test_all_documents_where_every_one_is_judged_are_the_pool(topics):
    n = len(topics.corpus.ids)
    table = np.random.default_rng(6).random((4, n)).round(1)
    by = {
        protocol: score(
            Task(topics, protocol, 2.0), Given(table), "bits", numbered(n), numbered(4)
        ).pooled
        for protocol in ("pool", "corpus")
    }
    for name, values in by["pool"].per_query.items():
        np.testing.assert_allclose(by["corpus"].per_query[name], values, atol=1e-12)


def test_blocks_of_queries_change_nothing(topics, monkeypatch):
    n = len(topics.corpus.ids)
    table = np.random.default_rng(7).random((4, n)).round(1)
    task = Task(topics, "corpus", 2.0)
    whole = score(task, Given(table), "bits", numbered(n), numbered(4))
    monkeypatch.setattr(scoring, "_BLOCK_SCORES", n)
    monkeypatch.setattr(scoring, "KEPT_SCORES", 3)
    parts = score(task, Given(table), "bits", numbered(n), numbered(4))
    for name, values in whole.pooled.per_query.items():
        np.testing.assert_array_equal(parts.pooled.per_query[name], values)
    assert len(whole.scores) == 4
    assert parts.scores == ()


def test_unusable_documents_are_last_and_counted(topics):
    n = len(topics.corpus.ids)
    status = np.zeros(n, np.uint8)
    status[[1, 2, 7]] = Status.EMPTY
    table = -np.ones((4, n))
    found = score(Task(topics, "pool", 2.0), Given(table), "bits", numbered(n, status), numbered(4))
    assert found.pooled.unscored.sum() == 12
    # all that have a score share it
    assert found.pooled.constant.all()


def test_what_estimates_on_documents_is_fitted_first(topics):
    """Mahalanobis by its definition: variances p(1 - p) of all documents' bits."""
    corpus = topics.corpus
    params = bench_params("simhash", unit="char", shingle_size=3)
    hashed = fingerprint("simhash", params, corpus.texts, corpus.query_texts)
    by = registry.similarity("mahalanobis")
    found = score(Task(topics, "pool", 2.0), by, "bits", hashed.documents, hashed.queries)
    documents = np.unpackbits(hashed.documents.codes, axis=1).astype(float)
    queries = np.unpackbits(hashed.queries.codes, axis=1).astype(float)
    share = documents.mean(axis=0)
    varied = (share > 0) & (share < 1)
    variance = (share * (1 - share))[varied]
    for row, scores in enumerate(found.scores):
        inside = slice(topics.indptr[row], topics.indptr[row + 1])
        apart = documents[topics.candidates[inside]][:, varied] - queries[row, varied]
        np.testing.assert_allclose(scores, -(apart**2 / variance).sum(axis=1) / 2)


def test_unjudged_documents_count_as_gain_0(topics):
    n = len(topics.corpus.ids)
    first = slice(0, topics.indptr[1])
    one = type(topics)(
        corpus=topics.corpus,
        queries=topics.queries[:1],
        facets=("a",),
        indptr=np.array([0, 1], np.int64),
        candidates=topics.candidates[first][topics.gains[first] == 3.0][:1],
        gains=np.array([3.0]),
    )
    table = np.zeros((4, n))
    found = score(Task(one, "corpus", 2.0), Given(table), "bits", numbered(n), numbered(4)).pooled
    # one relevant document anywhere among the other 23
    assert found.per_query["R@5"][0] == pytest.approx(5 / 23)
