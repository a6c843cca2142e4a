"""Flags, YAML and environment; every mistake is listed, none hides another."""

import pytest

from harness.config_sources import study_config
from harness.tuning.space import sweep_of
from indexers.errors import SettingError


@pytest.fixture(autouse=True)
def _no_server(monkeypatch):
    monkeypatch.delenv("HARNESS_OPENSEARCH_URL", raising=False)
    monkeypatch.delenv("HARNESS_ELASTICSEARCH_URL", raising=False)


def problems(flags, config=None):
    with pytest.raises(SettingError) as caught:
        study_config(flags, config)
    return caught.value.problems


def test_the_defaults_are_the_default_study():
    study = study_config({"sla_ms": "100"})
    assert study.sla_ms == 100
    assert study.corpus == "catalogue:20000"
    assert study.backend == ("tables", "faiss")
    assert sweep_of(study, "simhash", None).num_tables == (5, 10, 15, 20, 25, 30, 40, 50)
    assert sweep_of(study, "simhash", None).hash_lengths == (8, 12, 16, 20)
    assert sweep_of(study, "minhash", None).hash_lengths == (1, 2, 3, 4, 6, 8)
    assert study.measured_samples == 1000
    assert study_config({"sla_ms": "100", "thorough": True}).measured_samples == 10_000


def test_sizes_for_all_families_and_for_one():
    study = study_config(
        {"sla_ms": "1", "num_tables": ("20,5",), "hash_length": ("8,12", "minhash=2,4")}
    )
    assert study.given("num_tables", "minhash") == (5, 20)
    assert study.given("hash_length", "simhash") == (8, 12)
    assert study.given("hash_length", "minhash") == (2, 4)


def test_flags_win_over_yaml_and_yaml_over_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_OPENSEARCH_URL", "http://127.0.0.1:1")
    path = tmp_path / "study.yaml"
    path.write_text("sla_ms: 50\nnum_tables: [5]\nhash_length: {minhash: [2]}\n")
    study = study_config({"sla_ms": "70", "num_tables": ("10",)}, path)
    assert (study.sla_ms, study.given("num_tables", "simhash")) == (70, (10,))
    assert study.given("hash_length", "minhash") == (2,)
    assert study.opensearch_url == "http://127.0.0.1:1"
    path.write_text("sla_ms: 50\nopensearch_url: http://127.0.0.1:2\n")
    assert study_config({}, path).opensearch_url == "http://127.0.0.1:2"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, "sla_ms: missing"),
        ({"sla_ms": "-5"}, "--sla-ms: expected a number above 0, not '-5'"),
        ({"sla_ms": "0"}, "--sla-ms"),
        ({"sla_ms": "nan"}, "--sla-ms"),
        ({"sla_ms": "inf"}, "--sla-ms"),
        ({"sla_ms": "fast"}, "--sla-ms"),
        ({"sla_ms": "1", "sla_stat": "p42"}, "--sla-stat"),
        ({"sla_ms": "1", "num_tables": ("0",)}, "num_tables: simhash takes 1 to 64, not 0"),
        ({"sla_ms": "1", "num_tables": ("many",)}, "--num-tables"),
        ({"sla_ms": "1", "num_tables": ("65",)}, "takes 1 to 64, not 65"),
        ({"sla_ms": "1", "hash_length": ("33",)}, "simhash takes 1 to 32, not 33"),
        ({"sla_ms": "1", "hash_length": ("minhash=65",)}, "minhash takes 1 to 64, not 65"),
        ({"sla_ms": "1", "hash_length": ("foo=4",)}, "'foo' is not a family; choose from"),
        ({"sla_ms": "1", "hash_length": ("",)}, "--hash-length"),
        ({"sla_ms": "1", "backend": "solr"}, "backend 'solr' is unknown: choose from"),
        ({"sla_ms": "1", "family": "md5"}, "family 'md5' is unknown: choose from"),
        ({"sla_ms": "1", "backend": "opensearch"}, "needs --opensearch-url"),
        ({"sla_ms": "1", "backend": "elasticsearch"}, "or HARNESS_ELASTICSEARCH_URL"),
        ({"sla_ms": "1", "elasticsearch_url": "ftp://x"}, "elasticsearch URL 'ftp://x' is not"),
        ({"sla_ms": "1", "elasticsearch_url": "http://u:p@h:1"}, "HARNESS_ELASTICSEARCH_URL"),
        ({"sla_ms": "1", "opensearch_url": "ftp://x"}, "'ftp://x' is not understood"),
        ({"sla_ms": "1", "opensearch_url": "http://127.0.0.1:abc"}, "is not understood"),
        ({"sla_ms": "1", "opensearch_url": "http://[::1"}, "is not understood"),
        ({"sla_ms": "1", "opensearch_url": "http://u:p@h:1"}, "HARNESS_OPENSEARCH_URL"),
        ({"sla_ms": "1", "objective": "speed"}, "'speed' is unknown"),
        ({"sla_ms": "1", "objective": "R@5"}, "--cutoff 5"),
        ({"sla_ms": "1", "cutoff": "0"}, "--cutoff"),
        ({"sla_ms": "1", "cutoff": "2.5"}, "--cutoff"),
        ({"sla_ms": "1", "tolerance": "-1"}, "--tolerance"),
        ({"sla_ms": "1", "rate": "0"}, "--rate"),
        ({"sla_ms": "1", "users": "0"}, "--users"),
        ({"sla_ms": "1", "build": "twice"}, "--build"),
        ({"sla_ms": "1", "fields": ""}, "--fields: expected a name"),
        ({"sla_ms": "1", "fields": "title,,text"}, "--fields: expected a name"),
        ({"sla_ms": "1", "family": "lsh", "vectors": "a.npy", "model": "b"}, "give one"),
        ({"sla_ms": "1", "family": "lsh", "query_vectors": "a.npy"}, "needs --vectors"),
        ({"sla_ms": "1", "vectors": "a.npy"}, "--vectors: nothing here reads vectors"),
        ({"sla_ms": "1", "model": "a", "device": "cpu"}, "--model, --device: nothing here reads"),
        ({"sla_ms": "1", "out": ""}, "--out: expected the path of a folder"),
        ({"sla_ms": "1", "kind": "tree"}, "no 'tree' on tables, faiss; choose from lsh, tokens"),
        ({"sla_ms": "1", "kind": "hnsw", "backend": "tables"}, "kind: no 'hnsw' on tables"),
        ({"sla_ms": "1", "kind": ""}, "--kind: expected a name"),
        ({"sla_ms": "1", "kind": "hnsw", "m": ("1",)}, "m: takes 2 to 512, not 1"),
        ({"sla_ms": "1", "kind": "hnsw", "ef_search": ("0",)}, "ef_search: takes 1 to 10000"),
        ({"sla_ms": "1", "kind": "hnsw", "ef_construction": ("x",)}, "--ef-construction"),
        ({"sla_ms": "1", "ef_search": ("64",)}, "ef_search: no hnsw is measured; add it to --kind"),
        (
            {"sla_ms": "1", "family": "winnowing", "kind": "hnsw", "m": ("winnowing=8",)},
            "winnowing is not searched as hnsw",
        ),
    ],
)
def test_bad_flags_are_named(flags, expected):
    found = problems(flags)
    assert any(expected in line for line in found), found
    assert all("\n" not in line for line in found)


