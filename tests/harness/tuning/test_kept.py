"""A study's configuration comes back from its own file."""

from dataclasses import replace

import pytest

from harness.config_sources import study_config
from harness.tuning.kept import FACT, keep_config, kept_config, same_server
from harness.tuning.store import open_study
from indexers.errors import SettingError
from indexers.index_types import BackendConfig

URL = "http://127.0.0.1:9200"


@pytest.fixture
def store(tmp_path):
    with open_study(tmp_path / "study") as store:
        store.put_meta("standing", [])
        yield store


def kept(store, tmp_path, config, **access):
    keep_config(store, config)
    return kept_config(store, tmp_path, access)


def test_it_comes_back_as_it_was(store, tmp_path):
    flags = {"sla_ms": "50", "hash_length": ("simhash=8,12",), "rate": "300", "fields": "a,b"}
    config = study_config(flags)
    assert kept(store, tmp_path, config) == config.model_copy(update={"out": tmp_path})


def test_credentials_are_never_stored(store, tmp_path, monkeypatch):
    secret = "http://user:hunter2@127.0.0.1:9200"
    monkeypatch.setenv("HARNESS_OPENSEARCH_URL", secret)
    config = study_config({"sla_ms": 50, "backend": "opensearch"})
    assert kept(store, tmp_path, config).opensearch_url == URL
    assert b"hunter2" not in (tmp_path / "study" / "study.sqlite").read_bytes()
    # given again, they serve the same server and no other
    ours = config.access("opensearch")
    assert ours.password == "hunter2"
    assert kept(store, tmp_path, config, opensearch=ours).access("opensearch") == ours
    other = replace(ours, url="http://127.0.0.1:9999")
    found = kept(store, tmp_path, config, opensearch=other)
    assert found.access("opensearch") == BackendConfig(url=URL)


def test_the_file_of_authorities_is_kept_and_trust_without_one_is_not(store, tmp_path):
    made = study_config({"sla_ms": 50, "opensearch_url": "https://h"})
    reached = BackendConfig(url="https://h", ca_file="/ca.pem")
    config = made.with_access({"opensearch": reached})
    assert kept(store, tmp_path, config).access("opensearch") == reached
    today = BackendConfig(url="https://h", user="u", password="p")
    found = kept(store, tmp_path, config, opensearch=today).access("opensearch")
    assert found == replace(today, ca_file="/ca.pem")
    blind = replace(today, verify_tls=False)
    assert kept(store, tmp_path, config, opensearch=blind).access("opensearch") == blind
    config = made.with_access({"opensearch": replace(reached, ca_file=None, verify_tls=False)})
    assert kept(store, tmp_path, config).access("opensearch").verify_tls


def test_relative_paths_belong_to_where_tune_was_called(store, tmp_path, monkeypatch):
    (tmp_path / "docs.jsonl").write_text("{}")
    (tmp_path / "v.parquet").write_text("")
    monkeypatch.chdir(tmp_path)
    flags = {"corpus": "docs.jsonl", "vectors": "v.parquet:e", "family": "bihash"}
    config = study_config({"sla_ms": 50, **flags})
    keep_config(store, config)
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    found = kept_config(store, tmp_path, {})
    assert found.corpus == str(tmp_path / "docs.jsonl")
    assert found.vectors == str(tmp_path / "v.parquet:e")


def test_without_one_it_says_what_to_do(store, tmp_path):
    with pytest.raises(SettingError, match="`harness tune` command once more"):
        kept_config(store, tmp_path, {})
    store.put_meta(FACT, {"folder": ".", "values": {"sla_ms": 5, "no_such": 1}})
    with pytest.raises(SettingError, match=r"not understood.*no_such"):
        kept_config(store, tmp_path, {})


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("http://u:p@127.0.0.1:9200/", True),
        ("http://127.0.0.1:9201", False),
        ("https://127.0.0.1:9200", False),
        (None, False),
    ],
)
def test_same_server(other, same):
    assert same_server(URL, other) is same
