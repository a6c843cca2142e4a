"""What the image is built from is there, and nothing else is sent to the builder."""

import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
IGNORED = (ROOT / ".dockerignore").read_text().split()
COPIED = {
    source
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
    for source in shlex.split(line)[:-1]
}


def test_what_is_copied_is_there_and_let_in():
    let_in = {line.removeprefix("!") for line in IGNORED if line.startswith("!")}
    assert all((ROOT / source).exists() for source in COPIED)
    assert {source.partition("/")[0] for source in COPIED} == let_in
    assert IGNORED[IGNORED.index("*") :][0] == "*"


def test_the_base_is_pinned_and_the_user_is_not_root():
    (version,) = re.findall(r"^ARG PYTHON=(\S+)$", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"3\.\d+\.\d+-slim-\w+", version)
    stages = DOCKERFILE.split("\nFROM ")[1:]
    assert [stage.splitlines()[0] for stage in stages] == [
        "python:${PYTHON} AS build",
        "python:${PYTHON}",
    ]
    assert re.findall(r"^USER (\w+)$", stages[1], re.MULTILINE) == ["harness"]
    assert 'ENTRYPOINT ["harness"]' in stages[1]


def test_dependencies_are_those_of_the_lock_file():
    assert "--require-hashes --only-binary :all: --requirement requirements.lock" in DOCKERFILE
    assert "--no-deps --no-build-isolation ." in DOCKERFILE


def test_an_installed_package_holds_the_compose_files(tmp_path):
    pytest.importorskip("hatchling", reason="hatchling builds the package: pip install hatchling")
    build = "from hatchling.build import build_wheel, build_sdist; import sys; "
    for kind in ("wheel", "sdist"):
        call = f"build_{kind}(sys.argv[1])"
        command = [sys.executable, "-c", build + call, str(tmp_path)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    (source,) = tmp_path.glob("*.tar.gz")
    files = {path.name: path.read_bytes() for path in (ROOT / "docker").glob("*search*.yaml")}
    with zipfile.ZipFile(wheel) as archive:
        for name, content in files.items():
            assert archive.read(f"harness/engine/compose/{name}") == content
        archive.extractall(tmp_path / "installed")
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
        assert {f"docker/{name}" for name in files} <= held
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "from harness.engine.flavours import *; print(clusters(None)[1].file)",
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
        check=True,
    )
    found = tmp_path / "installed" / "harness" / "engine" / "compose" / "opensearch-three.yaml"
    assert told.stdout.strip() == str(found)
