"""Flags, a study, a file and the environment become one way in; what contradicts is told."""

import os
from base64 import b64encode

import pytest
import yaml
from elastic_transport.client_utils import parse_cloud_id

from harness.access import engine_access
from harness.access_file import read_credentials
from harness.cloud_id import cloud_url
from harness.config_sources import study_config
from harness.load.options import load_options
from indexers.errors import SettingError
from indexers.index_types import BackendConfig

URL = "https://search.example:9200"
SECRET = "hunter2-and-more"


@pytest.fixture(autouse=True)
def _nothing_given(monkeypatch):
    for engine in ("OPENSEARCH", "ELASTICSEARCH"):
        for name in ("URL", "USER", "PASSWORD", "API_KEY", "CA", "CLOUD_ID"):
            monkeypatch.delenv(f"HARNESS_{engine}_{name}", raising=False)
    monkeypatch.delenv("HARNESS_CREDENTIALS", raising=False)


@pytest.fixture
def give(monkeypatch):
    """Sets OpenSearch's variables, or another engine's."""

    def to_environment(engine="opensearch", **values):
        for name, value in values.items():
            monkeypatch.setenv(f"HARNESS_{engine}_{name}".upper(), value)

    return to_environment


@pytest.fixture
def file(tmp_path):
    """Writes a file of credentials that only we can read."""

    def write(content, mode=0o600):
        path = tmp_path / "credentials.yaml"
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        path.chmod(mode)
        return path

    return write


def told(act, *arguments):
    with pytest.raises(SettingError) as caught:
        act(*arguments)
    for line in caught.value.problems:
        assert "\n" not in line
        assert SECRET not in line
    return caught.value.problems


def cloud(text, name="deployment:"):
    return name + b64encode(text.encode()).decode()


def test_without_anything_nothing_is_known():
    assert engine_access({}) == {}
    assert engine_access({"opensearch_url": None, "verify_tls": None}) == {}


def test_by_environment(give):
    give(url=URL, user="u", password=SECRET)
    give("elasticsearch", url="http://localhost:9200", api_key="id:key")
    assert engine_access({}) == {
        "opensearch": BackendConfig(url=URL, user="u", password=SECRET),
        "elasticsearch": BackendConfig(url="http://localhost:9200", api_key="aWQ6a2V5"),
    }


def test_by_file(file):
    path = file({"opensearch": {"url": URL, "user": "u", "password": SECRET}})
    known = {"opensearch": BackendConfig(url=URL, user="u", password=SECRET)}
    assert engine_access({"credentials": str(path)}) == known


def test_a_url_with_credentials_is_taken_apart(give):
    give(url="https://u:p%40w@search.example:9200")
    assert engine_access({}) == {"opensearch": BackendConfig(url=URL, user="u", password="p@w")}
    # another server is no place for them
    assert engine_access({"opensearch_url": "http://127.0.0.1:1"})["opensearch"].user is None


def test_flags_before_the_study_before_the_file_before_the_environment(give, file):
    give(url="http://environment", user="environment", password=SECRET)
    path = str(file({"opensearch": {"user": "file"}}))
    flags, study = {"opensearch_url": "http://flag"}, {"opensearch_url": "http://study"}
    found = engine_access({**flags, "credentials": path}, study)["opensearch"]
    assert (found.url, found.user, found.password) == ("http://flag", "file", SECRET)
    assert engine_access({}, study)["opensearch"].url == "http://study"
    path = str(file({"opensearch": {"url": "http://file"}}))
    assert engine_access({"credentials": path})["opensearch"].url == "http://file"
    assert engine_access({}, {"credentials": path})["opensearch"].url == "http://file"
    assert engine_access({})["opensearch"].url == "http://environment"


def test_the_environment_names_a_file(file, monkeypatch):
    monkeypatch.setenv("HARNESS_CREDENTIALS", str(file({"opensearch": {"url": URL}})))
    assert engine_access({})["opensearch"].url == URL


