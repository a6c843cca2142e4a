"""The time that making vectors took, and where it is not told."""

import numpy as np
import pytest

from harness.bench import vectors as making
from harness.bench.config import bench_config
from harness.bench.vectors import with_vectors
from harness.collection import embeddings
from harness.progress import Progress


@pytest.mark.parametrize(
    ("flags", "kept", "timed"),
    [("model", False, True), ("model", True, False), ("vectors", False, False)],
)
def test_only_vectors_made_now_have_a_time(topics, monkeypatch, flags, kept, timed):
    corpus = topics.corpus
    made = np.ones((len(corpus.ids), 4), np.float32), np.ones((4, 4), np.float32)
    monkeypatch.setattr(making, "vectors_of", lambda *_: made)
    monkeypatch.setattr(embeddings, "kept", lambda *_: kept)
    sides = with_vectors(bench_config({"corpus": "x", flags: "x"}), corpus, Progress())
    assert (sides.encode_s is not None) == timed


def test_what_an_earlier_run_kept(topics, tmp_path, monkeypatch):
    class Encoder:
        def __init__(self, _):
            pass

        def encode(self, texts, *, queries):  # noqa: ARG002
            return np.ones((len(texts), 4), np.float32)

    class Files:
        dimension = 4

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(embeddings, "identity", lambda _: "f" * 32)
    monkeypatch.setattr(embeddings, "look", lambda _: Files)
    monkeypatch.setattr(embeddings, "FlagEncoder", Encoder)
    params = bench_config({"corpus": "x", "model": "x"}).vector_source.encoder
    assert not embeddings.kept(topics.corpus, params)
    embeddings.of_corpus(topics.corpus, params)
    assert embeddings.kept(topics.corpus, params)
