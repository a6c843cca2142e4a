"""The scripts that start test nodes: what they do without starting one."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def load(name):
    """A file of this folder, which is on no path here."""
    spec = importlib.util.spec_from_file_location(f"script_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclass looks for what it is made of
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def node_module(monkeypatch):
    module = load("_node")
    monkeypatch.setitem(sys.modules, "_node", module)
    return module


@pytest.fixture(params=["opensearch", "elasticsearch"])
def script(request, node_module):
    """Either script; it imports what it shares from its own folder."""
    del node_module
    return load(request.param)


@pytest.fixture
def opensearch(node_module):
    del node_module
    return load("opensearch")


@pytest.fixture
def elasticsearch(node_module):
    del node_module
    return load("elasticsearch")


def fake_java(folder, version, jdk=True):
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2021-01-01' >&2\n")
    java.chmod(0o755)
    if jdk:
        java.with_name("jlink").touch()
    return java


@pytest.mark.parametrize(("version", "major"), [("1.8.0_392", 8), ("17.0.1", 17), ("25", 25)])
def test_java_version(node_module, tmp_path, version, major):
    assert node_module.java_version(fake_java(tmp_path, version)) == major


def test_java_that_does_not_fit_is_passed_over(script, node_module, tmp_path, monkeypatch):
    unfit = {"opensearch": ("25.0.1", True), "elasticsearch": ("21.0.2", False)}
    java = fake_java(tmp_path / "unfit", *unfit[script.ENGINE.name])
    monkeypatch.setenv("HARNESS_JAVA", str(java.parent.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "absent"))
    fits = fake_java(tmp_path / "fits", "21.0.2")
    monkeypatch.setenv("PATH", f"{fits.parent}:{os.environ['PATH']}")
    assert node_module.find_java(script.ENGINE) == fits


TOLD = {
    "opensearch": "no Java 11 to 23 ({} is 9): install OpenJDK 17, or name one in HARNESS_JAVA",
    "elasticsearch": "no JDK 21 to 99 ({} is 9): install OpenJDK 21, or name one in HARNESS_JAVA",
}


def test_no_java_is_not_available_here(script, node_module, tmp_path, monkeypatch, capsys):
    java, name = fake_java(tmp_path / "old", "9"), script.ENGINE.name
    monkeypatch.setattr(node_module, "java_candidates", lambda: iter([java, tmp_path / "absent"]))
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "up", "--home", str(tmp_path / "home")])
    assert node_module.main(script.ENGINE) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"{name}.py: {TOLD[name].format(java)}\n"


def test_no_maven_is_not_available_here(script, node_module, tmp_path, monkeypatch, capsys):
    java, name = fake_java(tmp_path / "java", "21.0.1"), script.ENGINE.name
    monkeypatch.setattr(node_module, "java_candidates", lambda: iter([java]))
    monkeypatch.setattr(node_module.shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "up", "--home", str(tmp_path / "home")])
    assert node_module.main(script.ENGINE) == 3
    assert capsys.readouterr().err.startswith(f"{name}.py: no Maven")


def test_a_plugin_is_unpacked_by_its_name(opensearch, tmp_path):
    (tmp_path / "lib").mkdir()
    archive = tmp_path / "lib" / "opensearch-knn-2.19.1.0.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("plugin-descriptor.properties", "name=knn")
    opensearch.unpack_plugin(tmp_path, archive)
    folder = tmp_path / "plugins" / "opensearch-knn"
    assert (folder / "plugin-descriptor.properties").read_text() == "name=knn"
    assert not archive.exists()


def test_only_the_server_is_taken_out_of_the_archive(elasticsearch, tmp_path):
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("product-1/elasticsearch/lib/server.jar", "x")
        made.writestr("product-1/elasticsearch/modules/", "")
        made.writestr("product-1/web/index.html", "y")
    elasticsearch.unpack(archive, tmp_path / "layout")
    files = [path for path in (tmp_path / "layout").rglob("*") if path.is_file()]
    assert files == [tmp_path / "layout/lib/server.jar"]
    assert (tmp_path / "layout/plugins").is_dir()


def test_an_archive_that_is_another_is_refused(elasticsearch, node_module, tmp_path, monkeypatch):
    def fetch(*arguments):
        folder = Path(arguments[-2].partition("=")[2])
        folder.mkdir()
        (folder / "product.zip").write_bytes(b"other")

    monkeypatch.setattr(node_module, "maven", fetch)
    with pytest.raises(node_module.EngineError, match="is not what it was"):
        elasticsearch.resolve(tmp_path, tmp_path / "java")


def test_a_pid_that_is_another_process_is_left_alone(script, node_module, tmp_path):
    node = tmp_path / "node-19999"
    node.mkdir()
    other = subprocess.Popen(["sleep", "60"])
    try:
        (node / "pid").write_text(str(other.pid))
        assert node_module.running(script.ENGINE, node) is None
        node_module.down(script.ENGINE, tmp_path, 19999)
        assert other.poll() is None
        assert not (node / "pid").exists()
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("name", ["opensearch", "elasticsearch"])
def test_nothing_runs_in_an_empty_home(name, tmp_path):
    def run(*arguments):
        command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run("status", "--home", str(tmp_path)).returncode == 1
    assert run("down", "--home", str(tmp_path)).returncode == 0
    assert run("up", "--port", "70000").returncode == 2
