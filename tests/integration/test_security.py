"""TLS, users and API keys before real engines: every command gets in, and no secret gets out."""

import contextlib
import gzip
import json
import logging
import os
import secrets
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import yaml

from indexers import registry
from indexers.errors import BackendError, EngineUnavailable
from indexers.index_types import BackendConfig
from loadtest.profile import AttachedIndex, LoadProfile
from loadtest.runner import LoadRunner

pytestmark = pytest.mark.engine
COMMAND = Path(sys.executable).with_name("harness")
SMALL = (
    *("--corpus", "catalogue:200", "--family", "simhash", "--kind", "lsh"),
    *("--num-tables", "4", "--hash-length", "8", "--rate", "50"),
)
QUICK = "burst_s: 0.1\nsamples: 100\nsla_ms: 60000\n"
RAN = (0, 3)
"""Exit codes of what ran to its end, whatever a busy machine made of the SLA."""
MINE = "security-test"


@pytest.fixture(autouse=True)
def _nothing_given(proxy, monkeypatch):
    """Only what a test gives opens anything; `proxy` has found its engine by then."""
    del proxy
    for name in os.environ:
        if name.startswith(("HARNESS_OPENSEARCH", "HARNESS_ELASTICSEARCH", "HARNESS_CREDENTIALS")):
            monkeypatch.delenv(name)


@pytest.fixture
def give(engine, monkeypatch):
    """Sets this engine's variables: `give(user=…, ca=…)`."""

    def to_environment(**values):
        for name, value in values.items():
            monkeypatch.setenv(f"HARNESS_{engine}_{name}".upper(), str(value))

    return to_environment