@pytest.mark.parametrize(
    ("values", "both"),
    [
        (
            {"user": "u", "password": SECRET, "api_key": SECRET},
            ("HARNESS_OPENSEARCH_USER", "HARNESS_OPENSEARCH_API_KEY"),
        ),
        (
            {"url": f"https://u:{SECRET}@h", "api_key": SECRET},
            ("the user in HARNESS_OPENSEARCH_URL", "HARNESS_OPENSEARCH_API_KEY"),
        ),
        (
            {"url": f"https://u:{SECRET}@h", "user": "v", "password": SECRET},
            ("the user in HARNESS_OPENSEARCH_URL", "HARNESS_OPENSEARCH_USER"),
        ),
    ],
)
def test_two_ways_of_proving_who_one_is_are_both_named(give, values, both):
    give(**{"url": URL, **values})
    (line,) = told(engine_access, {})
    assert line.startswith(f"{both[0]} and {both[1]} are given: ")


def test_two_ways_in_two_places_are_both_named(give, file):
    give(url=URL, user="u", password=SECRET)
    path = file({"opensearch": {"api_key": SECRET}})
    (line,) = told(engine_access, {"credentials": str(path)})
    assert line.startswith("HARNESS_OPENSEARCH_USER and api_key in the file are given: ")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"user": "u"}, "HARNESS_OPENSEARCH_USER is given without a password: set HARNESS_OPENSE"),
        ({"password": SECRET}, "HARNESS_OPENSEARCH_PASSWORD is given without a user: set HARNESS_"),
        ({"user": "u:v", "password": SECRET}, "a user's name holds no colon"),
        ({"user": "u", "password": f"{SECRET}\r\nX: y"}, "HARNESS_OPENSEARCH_PASSWORD holds a lin"),
        ({"api_key": f"{SECRET}\r\nX: y"}, "HARNESS_OPENSEARCH_API_KEY: an API key is one line"),
        ({"cloud_id": "a:b"}, "cloud ids are Elasticsearch's; give a URL"),
        ({"ca": "/no/such.pem"}, "HARNESS_OPENSEARCH_CA: CA file /no/such.pem: No such file"),
        ({"url": f"ftp://u:{SECRET}@h"}, "opensearch URL 'ftp://***@h' is not understood"),
        ({"url": "http://h", "ca": "/c.pem"}, "HARNESS_OPENSEARCH_CA is given, and http://h:80 is"),
    ],
)
def test_what_cannot_be_is_told(give, values, expected):
    give(**{"url": URL, **values})
    (line,) = told(engine_access, {})
    assert expected in line


def test_everything_is_told_at_once(give):
    give(url=URL, user="u")
    give("elasticsearch", url="h:1")
    found = told(study_config, {"sla_ms": "-1", "backend": "elasticsearch"})
    assert len(found) == 3
    assert ["without a password" in line for line in found] == [True, False, False]


def test_what_is_left_of_a_key_from_a_file_is_not_its_line_end(give):
    give(url=URL, api_key="abc123==\n")
    assert engine_access({})["opensearch"].api_key == "abc123=="


def test_a_ca_is_a_pem_file_of_a_server_that_is_named(tmp_path):
    path = tmp_path / "ca.pem"
    path.write_text("-----BEGIN NOTHING-----\n")
    flags = {"opensearch_url": URL, "opensearch_ca": str(path)}
    (line,) = told(engine_access, flags)
    assert line.startswith(f"--opensearch-ca: CA file {path} holds no certificate: give a PEM file")
    (line,) = told(engine_access, {"opensearch_ca": str(path)})
    assert "--opensearch-ca belongs to a server: name it with --opensearch-url" in line
    (line,) = told(engine_access, {**flags, "verify_tls": False})
    assert line == "--opensearch-ca and --no-verify-tls are given: leave one out"


def test_a_file_s_credentials_are_for_the_file_s_server(file):
    access = {"opensearch": {"url": URL, "user": "u", "password": SECRET}}
    flags = {"credentials": str(file(access)), "opensearch_url": "https://other.example"}
    (line,) = told(engine_access, flags)
    assert line.startswith("--opensearch-url names another opensearch than the file")
    same = engine_access({**flags, "opensearch_url": "https://search.example:9200/path"})
    assert same["opensearch"].user == "u"


