"""A corpus out of an index: fields, texts, ids, and what is kept of them."""

import json

import pytest

from harness.collection import index_corpus, index_snapshot
from harness.collection.index_corpus import IndexCorpus
from harness.collection.index_documents import Wanted
from harness.collection.index_fields import check_fields, id_of, text_of
from indexers.errors import CorpusError, JudgmentsError
from indexers.types import no_progress

MAPPING = {
    "properties": {
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "price": {"type": "double"},
        "brand": {"properties": {"name": {"type": "keyword"}}},
        "offers": {"type": "nested", "properties": {"note": {"type": "text"}}},
        "heading": {"type": "alias", "path": "title"},
        "rest": {"type": "object", "dynamic": "false"},
        "closed": {"type": "object", "enabled": False},
    }
}
WANTED = Wanted("opensearch", "127.0.0.1:9200", "goods", ("title", "brand.name"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def hit(name, **source):
    return {"_id": name, "_source": source}


def keep(*pages, wanted=WANTED):
    made = index_snapshot.keep(
        wanted, pages, name="goods-1", uuid="u1", read="2026-01-01T00:00:00Z", progress=no_progress
    )
    index_snapshot.settle(made)
    return made


@pytest.mark.parametrize("field", ["title", "brand.name", "offers.note", "rest.a", "closed.a.b"])
def test_fields_of_texts_are_taken(field):
    check_fields("goods", MAPPING, [field])


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("titel", "is not in its mapping"),
        ("title.raw", "name title"),
        ("price", "of type double, not text"),
        ("brand", "of type object"),
        ("offers", "of type nested"),
        ("heading", "an alias: name title"),
        ("brand.nam", "is not in its mapping"),
    ],
)
def test_other_fields_are_told_with_what_there_is(field, told):
    with pytest.raises(CorpusError, match=told) as caught:
        check_fields("goods", MAPPING, ["title", field])
    assert "choose with --text-field from: brand.name, offers.note, title" in str(caught.value)


def test_an_index_without_documents_in_it_cannot_be_read():
    with pytest.raises(CorpusError, match="keeps no _source"):
        check_fields("goods", {"_source": {"enabled": False}, **MAPPING}, ["title"])


@pytest.mark.parametrize(
    ("source", "fields", "text"),
    [
        ({"title": "a", "text": "b"}, ["title", "text"], "a b"),
        ({"title": "a", "text": None}, ["title", "text"], "a"),
        ({"title": "", "text": "b"}, ["title", "text"], "b"),
        ({}, ["title"], ""),
        ({"brand": {"name": "x"}}, ["brand.name"], "x"),
        ({"brand.name": "x"}, ["brand.name"], "x"),
        ({"brand": {"name.de": "x"}}, ["brand.name.de"], "x"),
        ({"tags": ["a", "b"]}, ["tags"], "a b"),
        ({"offers": [{"note": "a"}, {"price": 1}, {"note": ["b", "c"]}]}, ["offers.note"], "a b c"),
        ({"title": 1984}, ["title"], "1984"),
    ],
)
def test_texts_are_joined_as_those_of_a_file(source, fields, text):
    assert text_of(source, fields, set(), "document 'd'") == text


@pytest.mark.parametrize("value", [True, {"a": "b"}])
def test_what_is_no_text_is_told_with_its_document(value):
    with pytest.raises(CorpusError, match=r"document 'd': field 'title' holds .*--text-field"):
        text_of({"title": value}, ["title"], set(), "document 'd'")


def test_an_id_is_one_text_or_whole_number():
    assert id_of({"sku": "x"}, "sku", "d") == "x"
    assert id_of({"sku": 7}, "sku", "d") == "7"
    assert id_of({"a": {"sku": ["x"]}}, "a.sku", "d") == "x"
    assert id_of({}, "sku", "d") is None
    assert id_of({"sku": " "}, "sku", "d") is None
    for value in (["x", "y"], 1.5, True, {"a": 1}):
        with pytest.raises(CorpusError, match="is no id"):
            id_of({"sku": value}, "sku", "d")


def test_the_content_does_not_depend_on_the_order_of_slices():
    a, b = hit("1", title="a"), hit("2", title="b", brand={"name": "c"})
    first = keep([a], [b])
    assert keep([b, a]).content == first.content
    assert [json.loads(line) for line in first.path.read_text().splitlines()] != []
    assert keep([a], [hit("2", title="b", brand={"name": "d"})]).content != first.content
    assert keep([a], [hit("3", title="b", brand={"name": "c"})]).content != first.content


