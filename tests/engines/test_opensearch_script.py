"""The script that starts test nodes: what it does without starting one."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("opensearch.py")


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("opensearch_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fake_java(folder, version):
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2021-01-01' >&2\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize(("version", "major"), [("1.8.0_392", 8), ("17.0.1", 17), ("25", 25)])
def test_java_version(script, tmp_path, version, major):
    assert script.java_version(fake_java(tmp_path, version)) == major


def test_java_that_does_not_fit_is_passed_over(script, tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_JAVA", str(fake_java(tmp_path / "new", "25.0.1").parent.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "absent"))
    fits = fake_java(tmp_path / "fits", "21.0.2")
    monkeypatch.setenv("PATH", f"{fits.parent}:{os.environ['PATH']}")
    assert script.find_java() == fits


def test_no_java_is_not_available_here(script, tmp_path, monkeypatch, capsys):
    java = fake_java(tmp_path / "new", "25.0.1")
    monkeypatch.setattr(script, "java_candidates", lambda: iter([java, tmp_path / "absent"]))
    monkeypatch.setattr(sys, "argv", ["opensearch.py", "up", "--home", str(tmp_path / "home")])
    assert script.main() == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        f"opensearch.py: no Java 11 to 23 ({java} is 25): install OpenJDK 17, or name one in "
        "HARNESS_JAVA\n"
    )


def test_no_maven_is_not_available_here(script, tmp_path, monkeypatch, capsys):
    java = fake_java(tmp_path / "java", "17.0.1")
    monkeypatch.setattr(script, "java_candidates", lambda: iter([java]))
    monkeypatch.setattr(script.shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["opensearch.py", "up", "--home", str(tmp_path / "home")])
    assert script.main() == 3
    assert capsys.readouterr().err.startswith("opensearch.py: no Maven")


def test_a_plugin_is_unpacked_by_its_name(script, tmp_path):
    (tmp_path / "lib").mkdir()
    archive = tmp_path / "lib" / "opensearch-knn-2.19.1.0.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("plugin-descriptor.properties", "name=knn")
    script.unpack_plugin(tmp_path, archive)
    folder = tmp_path / "plugins" / "opensearch-knn"
    assert (folder / "plugin-descriptor.properties").read_text() == "name=knn"
    assert not archive.exists()


def test_a_pid_that_is_another_process_is_left_alone(script, tmp_path):
    node = tmp_path / "node-19999"
    node.mkdir()
    other = subprocess.Popen(["sleep", "60"])
    try:
        (node / "pid").write_text(str(other.pid))
        assert script.running(node) is None
        script.down(tmp_path, 19999)
        assert other.poll() is None
        assert not (node / "pid").exists()
    finally:
        other.kill()
        other.wait()


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False
    )


def test_nothing_runs_in_an_empty_home(tmp_path):
    assert run("status", "--home", str(tmp_path)).returncode == 1
    assert run("down", "--home", str(tmp_path)).returncode == 0
    assert run("up", "--port", "70000").returncode == 2
