"""Starts and stops a real Elasticsearch node on 127.0.0.1 for the tests, without Docker.

    elasticsearch.py up [--port P] [--home DIR] [--heap 1g] [--keep] [--setting K=V]...
                                    starts it with these settings and prints its URL
    elasticsearch.py down [--port P] [--home DIR]
    elasticsearch.py status [--port P] [--home DIR]                     URL, pid and state

Needs a whole JDK from 21 on (looked for in HARNESS_JAVA, JAVA_HOME, PATH, /usr/lib/jvm) and Maven.
The server comes out of a distribution of SonarQube, the one archive of Maven Central that holds
it: 0.95 GB are fetched once, 190 MB of them are kept. It is under the Elastic License 2.0 and is
not part of this project. What this shares with other engines' scripts is in `_node.py`.
"""

from __future__ import annotations

import hashlib
import shutil
import socket
import sys
import zipfile
from pathlib import Path

import _node

POM = Path(__file__).with_name("elasticsearch-pom.xml")
SHA256 = "b7306f5ecfa6806753bc0eb0dc4ea11fe0ddd2c5a346592718814d6ec35b88cb"
LAUNCHER = "org.elasticsearch.server.launcher.ServerLauncher"


def resolve(layout: Path, java: Path) -> None:
    """Fetch the archive and keep the server in it."""
    fetched = layout / "fetched"
    _node.maven(
        *(POM, java, "-C", "dependency:copy-dependencies"),
        *(f"-DoutputDirectory={fetched}", f"-Dmaven.repo.local={layout / 'repository'}"),
    )
    (archive,) = fetched.glob("*.zip")
    with archive.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise _node.EngineError(f"{archive.name} is not what it was: SHA-256 {found}")
    unpack(archive, layout)
    for name in ("fetched", "repository"):  # a gigabyte that is needed no more
        shutil.rmtree(layout / name)


def unpack(archive: Path, layout: Path) -> None:
    """Take the server out of the archive."""
    with zipfile.ZipFile(archive) as whole:
        for entry in whole.infolist():
            _, _, path = entry.filename.partition("/elasticsearch/")
            if path and not entry.is_dir():
                target = layout / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with whole.open(entry) as source, target.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
    for name in ("plugins", "logs"):
        (layout / name).mkdir(exist_ok=True)


def configure(node: Path, layout: Path, settings: dict[str, object], heap: str) -> None:
    """Write node/config."""
    folder = node / "config"
    open_to_all = {"xpack.security.enabled": "false"}
    (folder / "elasticsearch.yml").write_text(_node.yaml_lines(settings | open_to_all))
    for name in ("log4j2.properties", "jvm.options"):
        shutil.copyfile(layout / "config" / name, folder / name)
    (folder / "jvm.options.d").mkdir()
    options = f"-Xms{heap}\n-Xmx{heap}\n{mark(node)}\n"
    (folder / "jvm.options.d/node.options").write_text(options)


def launch(node: Path, layout: Path, java: Path, heap: str) -> int:
    """Start the server by its launcher, which ends when the server is up; gives the pid."""
    del heap
    pid = node / "tmp/pid"
    pid.unlink(missing_ok=True)
    environment = {
        "ES_HOME": str(layout),
        "ES_JAVA_HOME": str(java.parent.parent),
        "ES_PATH_CONF": str(node / "config"),
        "ES_TMPDIR": str(node / "tmp"),
        "ES_DISTRIBUTION_TYPE": "zip",
        "JAVA": str(java),
        "JAVA_TYPE": "ES_JAVA_HOME",
        "HOSTNAME": socket.gethostname(),
    }
    flags = ["-Xms4m", "-Xmx64m", "-XX:+UseSerialGC"]
    classes = ["-cp", f"{layout}/lib/tools/server-launcher/*", LAUNCHER]
    launcher = _node.spawn(node, [java, *flags, *classes, "-d", "-p", pid], environment, layout)
    if launcher.wait(timeout=_node.START_LIMIT_S):
        raise _node.EngineError(f"the node died while starting: see {node / 'logs'}")
    return int(pid.read_text())


def mark(node: Path) -> str:
    """What the command line of this node's process has."""
    return f"-Dharness.node={node}/"


ENGINE = _node.Engine(
    name="elasticsearch",
    title="Elasticsearch",
    port=19201,
    java=range(21, 100),
    java_hint="OpenJDK 21",
    whole_jdk=True,  # the server asks for jdk.jlink
    files=(POM, Path(__file__)),
    resolve=resolve,
    configure=configure,
    launch=launch,
    mark=mark,
)

if __name__ == "__main__":
    sys.exit(_node.main(ENGINE))
