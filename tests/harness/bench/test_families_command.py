"""`harness bench families`: the tables, and that nothing in them is said twice or left out."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from harness.bench import matrix, probes
from harness.bench.command_families import command
from harness.settings import TEXT_KINDS
from indexers import registry
from indexers.errors import MissingPackage


def printed(*arguments):
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def table_row(text, *first_cells):
    """The cells of the first line that begins with these."""
    lines = (line.split() for line in text.splitlines())
    return next(line for line in lines if line[: len(first_cells)] == list(first_cells))


@pytest.fixture(scope="module")
def document():
    return json.loads(printed("--json"))


def test_every_family_is_described(document):
    found = {row["family"]: row for row in document["families"]}
    assert sorted(found) == list(registry.family_names())
    assert found["winnowing"]["source"] == "text"
    assert found["winnowing"]["forms"] == ["sequence"]
    assert (found["winnowing"]["kinds"], found["winnowing"]["reranks"]) == (
        ["tokens", "flat"],
        ["jaccard"],
    )
    assert (found["winnowing"]["bits"], found["winnowing"]["num_tables"]) == (None, [])
    assert found["simhash"]["bits"] == 128
    assert found["bge"]["source"] == "vector"


def test_statuses_are_those_of_little_texts(document):
    statuses = {row["family"]: row["statuses"] for row in document["families"]}
    for name in registry.family_names():
        if not registry.family(name).forms:
            assert statuses[name] == {}
            continue
        names = probes.PROBES if registry.family(name).source == "text" else probes.VECTOR_PROBES
        assert list(statuses[name]) == list(names)
        assert statuses[name][names[0]] == "empty"
        assert statuses[name][names[-1]] == "ok"
    assert statuses["fuzzyhash"]["one character"] == "too_short"
    assert statuses["fuzzyhash"]["one word repeated"] == "low_entropy"


def test_similarities_name_the_form_they_compare(document):
    fits = {(row["family"], row["similarity"]): row["form"] for row in document["similarities"]}
    assert fits["winnowing", "jaccard"] == "sequence"
    assert fits["fuzzyhash", "levenshtein"] == "string"
    assert fits["minhash", "agreement"] == "signature"
    assert fits["simhash", "hamming"] == "bits"
    assert fits["bge", "cosine"] == "vector"
    assert ("simhash", "levenshtein") not in fits


def test_the_matrix_has_every_family_on_every_kind(document):
    kinds = [
        (backend, kind)
        for backend in registry.backend_names()
        for kind in registry.backend(backend).kinds
        if kind not in TEXT_KINDS
    ]
    cells = {(row["family"], row["backend"], row["kind"]): row for row in document["backends"]}
    assert set(cells) == {(f, b, k) for f in registry.family_names() for b, k in kinds}
    assert len(cells) == len(document["backends"])
    for row in cells.values():
        assert row["possible"] == (row["reason"] is None) == bool(row["reranks"])
    assert cells["winnowing", "tables", "tokens"]["reranks"] == ["jaccard"]
    assert cells["minhash", "tables", "lsh"]["reranks"] == ["code", "signature"]
    assert cells["minhash", "faiss", "flat"]["reranks"] == ["code"]
    assert "makes them from rows" in cells["minhash", "faiss", "multihash"]["reason"]
    assert "only compared" in cells["karp_rabin", "exact", "flat"]["reason"]


def test_the_tables_for_people():
    text = printed()
    fits = registry.similarity_names()
    heads = table_row(text, "family", "agreement")
    assert heads == ["family", *fits]
    row = dict(zip(heads, table_row(text, "fuzzyhash", "–"), strict=True))
    assert (row["levenshtein"], row["jaccard"], row["hamming"]) == ("string", "sequence", "–")
    assert table_row(text, "winnowing", "text")[2:] == [
        "sequence",
        "tokens,",
        "flat",
        "jaccard",
        "–",
    ]
    assert table_row(text, "fuzzyhash", "empty")[2:] == ["too_short", "low_entropy", "ok"]


def test_the_matrix_for_people():
    text = printed("--backends")
    heads = table_row(text, "family")
    row = dict(zip(heads, table_row(text, "minhash"), strict=True))
    assert row["tables/lsh"] == row["exact/flat"] == "yes"
    number = row["faiss/multihash"]
    assert table_row(text, number)[1:4] == ["multihash", "takes", "its"]
    yes = sum(line.split().count("yes") for line in text.splitlines()[2:])
    assert yes == sum(cell.reason is None for cell in matrix.cells())


def test_a_family_whose_package_is_missing_is_told(monkeypatch):
    def missing(*_):
        raise MissingPackage("pip install it")

    monkeypatch.setattr(type(registry.family("fuzzyhash")), "hasher", missing)
    assert "package missing" in printed()
    found = json.loads(printed("--json"))["families"]
    assert [row["family"] for row in found if row["statuses"] is None] == ["fuzzyhash"]
