import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from harness.collection import cache, embeddings
from harness.collection.types import Corpus
from harness.collection.vectors import VectorSource, dimension_of, identity_of, vectors_of
from indexers.encoder import EncoderParams
from indexers.errors import BackendError

TEXTS = ["alpha", "a much longer text than the others are", "", "beta", "gamma"]


def corpus_of(texts=TEXTS, queries=("alpha", "other", "beta?"), own=(0, -1, 3)):
    ids = [f"d{number}" for number in range(len(texts))]
    names = [f"q{number}" for number in range(len(queries))]
    return Corpus("c", "0" * 32, ids, texts, names, queries, np.array(own, np.int32), None)


class Fake:
    """An encoder whose vector tells what it was given."""

    def __init__(self, _):
        Fake.loaded += 1

    def encode(self, texts, *, queries=False):
        Fake.seen += [("query" if queries else "document", text) for text in texts]
        if "break" in texts:
            raise BackendError("broken")
        return np.array([[len(text), ord((text or "\0")[0]), queries] for text in texts], "f4")


@pytest.fixture(autouse=True)
def fake(monkeypatch, tmp_path):
    Fake.loaded, Fake.seen = 0, []
    monkeypatch.setattr(embeddings, "FlagEncoder", Fake)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def params(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"hidden_size": 3}))
    (folder / "weights.bin").write_bytes(b"1")
    return EncoderParams(str(folder), batch_size=1)


def test_vectors_are_in_the_order_of_the_texts(params):
    documents, queries = embeddings.of_corpus(corpus_of(), params)
    assert documents[:, 0].tolist() == [len(text) for text in TEXTS]
    assert queries[:, 0].tolist() == [5, 5, 5]
    assert queries[:, 1].tolist() == [ord("a"), ord("o"), ord("b")]


def test_the_second_run_loads_no_model(params):
    first = embeddings.of_corpus(corpus_of(), params)
    assert Fake.loaded == 1
    second = embeddings.of_corpus(corpus_of(), replace(params, batch_size=9, device="cpu"))
    assert Fake.loaded == 1
    for kept, made in zip(second, first, strict=True):
        np.testing.assert_array_equal(kept, made)


def test_a_query_that_is_its_document_word_for_word_shares_its_vector(params):
    embeddings.of_corpus(corpus_of(), params)
    assert [text for role, text in Fake.seen if role == "query"] == ["other", "beta?"]


def test_with_an_instruction_every_query_is_encoded(params):
    asked = replace(params, query_instruction="find: ")
    _, queries = embeddings.of_corpus(corpus_of(), asked)
    assert queries[:, 2].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "change", [{"pooling": "mean"}, {"max_length": 9}, {"query_instruction": "find: "}]
)
def test_other_parameters_are_other_vectors(params, change):
    embeddings.of_corpus(corpus_of(), params)
    before, other = embeddings.identity(params), replace(params, **change)
    assert embeddings.identity(other) != before
    embeddings.of_corpus(corpus_of(), other)
    assert Fake.loaded == 2


def test_other_files_are_another_model(params, tmp_path):
    embeddings.of_corpus(corpus_of(), params)
    before = embeddings.identity(params)
    (tmp_path / "model" / "weights.bin").write_bytes(b"2")
    assert embeddings.identity(params) != before
    embeddings.of_corpus(corpus_of(), params)
    assert Fake.loaded == 2


def test_other_texts_are_encoded_anew(params):
    embeddings.of_corpus(corpus_of(), params)
    documents, _ = embeddings.of_corpus(corpus_of(["zeta", *TEXTS[1:]]), params)
    assert documents[0].tolist() == [4, ord("z"), 0]


def test_what_was_encoded_before_a_break_is_kept(params, monkeypatch):
    monkeypatch.setattr(embeddings, "KEPT_TEXTS", 2)
    texts = ["one", "two", "three", "four", "break"]
    with pytest.raises(BackendError):
        embeddings.of_corpus(corpus_of(texts), params)
    Fake.seen.clear()
    embeddings.of_corpus(corpus_of([*texts[:4], "mended"]), params)
    assert [text for role, text in Fake.seen if role == "document"] == ["mended"]


def test_what_is_damaged_in_the_cache_is_made_again(params, tmp_path):
    first = embeddings.of_corpus(corpus_of(), params)
    for path in (tmp_path / "cache").rglob("*.npy"):
        name = path.relative_to(cache.folder()).as_posix()
        cache.write(name, b"no array")
    second = embeddings.of_corpus(corpus_of(), params)
    assert Fake.loaded == 2
    np.testing.assert_array_equal(first[0], second[0])


def test_progress_counts_every_text_once(params):
    for _ in range(2):
        told = []
        embeddings.of_corpus(corpus_of(), params, told.append)
        assert sum(told) == len(TEXTS) + 3


def test_a_source_without_files_is_the_model(params):
    source = VectorSource(model=params.model)
    assert dimension_of(source) == 3
    assert identity_of(source) == embeddings.identity(EncoderParams(params.model))
    documents, queries = vectors_of(corpus_of(), source)
    assert (documents.shape, queries.shape) == ((5, 3), (3, 3))


def test_no_queries_and_blank_texts(params):
    documents, queries = embeddings.of_corpus(corpus_of(["", " "], (), ()), params)
    assert (documents.shape, queries.shape) == ((2, 3), (0, 3))


def test_what_is_known_without_the_model_loads_no_torch(params):
    script = (
        "import sys; from harness.collection.vectors import *; "
        f"s = VectorSource(model={params.model!r}); dimension_of(s); identity_of(s); "
        "print({'torch', 'transformers', 'FlagEmbedding', 'huggingface_hub'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
