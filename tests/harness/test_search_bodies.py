"""Search bodies out of files."""

import json

import pytest

from harness.search_bodies import read_bodies
from indexers.errors import CorpusError, SettingError


@pytest.fixture
def files(tmp_path):
    def write(queries, body=None):
        path, template = tmp_path / "q.jsonl", tmp_path / "body.json"
        path.write_bytes(queries.encode() if isinstance(queries, str) else queries)
        if body is None:
            return path, None
        template.write_text(body if isinstance(body, str) else json.dumps(body))
        return path, template

    return write


def test_bodies_as_they_are(files):
    found = read_bodies(*files('{"query": {"match_all": {}}}\n\n{"size": 3}\n'))
    assert [json.loads(body) for body in found] == [{"query": {"match_all": {}}}, {"size": 3}]


def test_texts_are_put_into_the_template_whatever_they_hold(files):
    texts = ['red "shoes"', "back\\slash", "{{text}}", "Ünïcode ☃", "line\nbreak"]
    lines = [json.dumps({"_id": "1", "text": texts[0]}), *map(json.dumps, texts[1:])]
    body = {"query": {"bool": {"should": [{"match": {"t": "{{text}}"}}, {"term": {"a": 1}}]}}}
    found = [json.loads(b) for b in read_bodies(*files("\n".join(lines), body))]
    for text, one in zip(texts, found, strict=True):
        assert one["query"]["bool"]["should"] == [{"match": {"t": text}}, {"term": {"a": 1}}]


@pytest.mark.parametrize(
    ("queries", "body", "told"),
    [
        ("", None, "holds no query"),
        ('"text"\n', None, "line 1: expected a search body"),
        ("{}\n[1]\n", None, "line 2: expected a search body"),
        ("{}\nnot json\n", None, "line 2: not JSON"),
        ('{"text": 3}\n', {"q": "{{text}}"}, "line 1: expected a text"),
        ('"  "\n', {"q": "{{text}}"}, "line 1: expected a text"),
        (b"\xff\xfe\n", None, "not a text file"),
    ],
)
def test_queries_that_cannot_be_used(files, queries, body, told):
    with pytest.raises(CorpusError, match=told):
        read_bodies(*files(queries, body))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"query": {"match_all": {}}}, "stands in none of its strings"),
        ("{", "not JSON"),
        ("[]", "a JSON object"),
    ],
)
def test_templates_that_cannot_be_used(files, body, told):
    with pytest.raises(SettingError, match=told):
        read_bodies(*files('"text"', body))


def test_missing_files(tmp_path, files):
    with pytest.raises(CorpusError, match="No such file"):
        read_bodies(tmp_path / "none", None)
    path, _ = files('"text"')
    with pytest.raises(SettingError, match="No such file"):
        read_bodies(path, tmp_path / "none")