def test_what_was_kept_is_found_again_and_older_texts_go_after_a_day():
    old = keep([hit("1", title="a", brand={"name": "c"})])
    new = keep([hit("1", title="b", brand={"name": "c"})])
    assert index_snapshot.stored(WANTED) == new
    assert old.path.exists()  # another study may be reading it
    import os

    os.utime(old.path, (1, 1))
    index_snapshot.settle(new)
    assert not old.path.exists()
    assert new.path.exists()


def test_damaged_texts_count_as_none():
    made = keep([hit("1", title="a", brand={"name": "c"})])
    made.path.write_text("")
    assert index_snapshot.stored(WANTED) is None
    (WANTED.folder / index_snapshot.FILE).write_text("[]")
    assert index_snapshot.stored(WANTED) is None


def test_a_reading_that_breaks_off_leaves_what_was_there():
    before = keep([hit("1", title="a", brand={"name": "c"})])

    def pages():
        yield [hit("1", title="z", brand={"name": "c"})]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_snapshot.keep(WANTED, pages(), name="goods", uuid="u2", read="", progress=no_progress)
    assert index_snapshot.stored(WANTED) == before
    assert sorted(p.name for p in WANTED.folder.iterdir()) == sorted(
        [before.path.name, index_snapshot.FILE]
    )


@pytest.mark.parametrize(
    ("hits", "told"),
    [
        ([], "holds no documents"),
        ([hit("1", title="a")], "no document has a value in 'brand.name'"),
        ([hit("1", title=" ", brand={"name": ""})], "every document's text is empty"),
        (
            [hit("1", title="a", brand={"name": "b"}), hit("1", title="c")],
            "id '1' is given twice",
        ),
    ],
)
def test_what_is_no_corpus_is_refused_and_not_kept(hits, told):
    with pytest.raises(CorpusError, match=told):
        keep(hits)
    assert index_snapshot.stored(WANTED) is None


def test_documents_without_an_id_of_their_own_are_counted():
    wanted = Wanted("opensearch", "s", "goods", ("title",), id_field="sku")
    made = keep([hit("1", title="a", sku="x"), hit("2", title="b")], wanted=wanted)
    assert made.documents == 1
    assert made.skipped == {"document without an id": 1}
    with pytest.raises(CorpusError, match="none of its 1 documents has a value in 'sku'"):
        keep([hit("2", title="b")], wanted=wanted)


def test_the_corpus_is_that_of_a_file_of_the_same_documents():
    made = keep([hit("2", title="b", brand={"name": "c"})], [hit("1", title="a"), hit("3")])
    corpus = index_corpus.read(IndexCorpus(WANTED), made, seed=123)
    assert corpus.ids == ["1", "2", "3"]
    assert corpus.texts == ["a", "b c", ""]
    assert corpus.query_ids == ["1", "2"]
    assert corpus.skipped == {"empty text": 1}
    assert corpus.file_rows is None
    assert corpus.name == "goods"
    for told in ("index goods (goods-1)", "3 documents", "title + brand.name", "ids from _id"):
        assert told in corpus.source


def test_queries_and_judgments_are_read_as_those_of_a_folder(tmp_path):
    queries, judgments = tmp_path / "q.jsonl", tmp_path / "j.tsv"
    queries.write_text('{"_id": "q", "text": "a"}\n')
    judgments.write_text("query-id\tcorpus-id\tscore\nq\t1\t2\n")
    made = keep([hit("1", title="a"), hit("2", title="b", brand={"name": "c"})])
    corpus = index_corpus.read(IndexCorpus(WANTED, queries, judgments), made, seed=1)
    assert corpus.query_texts == ["a"]
    assert corpus.judgments.documents.tolist() == [0]
    assert "q.jsonl" in corpus.source
    other = index_corpus.read(IndexCorpus(WANTED, queries), made, seed=1)
    assert other.judgments is None
    assert other.content != corpus.content
    judgments.write_text("q\t9\t2\n")
    with pytest.raises(JudgmentsError, match="none of its 1 judgments matches"):
        index_corpus.read(IndexCorpus(WANTED, queries, judgments), made, seed=1)


def test_the_study_is_another_for_another_index_of_the_same_texts():
    made = keep([hit("1", title="a", brand={"name": "c"})])
    corpus = IndexCorpus(WANTED)
    from dataclasses import replace

    one = index_corpus.identify(corpus, made, seed=1)
    assert index_corpus.identify(corpus, replace(made, uuid="u2"), seed=1) != one
    assert index_corpus.identify(corpus, replace(made, state="x", read="y"), seed=1) == one