def test_tls_is_verified_unless_told_otherwise(give):
    give(url=URL)
    assert engine_access({})["opensearch"].verify_tls
    assert not engine_access({"verify_tls": False})["opensearch"].verify_tls
    assert not engine_access({}, {"verify_tls": False})["opensearch"].verify_tls
    assert not load_options({"study": "s", "verify_tls": False}).access["opensearch"].verify_tls
    study = study_config({"sla_ms": "1", "verify_tls": False})
    assert not study.access("opensearch").verify_tls


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("- a\n", "expected an engine (opensearch, elasticsearch)"),
        (f"solr: {{password: {SECRET}}}\n", "expected an engine (opensearch, elasticsearch)"),
        (f"opensearch: {SECRET}\n", "expected an engine (opensearch, elasticsearch)"),
        (f"opensearch: {{passwort: {SECRET}}}\n", "opensearch: passwort is unknown: known are"),
        ("opensearch: {password: 12345}\n", "opensearch: password: expected a text; put it into"),
        (f"opensearch: {{password: [{SECRET}]}}\n", "expected a text; put it into quotes"),
        (f"opensearch: {{password: '{SECRET}\n", "line 2: not YAML"),
        (f"a: *{SECRET}\n", "line 1: not YAML"),
    ],
)
def test_a_file_of_something_else(file, content, expected):
    path = file(content)
    (line,) = told(read_credentials, path)
    assert line.startswith(f"credentials {path}")
    assert expected in line


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o610])
def test_a_file_that_others_can_reach(file, mode):
    path = file({"opensearch": {"password": SECRET}}, mode)
    (line,) = told(read_credentials, path)
    assert line.endswith(f"can be read or changed by others (mode {mode:04o}): chmod 600 {path}")


def test_a_file_that_is_none(tmp_path):
    (line,) = told(read_credentials, tmp_path / "none")
    assert line == f"credentials {tmp_path / 'none'}: No such file or directory"
    (line,) = told(read_credentials, tmp_path)
    assert line == f"credentials {tmp_path}: Is a directory"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    (line,) = told(read_credentials, pipe)
    assert line == f"credentials {pipe}: expected a small file of YAML"


def test_a_ca_in_a_file_is_found_beside_it(file):
    path = file({"opensearch": {"ca_file": "ca.pem"}, "elasticsearch": {"ca_file": "/x/ca.pem"}})
    found = read_credentials(path)
    assert found["opensearch"]["ca_file"] == str(path.parent / "ca.pem")
    assert found["elasticsearch"]["ca_file"] == "/x/ca.pem"


@pytest.mark.parametrize(
    "text",
    [
        "us-east-1.aws.example.io$cec6f261a74bf24ce33bb8811b84294f$c6c2ca6d042249af0cc7d7a9e962574",
        "eu.example.io:9243$abc123$",
        "eu.example.io$abc123",
    ],
)
@pytest.mark.parametrize("name", ["deployment:", ":"])
def test_cloud_ids_as_elastic_s_own_client_reads_them(text, name):
    host, port = parse_cloud_id(cloud(text, name)).es_address
    assert cloud_url(cloud(text, name)) == f"https://{host}:{port}"


def test_the_cloud_id_takes_the_place_of_a_url(give):
    give("elasticsearch", cloud_id=cloud("eu.example.io$abc$def"), api_key=SECRET)
    found = study_config({"sla_ms": "1", "backend": "elasticsearch"})
    assert found.elasticsearch_url == "https://abc.eu.example.io:443"
    assert found.access("elasticsearch").api_key == SECRET
    give("elasticsearch", url=URL)
    (line,) = told(engine_access, {})
    assert line.startswith("HARNESS_ELASTICSEARCH_URL and HARNESS_ELASTICSEARCH_CLOUD_ID are given")


def test_a_port_of_the_part_itself_wins():
    assert cloud_url(cloud("eu.example.io:9243$abc:9250$def")) == "https://abc.eu.example.io:9250"


@pytest.mark.parametrize(
    "bad",
    ["name:%%%", cloud("hostonly"), cloud("$abc"), cloud("h$"), cloud("h/x$abc"), "name:", "ü:ü"],
)
def test_bad_cloud_ids(give, bad):
    give("elasticsearch", cloud_id=bad)
    (line,) = told(engine_access, {})
    assert line.startswith("HARNESS_ELASTICSEARCH_CLOUD_ID: the cloud id is not understood")