@pytest.fixture
def harness(proxy):
    """Runs a command to its end while looking who could see its secrets."""

    def run(*arguments, expect=0):
        command = [str(COMMAND), *map(str, arguments)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        end = time.monotonic() + 240
        while True:
            if time.monotonic() > end:
                process.kill()
            for line in command_lines():
                assert_no_secret(proxy, line, "the list of processes")
            with contextlib.suppress(subprocess.TimeoutExpired):
                out, errors = process.communicate(timeout=0.5)
                break
        expected = (expect,) if isinstance(expect, int) else expect
        assert process.returncode in expected, errors.decode()[-2000:]
        assert b"Traceback" not in errors
        assert_no_secret(proxy, out, "stdout")
        assert_no_secret(proxy, errors, "stderr")
        return out.decode(), errors.decode()

    return run


@pytest.fixture
def index(request):
    """Someone's index with one document, behind the lock."""
    node = request.getfixturevalue("node")
    name = f"{MINE}-{secrets.token_hex(4)}"
    node("PUT", f"/{name}/_doc/1?refresh=true", {"title": "a lamp"})
    yield name
    node("DELETE", f"/{name}")


def command_lines():
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield entry.read_bytes()


def assert_no_secret(proxy, content, where):
    for secret in proxy.secrets:
        assert secret not in content, f"a secret in {where}"


def assert_no_secret_below(proxy, folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"study.sqlite", "summary.json", "report.html"} <= {path.name for path in files}
    for path in files:
        content = path.read_bytes()
        plain = gzip.decompress(content) if path.suffix == ".gz" else content
        assert_no_secret(proxy, plain, path)


def tune(tmp_path, engine, *more):
    (tmp_path / "quick.yaml").write_text(QUICK)
    config = ("--config", tmp_path / "quick.yaml", "--out", tmp_path / "study")
    return ("tune", "--backend", engine, *config, *SMALL, *more)


def bodies(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_bytes(orjson.dumps({"query": {"match": {"title": "lamp"}}}))
    return path


def answered(figures):
    """Requests that got an answer; on a busy machine some may come too late."""
    found = json.loads(figures)
    return found["load"]["requests"] - found["errors"]


@pytest.mark.parametrize("engine", ["elasticsearch"])
def test_every_command_gets_in_with_a_password(engine, proxy, give, harness, tmp_path):
    give(user=proxy.user, password=proxy.password)
    place = (f"--{engine}-url", proxy.good, f"--{engine}-ca", proxy.ca)
    summary = json.loads(harness(*tune(tmp_path, engine, *place), "--json", expect=RAN)[0])
    (trial,) = summary["trials"]
    assert (trial["status"], trial["setting"]["backend"]) == ("ok", engine)
    # the study knows its authority; credentials go to a server that is named
    give(url=proxy.good)
    load = ("load", "--study", tmp_path / "study", "--key", trial["key"], "--duration", 2)
    assert answered(harness(*load, "--json", expect=RAN)[0]) > 0
    left = json.loads(harness("clean", "--json", *place, "--reports", tmp_path)[0])
    assert not [one for one in left["indices"] if one["index"].startswith(summary["study"])]
    assert_no_secret_below(proxy, tmp_path / "study")


@pytest.mark.parametrize("engine", ["opensearch"])
def test_every_command_gets_in_with_an_api_key(engine, proxy, harness, index, tmp_path):
    path = tmp_path / "credentials.yaml"
    access = {"url": proxy.good, "api_key": proxy.api_key, "ca_file": str(proxy.ca)}
    path.write_text(yaml.safe_dump({engine: access}))
    told = harness("clean", "--json", "--credentials", path, expect=2)[1]
    assert f"can be read or changed by others (mode 0644): chmod 600 {path}" in told
    path.chmod(0o600)
    by_file = ("--credentials", path)
    summary = json.loads(harness(*tune(tmp_path, engine, *by_file), "--json", expect=RAN)[0])
    assert [trial["status"] for trial in summary["trials"]] == ["ok"]
    attached = ("load", "--index", index, "--queries", bodies(tmp_path), "--rate", 20)
    attached += ("--duration", 2, "--sla-ms", 60000)
    # one server: the other has no URL
    assert answered(harness(*attached, "--json", *by_file, expect=RAN)[0]) > 0
    harness("clean", "--json", *by_file, "--reports", tmp_path)
    assert_no_secret_below(proxy, tmp_path / "study")


def test_trust_without_looking_is_told(engine, proxy, give, harness, tmp_path):
    give(url=proxy.elsewhere, api_key=proxy.api_key)
    warning = f"the certificate of {proxy.elsewhere} is not verified"
    assert warning in harness(*tune(tmp_path, engine, "--no-verify-tls"), expect=RAN)[1]
    assert warning in (tmp_path / "study" / "report.md").read_text()
    assert warning in harness("clean", "--json", "--no-verify-tls", "--reports", tmp_path)[1]
    # it is told to a command, never remembered
    again = harness(*tune(tmp_path, engine, "--fresh"), expect=2)[1]
    assert "not signed by an authority known here" in again


def access(proxy, **changes):
    usual = {"user": proxy.user, "password": proxy.password, "ca_file": str(proxy.ca)}
    return BackendConfig(**{"url": proxy.good, "timeout_s": 5, **usual, **changes})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"password": "wrong-password"}, "does not take this user and password"),
        ({"user": None, "api_key": "d3JvbmctaWQ6d3Jvbmcta2V5"}, "does not take this API key"),
        ({"user": None}, "it wants credentials: give HARNESS_{ENGINE}_USER and "),
        ({"ca_file": None}, "not signed by an authority known here: give the PEM file of the "),
        ({"ca_file": "other"}, "not signed by the authorities in {other}: give the PEM file"),
        ({"url": "expired"}, "its certificate has expired: renew it on the server"),
        ({"url": "elsewhere"}, "made for another name than 127.0.0.1: write in the URL one"),
        ({"url": "http"}, "speaks https, not http: write https:// in its URL"),
        ({"url": "https"}, "it speaks http, not https: write http:// in its URL"),
        ({"user": None, "api_key": "powerless"}, "the user or key lacks a right: it needs to look"),
    ],
)
def test_what_does_not_fit_is_one_line(engine, proxy, changes, told):
    named = {
        **{"expired": proxy.expired, "elsewhere": proxy.elsewhere, "other": str(proxy.other_ca)},
        "http": proxy.good.replace("https", "http"),
        "https": proxy.engine_url.replace("http", "https"),
        "powerless": proxy.powerless_key,
    }
    config = access(proxy, **{name: named.get(value, value) for name, value in changes.items()})
    with pytest.raises(EngineUnavailable) as caught:
        registry.backend(engine)(config).check()
    line = str(caught.value)
    assert told.format(ENGINE=engine.upper(), other=proxy.other_ca) in line
    assert "\n" not in line
    assert_no_secret(proxy, line.encode(), "the error")
    assert "wrong-password" not in line
    assert "HARNESS_" not in line or f"HARNESS_{engine.upper()}" in line