def test_a_mistake_that_concerns_every_family_is_told_once():
    assert problems({"sla_ms": "1", "kind": "hnsw", "m": ("1",)}) == ("m: takes 2 to 512, not 1",)


def test_all_mistakes_are_told_at_once():
    found = problems({"sla_ms": "x", "cutoff": "0", "backend": "solr", "num_tables": ("a",)})
    assert len(found) == 4


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"sla_ms: 1\nnum_table: [5]\n", "num_table: unknown setting; did you mean num_tables?"),
        (b"sla_ms: 1\nbackend: []\n", "backend"),
        (b"sla_ms: 1\nnum_tables: {simhash: []}\n", "num_tables: give at least one size"),
        (b"sla_ms: true\n", "true and false are not numbers"),
        (b"sla_ms: 1\nnum_tables: [true]\n", "num_tables"),
        (b"sla_ms: 1\ncutoff: 3.9\n", "cutoff"),
        (b"- 1\n- 2\n", "expected `name: value`"),
        (b"a: [1\nb: 2\n", "line"),
        (b"\xff\xfe\x00binary", "not a text file"),
    ],
)
def test_bad_yaml_is_named(tmp_path, content, expected):
    path = tmp_path / "study.yaml"
    path.write_bytes(content)
    found = problems({}, path)
    assert any(expected in line for line in found), found


def test_a_password_may_come_from_the_environment_or_a_file(tmp_path, monkeypatch):
    url = "http://user:secret@127.0.0.1:9200"
    path = tmp_path / "study.yaml"
    path.write_text(f"sla_ms: 1\nopensearch_url: {url}\n")
    monkeypatch.setenv("HARNESS_OPENSEARCH_URL", url)
    for study in (study_config({}, path), study_config({"sla_ms": "1"})):
        access = study.access("opensearch")
        assert (access.user, access.password) == ("user", "secret")
        assert study.opensearch_url == access.url == "http://127.0.0.1:9200"
        assert "secret" not in repr(study) + study.model_dump_json()
    (line,) = problems({"sla_ms": "1", "opensearch_url": url})
    assert "secret" not in line


def test_a_missing_configuration_is_named(tmp_path):
    assert "No such file" in problems({"sla_ms": "1"}, tmp_path / "none.yaml")[0]
    assert str(tmp_path) in problems({"sla_ms": "1"}, tmp_path)[0]


@pytest.mark.parametrize("flags", [{"family": "simhash,lsh"}, {"reference": "cosine"}])
def test_vectors_serve_a_family_or_the_reference(flags):
    assert study_config({"sla_ms": "1", "vectors": "a.npy", **flags}).vectors == "a.npy"


def test_flags_of_vectors_make_their_source():
    flags = {"sla_ms": "1", "family": "lsh", "model": "m", "batch_size": "4"}
    made = study_config(flags).vector_source
    assert (made.model, made.batch_size, made.vectors) == ("m", 4, None)
