"""A file of documents before it is indexed: looked through whole, faults told with their line."""

import json
import os

import pytest

from harness.deploy import ingest
from harness.deploy.ingest import Source
from indexers.errors import CorpusError

HELD = (("brand", "keyword"), ("price", "double"))


@pytest.fixture
def source(tmp_path):
    def write(records, attributes=()):
        path = tmp_path / "documents.jsonl"
        path.write_text("".join(json.dumps(record) + "\n\n" for record in records))
        return Source(path, None, attributes)

    return write


def listings(count, **more):
    return [{"_id": str(n), "text": f"listing {n}", **more} for n in range(count)]


def test_documents_come_in_blocks_as_they_stand(source, monkeypatch):
    monkeypatch.setattr(ingest, "BLOCK", 4)
    found = source(listings(10, price=2, brand=True), HELD)
    assert found.check() == 10
    blocks = list(found.blocks())
    assert [list(block.ids) for block in blocks] == [list("0123"), list("4567"), list("89")]
    assert blocks[2].texts == ["listing 8", "listing 9"]
    assert blocks[2].attributes == {"brand": ["true", "true"], "price": [2.0, 2.0]}


def test_an_id_given_twice_is_told_with_both_lines(source, monkeypatch):
    monkeypatch.setattr(ingest, "BLOCK", 4)
    records = listings(12)
    records[9]["_id"] = "2"
    with pytest.raises(CorpusError, match=r"line 19: id '2' is given twice, first in line 5; "):
        source(records).check()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"price": "12 EUR"}, r"line 19: field 'price' is a text, '12 EUR', and numbers in the in"),
        ({"brand": 7}, r"line 19: field 'brand' is a number, 7, and texts in the index"),
        ({"price": [1]}, r"line 19: field 'price' is a list: \[1\]"),
        ({"_id": ""}, r'line 19: "_id" is empty'),
        ({"text": 5}, r"line 19: field 'text' is a number"),
    ],
)
def test_what_cannot_be_indexed_is_told_with_its_line(source, monkeypatch, changes, told):
    monkeypatch.setattr(ingest, "BLOCK", 4)
    records = listings(12, price=1.5, brand="acme")
    records[9] |= changes
    with pytest.raises(CorpusError, match=told):
        source(records, HELD).check()


def test_documents_without_an_attribute_are_indexed_without_it(source):
    assert source(listings(2), HELD).check() == 2
    assert source(listings(2), HELD).blocks().__next__().attributes["price"] == [None, None]


def test_what_can_be_read_once_alone_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="it is read twice"):
        Source(tmp_path / "pipe", None).check()
