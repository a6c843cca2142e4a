"""Attributes of documents: read beside the text, only where a filter asks for them."""

import json

import pytest

from harness.collection import source
from indexers.errors import CorpusError

DOCUMENTS = [
    {"_id": "b", "text": "two", "price": 5, "meta": {"brand": "x", "new": True}},
    {"_id": "a", "text": "one", "price": 2.5, "meta": {"brand": "y", "new": False}},
    {"_id": "c", "text": "three", "price": None, "meta": {"new": True}},
]


@pytest.fixture
def corpus_of(tmp_path):
    """Reads these documents as a file of their own."""

    def read(attributes, documents=DOCUMENTS):
        path = tmp_path / "docs.jsonl"
        path.write_text("\n".join(map(json.dumps, documents)))
        return source.open_corpus(str(path), attributes=attributes)

    return read


def test_values_by_ordinal(corpus_of):
    corpus = corpus_of(["price", "meta.brand", "meta.new"])
    assert corpus.ids == ["a", "b", "c"]
    assert corpus.attributes == {
        "price": [2.5, 5.0, None],
        "meta.brand": ["y", "x", None],
        "meta.new": ["false", "true", "true"],
    }


def test_nothing_is_read_unasked_and_the_content_is_the_same(corpus_of):
    plain, filtered = corpus_of([]), corpus_of(["price"])
    assert plain.attributes == {}
    assert plain.content == filtered.content
    changed = [{**DOCUMENTS[0], "price": 6}, *DOCUMENTS[1:]]
    assert corpus_of(["price"], changed).content != filtered.content


def test_a_folder_too(tmp_path):
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "one"}))
    corpus = source.open_corpus(str(tmp_path), attributes=["price"])
    assert corpus.attributes == {"price": [2.5, 5.0, None]}


@pytest.mark.parametrize(
    ("attributes", "documents", "told"),
    [
        (
            ["colour", "price"],
            DOCUMENTS,
            "no document has the field colour; choose with --filter from: meta.new, "
            "meta.brand, price",
        ),
        (
            ["price"],
            [*DOCUMENTS, {"_id": "d", "text": "four", "price": "cheap"}],
            "line 4: field 'price' is a text, 'cheap', and numbers in lines above",
        ),
        (
            ["brand"],
            [{"_id": "a", "text": "x", "brand": "y"}, {"_id": "b", "text": "x", "brand": 1}],
            "line 2: field 'brand' is a number, 1, and texts in lines above",
        ),
        (
            ["tags"],
            [{"_id": "a", "text": "x", "tags": ["y", "z"]}],
            "line 1: field 'tags' is a list",
        ),
        (["meta"], DOCUMENTS, "line 1: field 'meta' is an object"),
    ],
)
def test_what_cannot_be_filtered_by(corpus_of, attributes, documents, told):
    with pytest.raises(CorpusError) as caught:
        corpus_of(attributes, documents)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_catalogue_has_attributes_that_leave_its_texts_as_they_are():
    plain = source.open_corpus("catalogue:400")
    corpus = source.open_corpus("catalogue:400", attributes=["price", "brand", "department"])
    assert (corpus.texts, corpus.query_texts) == (plain.texts, plain.query_texts)
    assert corpus.content == plain.content
    assert all(4.99 <= price <= 1000 for price in corpus.attributes["price"])
    assert len(set(corpus.attributes["price"])) > 100
    brands = zip(corpus.attributes["brand"], corpus.texts, strict=True)
    assert sum(brand in text for brand, text in brands) == 400
    again = source.open_corpus("catalogue:400", attributes=["price"])
    assert again.attributes["price"] == corpus.attributes["price"]


def test_the_catalogue_has_no_others():
    with pytest.raises(CorpusError, match="no field size; choose with --filter from: brand, cat"):
        source.open_corpus("catalogue:400", attributes=["size"])
