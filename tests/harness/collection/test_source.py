"""A corpus by its name: what is used of it, how it is told apart, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.collection import catalogue, jsonl, source
from indexers.errors import CorpusError, JudgmentsError

WriteBeir = Callable[..., Path]

DOCUMENTS = [
    {"_id": "b", "title": "T", "text": "two"},
    {"_id": "a", "text": "one"},
    {"_id": "Z", "text": " "},
    {"_id": "é", "text": "four"},
]
QUERIES = [
    {"_id": "q2", "text": "two"},
    {"_id": "a", "text": "one"},
    {"_id": "q1", "text": "", "metadata": {"paper_id": "b"}},
]
QRELS = "query-id\tcorpus-id\tscore\nq2\tb\t3\nq2\ta\t0\na\tb\t1\na\tgone\t1\nq1\tZ\t2\n"


def refused(spec: str | Path, fields: tuple[str, ...] | None = None) -> str:
    with pytest.raises(CorpusError) as caught:
        source.open_corpus(str(spec), fields)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("packed", [False, True])
def test_a_beir_folder(write_beir: WriteBeir, packed: bool) -> None:
    corpus = source.open_corpus(str(write_beir(DOCUMENTS, QUERIES, QRELS, packed=packed)))
    assert corpus.name == "my-corpus"
    assert corpus.ids == ["Z", "a", "b", "é"]
    assert corpus.texts == [" ", "one", "T two", "four"]
    assert corpus.query_ids == ["q2", "a", "q1"]
    assert corpus.query_texts == ["two", "one", ""]
    assert corpus.query_self.tolist() == [-1, 1, 2]
    assert corpus.query_self.dtype == np.int32
    assert corpus.judgments is not None
    assert corpus.judgments.indptr.tolist() == [0, 2, 3, 4]
    assert corpus.judgments.documents.tolist() == [1, 2, 2, 0]
    assert corpus.judgments.gains.tolist() == [0.0, 3.0, 1.0, 2.0]
    assert corpus.judgments.unmatched == 1
    assert corpus.skipped == {"empty text": 1, "empty query text": 1, "unmatched judgment": 1}
    assert "2 of the queries are documents themselves" in corpus.source
    assert "fields title + text" in corpus.source


def test_without_judgments(write_beir: WriteBeir) -> None:
    corpus = source.open_corpus(str(write_beir()))
    assert corpus.judgments is None
    assert corpus.skipped == {}
    assert "no judgments" in corpus.source


def test_the_paper_goes_before_the_same_id_and_an_unknown_paper_is_no_document(
    write_beir: WriteBeir,
) -> None:
    queries = [
        {"_id": "a", "text": "x", "metadata": {"paper_id": "b"}},
        {"_id": "b", "text": "x", "metadata": {"paper_id": "gone"}},
        {"_id": "c", "text": "x", "metadata": {"paper_id": "gone"}},
    ]
    corpus = source.open_corpus(str(write_beir(DOCUMENTS, queries)))
    assert corpus.query_self.tolist() == [2, 2, -1]


def test_a_split_of_several_is_named_and_restricts_the_queries(write_beir: WriteBeir) -> None:
    write_beir(DOCUMENTS, QUERIES, "q2\tb\t1\n", qrels_name="qrels/train.tsv")
    folder = write_beir(DOCUMENTS, QUERIES, "a\tb\t1\n", qrels_name="qrels/test.tsv")
    corpus = source.open_corpus(str(folder))
    assert corpus.query_ids == ["a"]
    assert corpus.skipped == {"empty text": 1, "query of another split": 2}
    assert "judgments of the split test (not used: train)" in corpus.source


def test_split_names_in_the_folder_itself(write_beir: WriteBeir) -> None:
    write_beir(DOCUMENTS, QUERIES, "q2\tb\t1\n", qrels_name="qrels.zeta.tsv")
    folder = write_beir(DOCUMENTS, QUERIES, "a\tb\t1\n", qrels_name="qrels.alpha.tsv")
    corpus = source.open_corpus(str(folder))
    assert corpus.query_ids == ["a"]
    assert "judgments of the split alpha (not used: zeta)" in corpus.source


def test_qrels_tsv_goes_before_splits_and_keeps_all_queries(write_beir: WriteBeir) -> None:
    write_beir(DOCUMENTS, QUERIES, "q2\tb\t1\n", qrels_name="qrels/test.tsv")
    corpus = source.open_corpus(str(write_beir(DOCUMENTS, QUERIES, "a\tb\t1\n")))
    assert corpus.query_ids == ["q2", "a", "q1"]


def test_a_split_that_matches_no_query_is_refused(write_beir: WriteBeir) -> None:
    folder = write_beir(DOCUMENTS, QUERIES, "x\tb\t1\n", qrels_name="qrels/test.tsv")
    with pytest.raises(JudgmentsError, match="none of its 1 judgments"):
        source.open_corpus(str(folder))


def test_one_file_of_documents_asks_them_as_queries(tmp_path: Path) -> None:
    path = tmp_path / "Shop Items.jsonl.gz"
    records = [{"id": f"{n:04}", "text": f"text {n}" if n % 2 else ""} for n in range(2400)]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    corpus = source.open_corpus(str(path))
    assert corpus.name == "shop-items"
    assert corpus.judgments is None
    assert corpus.skipped == {"empty text": 1200}
    assert len(set(corpus.query_ids)) == 1000
    assert [corpus.ids[row] for row in corpus.query_self] == list(corpus.query_ids)
    assert [corpus.texts[row] for row in corpus.query_self] == list(corpus.query_texts)
    assert all(corpus.query_texts)
    assert source.open_corpus(str(path)).query_ids == corpus.query_ids
    assert source.open_corpus(str(path), seed=124).query_ids != corpus.query_ids


def test_the_order_of_a_file_does_not_change_what_is_asked(tmp_path: Path) -> None:
    records = [json.dumps({"id": n, "text": f"text {n}"}) for n in range(1500)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(records))
    forth = source.open_corpus(str(path))
    path.write_text("\n".join(reversed(records)))
    back = source.open_corpus(str(path))
    assert (forth.query_ids, forth.ids) == (back.query_ids, back.ids)
    assert forth.content != back.content


def test_identify_agrees_with_open_and_does_not_parse(
    write_beir: WriteBeir, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(write_beir(DOCUMENTS, QUERIES, QRELS))
    corpus = source.open_corpus(folder, ("text",))

    def unread(*_: object) -> None:
        raise AssertionError("the corpus was parsed")

    monkeypatch.setattr(jsonl, "objects", unread)
    assert source.identify(folder, ("text",)) == source.CorpusId("my-corpus", corpus.content)
    assert len(corpus.content) == 32
    assert int(corpus.content, 16) >= 0


def test_content_changes_with_every_part_and_with_nothing_else(write_beir: WriteBeir) -> None:
    folder = write_beir(DOCUMENTS, QUERIES, QRELS)
    seen = {source.identify(str(folder)).content}
    assert source.identify(str(folder), ("title", "text")).content in seen
    (folder / "README.md").write_text("not used")
    os.utime(folder / "corpus.jsonl", (1, 1))
    assert source.identify(str(folder)).content in seen
    for fields in (("text",), ("text", "title")):
        seen.add(source.identify(str(folder), fields).content)
    for documents, queries, qrels in (
        (DOCUMENTS[:3], QUERIES, QRELS),
        (DOCUMENTS, QUERIES[:2], QRELS),
        (DOCUMENTS, QUERIES, QRELS + "q1\ta\t1\n"),
    ):
        seen.add(source.identify(str(write_beir(documents, queries, qrels))).content)
    (folder / "qrels.tsv").unlink()
    seen.add(source.identify(str(folder)).content)
    assert len(seen) == 7


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ünïcode_Shop 2", "unicode-shop-2"),
        ("日本", "corpus"),
        ("a.b", "a-b"),
        ("x" * 99, "x" * 60),
    ],
)
def test_names_are_slugs(tmp_path: Path, name: str, expected: str) -> None:
    path = tmp_path / f"{name}.jsonl"
    path.write_text('{"id": 1, "text": "x"}')
    assert source.identify(str(path)).name == expected


@pytest.mark.parametrize("suffix", ["", ".json", ".NDJSON", ".jsonl.gz", ".gz"])
def test_the_ending_is_no_part_of_the_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"shop{suffix}"
    path.write_bytes(gzip.compress(b'{"id": 1, "text": "x"}'))
    assert source.identify(str(path)).name == "shop"


def test_no_fields_are_the_default_fields(write_beir: WriteBeir) -> None:
    folder = str(write_beir())
    corpus = source.open_corpus(folder, ())
    assert source.identify(folder, ()).content == source.identify(folder).content == corpus.content


def test_a_file_named_corpus_carries_its_folder(write_beir: WriteBeir) -> None:
    assert source.identify(str(write_beir() / "corpus.jsonl")).name == "my-corpus-corpus"


def test_the_catalogue_is_known_without_generating_it(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    corpus = source.open_corpus("catalogue:400", progress=steps.append)
    assert (len(corpus.ids), len(corpus.query_ids), sum(steps)) == (400, 20, 400)
    monkeypatch.setattr(catalogue, "load", None)
    known = source.identify("catalogue:400")
    assert known == source.CorpusId("catalogue-400", corpus.content)
    assert source.identify("catalogue").name == "catalogue-20000"
    assert source.identify("catalogue:20000") == source.identify("catalogue")
    assert source.identify("catalogue:400", seed=124).content != known.content


@pytest.mark.parametrize("number", ["", "abc", "-5", "1e3", "99", "100001", "٣٠٠", "1" * 30])
def test_a_catalogue_out_of_range(number: str) -> None:
    assert "number of items" in refused(f"catalogue:{number}")


def test_the_catalogue_has_its_own_fields() -> None:
    assert "leave --fields out" in refused("catalogue:100", ("brand",))


@pytest.mark.parametrize("spec", ["", "a\0b", "nowhere", "no/where.jsonl", "a\nb", "x" * 5000])
def test_what_is_not_there(spec: str) -> None:
    assert "catalogue:N" in refused(spec)


def test_what_is_neither_file_nor_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "neither a file nor a folder" in refused(tmp_path / "pipe")


def test_a_folder_without_a_corpus_names_what_was_looked_for(write_beir: WriteBeir) -> None:
    folder = write_beir()
    (folder / "corpus.jsonl").rename(folder / "docs.jsonl")
    message = refused(folder)
    assert "no corpus.jsonl or corpus.jsonl.gz (there: docs.jsonl, queries.jsonl)" in message


def test_a_folder_without_queries_names_what_was_looked_for(write_beir: WriteBeir) -> None:
    folder = write_beir()
    (folder / "queries.jsonl").unlink()
    message = refused(folder)
    assert "no queries.jsonl or queries.jsonl.gz" in message
    assert "give corpus.jsonl itself" in message


def test_an_unreadable_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(self: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "exists", denied)
    assert "cannot be read (Permission denied)" in refused(tmp_path)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_folder_in_place_of_a_file(write_beir: WriteBeir, name: str) -> None:
    folder = write_beir(DOCUMENTS, QUERIES, QRELS)
    (folder / name).unlink()
    (folder / name).mkdir()
    assert "cannot be read (Is a directory)" in refused(folder)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
def test_an_empty_file(write_beir: WriteBeir, name: str) -> None:
    folder = write_beir()
    (folder / name).write_bytes(b"")
    assert f"{name}: holds no " in refused(folder)


def test_texts_that_are_all_empty(write_beir: WriteBeir) -> None:
    empty = [{"_id": "a", "text": ""}, {"_id": "b", "title": " ", "text": "\t"}]
    assert "every document's text is empty" in refused(write_beir(empty))
    assert "every query text is empty" in refused(write_beir(DOCUMENTS, empty))


def test_duplicate_queries(write_beir: WriteBeir) -> None:
    message = refused(write_beir(DOCUMENTS, [QUERIES[0], QUERIES[0]]))
    assert "queries.jsonl line 2: id 'q2' is given twice, first in line 1" in message


def test_negative_gains(write_beir: WriteBeir) -> None:
    with pytest.raises(JudgmentsError, match=r"qrels\.tsv line 1: the score -1 is negative"):
        source.open_corpus(str(write_beir(DOCUMENTS, QUERIES, "a\tb\t-1\n")))


ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), packed=st.booleans())
def test_a_random_corpus_is_read_back(
    write_beir: WriteBeir, tmp_path: Path, data: st.DataObject, packed: bool
) -> None:
    shutil.rmtree(tmp_path / "My Corpus", ignore_errors=True)
    documents = data.draw(st.dictionaries(ids, texts, min_size=1, max_size=8))
    queries = data.draw(st.dictionaries(ids, texts, min_size=1, max_size=5))
    documents[min(documents)] = queries[min(queries)] = "never empty"
    pairs = st.tuples(st.sampled_from(sorted(queries)), st.sampled_from(sorted(documents)))
    drawn = data.draw(st.dictionaries(pairs, st.integers(0, 3), max_size=12))
    gains = {pair: gain for pair, gain in drawn.items() if pair[0] != pair[1]}
    corpus = source.open_corpus(
        str(
            write_beir(
                [{"_id": name, "text": text} for name, text in documents.items()],
                [{"_id": name, "text": text} for name, text in queries.items()],
                "".join(f"{q}\t0\t{d}\t{gain}\n" for (q, d), gain in gains.items()),
                packed=packed,
                qrels_name="qrels.tsv" if gains else "unused",
            )
        )
    )
    assert list(corpus.ids) == sorted(documents)
    assert dict(zip(corpus.ids, corpus.texts, strict=True)) == documents
    assert dict(zip(corpus.query_ids, corpus.query_texts, strict=True)) == queries
    for name, own in zip(corpus.query_ids, corpus.query_self, strict=True):
        assert (corpus.ids[own] if own >= 0 else None) == (name if name in documents else None)
    if corpus.judgments is None:
        assert not gains
        return
    bounds = corpus.judgments.indptr
    read = {
        (name, corpus.ids[corpus.judgments.documents[pair]]): corpus.judgments.gains[pair]
        for row, name in enumerate(corpus.query_ids)
        for pair in range(bounds[row], bounds[row + 1])
    }
    assert read == gains