@pytest.mark.parametrize("command", ["tune", "clean", "attached"])
def test_it_is_told_before_anything_is_built(
    engine, proxy, give, harness, index, tmp_path, command
):
    give(url=proxy.good, user=proxy.user, password="wrong-password", ca=proxy.ca)
    commands = {
        "tune": tune(tmp_path, engine),
        "clean": ("clean", "--reports", tmp_path),
        "attached": ("load", "--index", index, "--queries", bodies(tmp_path)),
    }
    told = harness(*commands[command], expect=2)[1]
    assert told.count("\n") == 1
    assert f"{proxy.good} does not let us in: it does not take this user and password" in told
    assert "wrong-password" not in told
    give(password=proxy.password, ca=proxy.other_ca)
    told = harness(*commands[command], expect=2)[1]
    assert told.count("\n") == 1
    assert f"not signed by the authorities in {proxy.other_ca}" in told


def test_the_clients_log_no_secret(engine, proxy, caplog):
    caplog.set_level(logging.DEBUG)
    by_key = {"user": None, "password": None, "api_key": proxy.api_key}
    for changes in ({}, by_key, {"password": "wrong-password"}, {"ca_file": str(proxy.other_ca)}):
        config = access(proxy, **changes)
        backend = registry.backend(engine)(config)
        with contextlib.suppress(EngineUnavailable):
            backend.check()
        with contextlib.suppress(BackendError):  # by the official client, past our own look
            backend.sweep()
        shown = f"{config!r} {backend._to!r} {backend._client!r}"
        assert_no_secret(proxy, shown.encode(), "a representation")
    assert "GET" in caplog.text
    assert_no_secret(proxy, caplog.text.encode(), "a log")
    assert "wrong-password" not in caplog.text


def test_the_clients_trust_the_file_alone(engine, proxy):
    client = registry.backend(engine)(access(proxy))._client
    if engine == "elasticsearch":
        assert client.transport.node_pool.get().pool.ca_certs == str(proxy.ca)
        return
    pool = client.transport.get_connection().pool
    assert pool.ca_certs is None
    assert len(pool.conn_kw["ssl_context"].get_ca_certs()) == 1


def test_the_load_process_looks_at_certificates_itself(engine, proxy, index):
    def run(config):
        target = AttachedIndex(engine, config, index, (b'{"query":{"match_all":{}}}',))
        return runner.run(target, LoadProfile(100, 50, 0.0, warmup_min=10, warmup_max_s=1))

    config = access(proxy)
    refused = ({"ca_file": str(proxy.other_ca)}, {"url": proxy.elsewhere}, {"ca_file": None})
    with LoadRunner() as runner:
        assert run(config).errors == 0
        assert run(replace(config, url=proxy.elsewhere, verify_tls=False, ca_file=None)).errors == 0
        for changes in refused:
            with pytest.raises(BackendError, match="CERTIFICATE_VERIFY_FAILED") as caught:
                run(replace(config, **changes))
            assert_no_secret(proxy, str(caught.value).encode(), "the error")
