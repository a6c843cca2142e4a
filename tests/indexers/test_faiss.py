"""FAISS' binary indexes: what they are built for, and how their answers are put in order."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from indexers.backends.faiss import Faiss
from indexers.errors import BackendError, MissingPackage, SettingError
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import Fingerprints

BACKEND = Faiss(BackendConfig())


def fingerprints(codes, status=None):
    n = len(codes)
    return Fingerprints(
        np.array(status or [0] * n, np.uint8),
        np.array(codes, np.uint8).reshape(n, -1),
        np.zeros((0, 0, n), np.uint32),
        "bit",
    )


def multihash(num_tables, *hash_lengths, bits=16, family="simhash"):
    return IndexSpec("faiss", "multihash", family, num_tables, hash_lengths, bits)


def ask(spec, docs, queries, folder, **params):
    handle = BACKEND.build(spec, Documents([], [], docs), folder)
    searcher = BACKEND.open(handle, SearchParams(**params), Queries([], queries), [])
    hits = [searcher.search(row) for row in range(len(queries))]
    searcher.close()
    return [(h.ordinals.tolist(), h.scores.tolist()) for h in hits]


def test_flat_gives_ordinals_by_score_and_drops_padding(tmp_path):
    docs = fingerprints([[0, 0], [7, 0], [1, 0], [1, 0], [3, 0]], status=[1, 0, 0, 0, 0])
    answers = ask(
        IndexSpec("faiss", "flat", None, bits=16),
        docs,
        fingerprints([[1, 0], [1, 0]], status=[0, 2]),
        tmp_path,
        k=9,
    )
    assert answers == [([2, 3, 4, 1], [16, 16, 15, 14]), ([], [])]


def test_flat_keeps_every_document_nearer_than_the_kth(tmp_path):
    rng = np.random.default_rng(0)
    docs = fingerprints(rng.choice([0, 1, 255], (300, 8)))
    queries = fingerprints(rng.choice([0, 1, 255], (30, 8)))
    spec = IndexSpec("faiss", "flat", None, bits=64)
    for (ordinals, scores), query in zip(
        ask(spec, docs, queries, tmp_path, k=10), queries.codes, strict=True
    ):
        differing = np.unpackbits(docs.codes ^ query, axis=1).sum(axis=1)
        assert scores == (64.0 - np.sort(differing)[:10]).tolist()
        assert [64.0 - differing[i] for i in ordinals] == scores
        assert [i for _, i in sorted((-s, i) for s, i in zip(scores, ordinals, strict=True))] == (
            ordinals
        )


def test_multihash_looks_where_a_group_of_bits_agrees(tmp_path):
    # least significant bit of each byte first: groups of 4 bits, two of them looked at
    docs = fingerprints([[0x00, 0x00], [0x0F, 0x00], [0xF0, 0xFF], [0xFF, 0x00], [0x00, 0x01]])
    answers = ask(
        multihash(2, 4),
        docs,
        fingerprints([[0x00, 0x00]]),
        tmp_path,
        k=9,
        num_tables=2,
        hash_length=4,
    )
    # 0xF0 agrees in the low half, 0x0F in the high one, 0xFF in none
    assert answers == [([0, 4, 1, 2], [16, 15, 12, 4])]


@pytest.mark.parametrize("spec", [IndexSpec("faiss", "flat", None, bits=16), multihash(2, 4)])
def test_no_documents(tmp_path, spec):
    docs = fingerprints([[0, 0]], status=[1])
    assert ask(spec, docs, docs, tmp_path, k=3, num_tables=2, hash_length=4) == [([], [])]
    queries = fingerprints([[0, 0]])
    (tmp_path / "again").mkdir()
    answers = ask(spec, docs, queries, tmp_path / "again", k=3, num_tables=2, hash_length=4)
    assert answers == [([], [])]


@pytest.mark.parametrize(
    ("spec", "params", "reason"),
    [
        (multihash(4, 4), (4, 4), None),
        (multihash(4, 5), (4, 5), "4 tables × 5 bits exceed the 16 bits"),
        (multihash(2, 4, family="minhash"), (2, 4), "minhash makes them from rows"),
        (multihash(2, 4), (1, 4), "built for 2 tables × 4 bits, asked for 1 × 4"),
        (multihash(2, 3, 4), (2, 4), "serves one setting"),
        (multihash(0, 4), (0, 4), "at least 1"),
        (IndexSpec("faiss", "lsh", "simhash", 2, (4,), 16), (2, 4), "choose from flat, multihash"),
        (IndexSpec("faiss", "tokens", "winnowing"), (None, None), "faiss has no kind 'tokens'"),
        (IndexSpec("faiss", "multihash", "winnowing"), (None, None), "winnowing has no kind"),
        (IndexSpec("faiss", "flat", "karp_rabin"), (None, None), "never searched"),
        (IndexSpec("faiss", "flat", "simhash"), (None, None), "needs bits"),
    ],
)
def test_what_does_not_exist(spec, params, reason):
    found = Faiss.impossible(spec, SearchParams(10, *params))
    assert found is None if reason is None else reason in found


@pytest.mark.parametrize(
    ("family", "rerank", "reason"),
    [
        ("winnowing", "jaccard", "winnowing has neither"),
        ("fuzzyhash", "levenshtein", "fuzzyhash has neither"),
        ("minhash", "signature", "no rerank 'signature'"),
        ("bge", "code", "bge has no rerank 'code'"),
        ("bge", "cosine", None),
    ],
)
def test_what_flat_compares(family, rerank, reason):
    spec = IndexSpec("faiss", "flat", family, bits=64 if family == "minhash" else None)
    found = Faiss.impossible(spec, SearchParams(1, rerank=rerank))
    assert found is None if reason is None else reason in found


def vectors(rows, status=None):
    n = len(rows)
    return Fingerprints(
        np.array(status or [0] * n, np.uint8),
        np.zeros((n, 0), np.uint8),
        np.zeros((0, 0, n), np.uint32),
        "bit",
        vectors=np.array(rows, np.float32).reshape(n, -1),
    )


BGE = IndexSpec("faiss", "flat", "bge")


def test_vectors_by_cosine(tmp_path):
    docs = vectors([[1, 0], [0, 1], [0.6, 0.8], [0, 0], [-1, 0], [0.6, 0.8]], [0, 0, 0, 1, 0, 0])
    queries = vectors([[1, 0], [0, 0]], [0, 1])
    (ordinals, scores), nothing = ask(BGE, docs, queries, tmp_path, k=9, rerank="cosine")
    assert ordinals == [0, 2, 5, 1, 4]
    assert scores == pytest.approx([1, 0.6, 0.6, 0, -1], abs=1e-7)  # 0.6 is rounded to float32
    assert scores[1] == scores[2]
    assert nothing == ([], [])


def test_vectors_that_float32_sums_cannot_tell_apart_are_ranked_in_float64(tmp_path):
    rng = np.random.default_rng(0)
    near = np.ones((12, 384)) + rng.normal(scale=3e-5, size=(12, 384))
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    docs, queries = vectors(near), vectors(np.ones((1, 384)) / np.sqrt(384))
    stored = docs.vectors.astype(float)
    cosines = stored.sum(axis=1) / np.linalg.norm(stored, axis=1) / np.sqrt(384)
    assert len(set((stored.astype(np.float32) @ queries.vectors[0]).tolist())) < 12
    ((ordinals, scores),) = ask(BGE, docs, queries, tmp_path, k=4, rerank="cosine")
    assert ordinals == np.argsort(-cosines)[:4].tolist()
    assert scores == pytest.approx(cosines[ordinals], abs=1e-14)


def test_vectors_of_another_dimension_are_refused(tmp_path):
    with pytest.raises(BackendError, match="D 2 are indexed and the queries have D 3"):
        ask(BGE, vectors([[1, 0]]), vectors([[1, 0, 0]]), tmp_path, k=1, rerank="cosine")


def test_no_vectors(tmp_path):
    docs, queries = vectors([[0, 0]], [1]), vectors([[1, 0]])
    assert ask(BGE, docs, queries, tmp_path, k=3, rerank="cosine") == [([], [])]


def test_impossible_builds_and_searches_are_refused(tmp_path):
    docs = fingerprints([[0, 0]])
    (tmp_path / "a").mkdir()
    with pytest.raises(SettingError, match="exceed the 16 bits"):
        ask(multihash(5, 4), docs, docs, tmp_path / "a", k=1)
    assert not (tmp_path / "a").exists()
    (tmp_path / "b").mkdir()
    with pytest.raises(SettingError, match="no rerank 'signature'"):
        ask(multihash(2, 4), docs, docs, tmp_path / "b", k=1, rerank="signature")


def test_a_missing_package_names_the_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingPackage, match="pip install faiss-cpu"):
        BACKEND.check()


def test_a_damaged_file_is_one_line(tmp_path):
    docs = fingerprints([[0, 0]])
    handle = BACKEND.build(
        IndexSpec("faiss", "flat", None, bits=16), Documents([], [], docs), tmp_path
    )
    (tmp_path / "index.faiss").write_bytes(b"rubbish")
    with pytest.raises(BackendError, match=r"^[^\n]*index\.faiss cannot be opened: [^\n]*$"):
        BACKEND.open(handle, SearchParams(1), Queries([], docs), [])
