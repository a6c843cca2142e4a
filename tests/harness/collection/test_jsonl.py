"""Documents and queries from JSON lines, and every way in which a file can be wrong."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.collection import jsonl, lines
from indexers.errors import CorpusError

GOOD = b'{"_id": "a", "title": "T", "text": "x"}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "corpus.jsonl"


def refused(path: Path, content: bytes, fields: tuple[str, ...] | None = None) -> str:
    path.write_bytes(content)
    with pytest.raises(CorpusError) as caught:
        jsonl.documents(path, fields)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


def test_title_and_text_are_joined_and_missing_null_and_empty_ones_left_out(path: Path) -> None:
    path.write_bytes(
        b'{"_id": "b", "title": "T", "text": "x y"}\n'
        b'{"_id": "a", "text": "x"}\n'
        b'{"_id": "c", "title": null, "text": "z"}\n'
        b'{"_id": "d", "title": "", "text": "w"}\n'
        b'{"_id": "e"}\n'
    )
    table = jsonl.documents(path)
    assert table.ids == ["b", "a", "c", "d", "e"]
    assert table.texts == ["T x y", "x", "z", "w", ""]


def test_chosen_fields_may_be_nested_numbers_and_lists_of_strings(path: Path) -> None:
    record = {"_id": 7, "title": "T", "metadata": {"brand": "B", "price": 12.5, "ean": ["1", "2"]}}
    path.write_text(json.dumps(record))
    fields = ("title", "metadata.brand", "metadata.price", "metadata.ean", "metadata.none.deep")
    table = jsonl.documents(path, fields[:4])
    assert table.texts == ["T B 12.5 1 2"]
    assert table.ids == ["7"]
    with pytest.raises(CorpusError, match=r"no document has the field metadata\.none\.deep"):
        jsonl.documents(path, fields)


def test_a_key_with_dots_goes_before_the_path(path: Path) -> None:
    path.write_text('{"_id": "1", "a.b": "whole", "a": {"b": "nested"}}')
    assert jsonl.documents(path, ("a.b",)).texts == ["whole"]


def test_id_key_white_space_lines_line_ends_and_byte_order_mark(path: Path) -> None:
    path.write_bytes(
        b'\xef\xbb\xbf{"id": "a", "text": "x"}\r\n\r\n  \n{"id": -3, "text": "\xe2\x82\xac"}'
    )
    table = jsonl.documents(path)
    assert (table.ids, table.texts) == (["a", "-3"], ["x", "€"])


def test_gzip_is_known_by_its_bytes(path: Path) -> None:
    path.write_bytes(gzip.compress(GOOD))
    assert jsonl.documents(path).ids == ["a"]


def test_progress_adds_up(path: Path) -> None:
    path.write_text("".join(f'{{"_id": {i}, "text": "x"}}\n' for i in range(10_000)))
    steps: list[int] = []
    jsonl.documents(path, progress=steps.append)
    assert sum(steps) == 10_000
    assert len(steps) > 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"_id": "b", "text": "x"', "not valid JSON"),
        (b"hello", "not valid JSON"),
        (b'{"_id": "b", "text": NaN}', "not valid JSON"),
        (b'{"_id": "b", "text": "\\ud800"}', "not valid JSON"),
        (b'["b", "x"]', "is a list"),
        (b'"b"', "is a string"),
        (b"3", "is a number"),
        (b"null", "is null"),
        (b"true", "is true or false"),
        (b'{"_id": "b", "text": "\xff"}', "byte 23 is not UTF-8"),
        (b'{"text": "x"}', "has no id"),
        (b'{"_id": "", "text": "x"}', '"_id" is empty'),
        (b'{"_id": "  ", "text": "x"}', '"_id" is empty'),
        (b'{"_id": null, "text": "x"}', '"_id" is null'),
        (b'{"_id": 1.5, "text": "x"}', '"_id" is a number: 1.5'),
        (b'{"_id": true, "text": "x"}', '"_id" is true or false'),
        (b'{"_id": ["b"], "text": "x"}', '"_id" is a list'),
        (b'{"_id": "b", "text": 5}', "field 'text' is a number"),
        (b'{"_id": "b", "text": ["x"]}', "field 'text' is a list"),
        (b'{"_id": "b", "text": {"x": 1}}', "field 'text' is an object"),
        (b'{"_id": "b", "title": false}', "field 'title' is true or false"),
        (b'{"_id": "a", "text": "x"}', "id 'a' is given twice, first in line 1"),
    ],
)
def test_a_bad_line_is_named(path: Path, line: bytes, expected: str) -> None:
    message = refused(path, GOOD + b"\n" + line + b"\n" + GOOD)
    assert "line 3: " in message
    assert expected in message


def test_a_number_and_a_string_of_the_same_digits_are_the_same_id(path: Path) -> None:
    assert "given twice" in refused(path, b'{"_id": 1, "text": "x"}\n{"_id": "1", "text": "y"}\n')


def test_a_chosen_field_of_a_wrong_type_is_named(path: Path) -> None:
    content = b'{"_id": "a", "m": {"tags": [1]}, "on": true}'
    assert "field 'm.tags' is a list" in refused(path, content, ("m.tags",))
    assert "field 'm' is an object" in refused(path, content, ("m",))
    assert "field 'on' is true or false" in refused(path, content, ("on",))


def test_a_field_that_no_document_has_lists_those_there_are(path: Path) -> None:
    content = b'{"_id": "a", "title": "T", "metadata": {"brand": "B", "on": true}, "none": null}'
    message = refused(path, content, ("title", "colour", "none"))
    assert "the field colour, none;" in message
    assert message.endswith("from: metadata.brand, title")


def test_without_title_and_text_the_fields_there_are_listed(path: Path) -> None:
    message = refused(path, b'{"_id": "a", "body": "x"}')
    assert "no document has the field title, text" in message
    assert message.endswith("from: body")
    assert "none that holds text" in refused(path, b'{"_id": "a"}')


def test_deep_nesting_is_no_trouble(path: Path) -> None:
    deep = b'{"a":' * 900 + b'"x"' + b"}" * 900
    assert "none that holds text" in refused(path, b'{"_id": "a", "m": %s}' % deep)
    endless = b'{"a":' * 5000 + b'"x"' + b"}" * 5000
    assert "line 1: is not valid JSON" in refused(path, b'{"_id": "a", "m": %s}' % endless)


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_holds_no_documents(path: Path, content: bytes) -> None:
    assert "holds no documents" in refused(path, content)


@pytest.mark.parametrize(
    "content",
    [
        b"PK\x03\x04\x14\x00\x00\x00",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        GOOD.decode().encode("utf-16"),
        bytes(range(256)) * 64,
        b"x" * 100 + b"\0",
    ],
)
def test_a_binary_file_is_refused(path: Path, content: bytes) -> None:
    assert "binary file" in refused(path, content)


def test_damaged_gzip_is_told(path: Path) -> None:
    whole = gzip.compress(b"".join(b'{"_id": %d, "text": "x"}\n' % i for i in range(5000)))
    assert "gzip data is damaged" in refused(path, whole[: len(whole) // 2])
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    assert str(path) in refused(path, bytes(flipped))
    assert "gzip data is damaged" in refused(path, whole[:-8] + b"\0" * 8)


def test_a_gz_name_without_gzip_is_told(tmp_path: Path) -> None:
    assert "is no gzip file" in refused(tmp_path / "corpus.jsonl.gz", GOOD)


def test_an_endless_line_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT_BYTES", 1 << 20)
    assert "line 2: is longer than 1 MiB" in refused(path, GOOD + b"[" * (1 << 21))


def test_a_folder_in_place_of_a_file_is_told(path: Path) -> None:
    path.mkdir()
    with pytest.raises(CorpusError, match=r"cannot be read \(Is a directory\)"):
        jsonl.documents(path)


def test_a_file_without_permission_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(GOOD)
    if os.geteuid() == 0:  # root may read everything

        def denied(*_: object) -> None:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(Path, "open", denied)
    path.chmod(0)
    with pytest.raises(CorpusError, match=r"cannot be read \(Permission denied\)"):
        jsonl.documents(path)


def test_ids_with_line_ends_keep_the_message_on_one_line(path: Path) -> None:
    line = b'{"_id": "a\\nb", "text": "x"}\n'
    assert r"'a\nb'" in refused(path, line + line)
    long = b'{"_id": "%s", "text": "x"}\n' % (b"z" * 5000)
    assert len(refused(path, long + long)) < 400


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"_id": "b"}', "has no text"),
        (b'{"_id": "b", "title": "x"}', "has no text"),
        (b'{"_id": "b", "text": null}', "text is null"),
        (b'{"_id": "b", "text": 3}', "text is a number"),
        (b'{"_id": "a", "text": "x"}', "id 'a' is given twice, first in line 1"),
        (b'{"text": "x"}', "has no id"),
    ],
)
def test_a_bad_query_is_named(path: Path, line: bytes, expected: str) -> None:
    path.write_bytes(b'{"_id": "a", "text": "x"}\n' + line)
    with pytest.raises(CorpusError, match="line 2: ") as caught:
        jsonl.queries(path)
    assert expected in str(caught.value)


def test_no_queries(path: Path) -> None:
    path.write_bytes(b"\n")
    with pytest.raises(CorpusError, match="holds no queries"):
        jsonl.queries(path)


def test_queries_ignore_the_title_and_carry_the_paper(path: Path) -> None:
    path.write_text(
        '{"_id": "q", "title": "T", "text": "x", "metadata": {"paper_id": 12}}\n'
        '{"_id": "r", "text": "", "metadata": {"paper_id": null}}\n'
        '{"_id": "s", "text": "y", "metadata": "none"}\n'
    )
    table = jsonl.queries(path)
    assert table.texts == ["x", "", "y"]
    assert table.same_as == ["12", None, None]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = texts.filter(str.strip)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    records=st.dictionaries(names, st.tuples(texts, texts), min_size=1, max_size=10),
    packed=st.booleans(),
    escaped=st.booleans(),
)
def test_what_was_written_is_read_back(
    path: Path, records: dict[str, tuple[str, str]], packed: bool, escaped: bool
) -> None:
    content = "".join(
        json.dumps({"_id": name, "title": title, "text": text}, ensure_ascii=escaped) + "\n"
        for name, (title, text) in records.items()
    ).encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    table = jsonl.documents(path)
    assert table.ids == list(records)
    for got, (title, text) in zip(table.texts, records.values(), strict=True):
        assert got == (f"{title} {text}" if title and text else title + text)
