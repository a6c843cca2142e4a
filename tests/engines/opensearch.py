"""Starts and stops a real OpenSearch node on 127.0.0.1 for the tests, without Docker.

    opensearch.py up [--port P] [--home DIR] [--heap 1g] [--keep]    prints the node's URL
    opensearch.py down [--port P] [--home DIR]
    opensearch.py status [--port P] [--home DIR]                     URL, pid and state, one a line

Needs Java 11 to 23 (looked for in HARNESS_JAVA, JAVA_HOME, PATH, /usr/lib/jvm) and Maven, which
resolves `opensearch-pom.xml`. Nodes on different ports share one layout of the server's files and
run side by side. Called as root, the node runs as `nobody`: OpenSearch refuses to run as root.

Exit codes: 0 done; 1 it broke, or `status` found no running node; 2 bad arguments;
3 Java or Maven is not available here.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

POM = Path(__file__).with_name("opensearch-pom.xml")
DEFAULT_HOME = "/var/tmp/harness-opensearch"
DEFAULT_PORT = 19200
JAVA_VERSIONS = range(11, 24)  # 2.x needs a security manager, which Java 24 no longer has
START_LIMIT_S = 180.0
STOP_LIMIT_S = 30.0

# A server from artifacts has no modules folder: jars whose names match move out of lib/ to
# modules/NAME/, each with the descriptor and the permissions that a release would ship.
MODULES = {
    "transport-netty4": (
        r"(transport-netty4-client|netty-[a-z0-9-]+)-\d",
        (
            'java.net.SocketPermission "*", "accept,connect"',
            'java.lang.RuntimePermission "setContextClassLoader"',
            'java.lang.RuntimePermission "getClassLoader"',
        ),
    ),
    "lang-painless": (
        r"(lang-painless|opensearch-scripting-painless-spi|antlr4-runtime|asm|asm-[a-z]+)-\d",
        (
            'java.lang.RuntimePermission "createClassLoader"',
            'java.lang.RuntimePermission "getClassLoader"',
        ),
    ),
}
LOG4J = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


class EngineError(Exception):
    """The node could not be started or stopped."""


class NotAvailable(EngineError):
    """Java or Maven is missing; tests skip with this reason."""


# ---- Java and Maven


def java_version(java: Path) -> int | None:
    """Major version of a java command; None where it does not run."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found[1]) if found else None


def java_candidates() -> Iterator[Path]:
    """Where a java command may be, in order of preference."""
    if named := os.environ.get("HARNESS_JAVA"):
        path = Path(named)
        yield path / "bin/java" if path.is_dir() else path
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin/java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    yield from sorted(Path("/usr/lib/jvm").glob("*/bin/java"))


def find_java() -> Path:
    """The first java whose version the server can run on, links resolved."""
    seen: dict[Path, int | None] = {}
    for candidate in java_candidates():
        java = candidate.resolve()
        if java in seen or not java.is_file():
            continue
        seen[java] = java_version(java)
        if seen[java] in JAVA_VERSIONS:
            return java
    others = ", ".join(f"{java} is {version or 'broken'}" for java, version in seen.items())
    raise NotAvailable(
        f"no Java {JAVA_VERSIONS[0]} to {JAVA_VERSIONS[-1]} ({others or 'no Java at all'}): "
        "install OpenJDK 17, or name one in HARNESS_JAVA"
    )


def find_maven() -> str:
    """The mvn command."""
    if mvn := shutil.which("mvn"):
        return mvn
    raise NotAvailable("no Maven: install it so that mvn is on PATH")


# ---- the layout, shared by all nodes


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time; the lock goes with the process."""
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def move_module(layout: Path, name: str, jars: str, grants: tuple[str, ...], version: str) -> None:
    """Turn some jars of lib/ into one module."""
    folder = layout / "modules" / name
    folder.mkdir(parents=True)
    classes = []
    for jar in sorted((layout / "lib").glob("*.jar")):
        if re.match(jars, jar.name):
            with zipfile.ZipFile(jar.rename(folder / jar.name)) as archive:
                classes += archive.namelist()
    plugins = [c for c in classes if re.fullmatch(r"org/opensearch/.*Plugin\.class", c)]
    if len(plugins) != 1:
        raise EngineError(f"module {name}: expected one plugin class, found {plugins}")
    descriptor = {
        "name": name,
        "description": name,
        "version": version,
        "opensearch.version": version,
        "java.version": "11",
        "classname": plugins[0].removesuffix(".class").replace("/", "."),
        "extended.plugins": "",
        "has.native.controller": "false",
    }
    lines = "".join(f"{key}={value}\n" for key, value in descriptor.items())
    (folder / "plugin-descriptor.properties").write_text(lines)
    policy = "".join(f"  permission {grant};\n" for grant in grants)
    (folder / "plugin-security.policy").write_text(f"grant {{\n{policy}}};\n")


def unpack_plugin(layout: Path, archive: Path) -> None:
    """Turn `lib/NAME-VERSION.zip` into plugins/NAME/."""
    name = re.sub(r"-\d.*", "", archive.name)
    with zipfile.ZipFile(archive) as plugin:
        plugin.extractall(layout / "plugins" / name)
    archive.unlink()


def resolve(layout: Path, java: Path) -> None:
    """Fetch every jar into lib/ and sort out the modules."""
    goal = [
        "dependency:copy-dependencies",
        "-DincludeScope=runtime",
        f"-DoutputDirectory={layout / 'lib'}",
    ]
    command = [find_maven(), "-B", "-q", "-Dstyle.color=never", "-f", str(POM), *goal]
    environment = {**os.environ, "JAVA_HOME": str(java.parent.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        told = [line.removeprefix("[ERROR]").strip() for line in done.stdout.splitlines()]
        first = next(filter(None, told), done.stderr.strip())
        raise EngineError(f"Maven could not resolve {POM.name}: {first}")
    found = re.search(r"<opensearch\.version>(.+?)<", POM.read_text())
    assert found
    for name, (jars, grants) in MODULES.items():
        move_module(layout, name, jars, grants, found[1])
    for name in ("bin", "plugins"):  # the server wants these, and could not make them itself
        (layout / name).mkdir()
    for archive in sorted((layout / "lib").glob("*.zip")):
        unpack_plugin(layout, archive)


def lay_out(home: Path, java: Path) -> Path:
    """The server's files, made anew when this script or the pom has changed."""
    stamp = hashlib.sha256(POM.read_bytes() + Path(__file__).read_bytes()).hexdigest()[:12]
    layout = home / f"layout-{stamp}"
    with locked(home / "lock"):
        if layout.is_dir():
            return layout
        used = [command for node in nodes(home) if (command := command_of(pid_of(node)))]
        for old in home.glob("layout-*"):
            if not any(str(old) in command for command in used):
                shutil.rmtree(old)
        making = home / f"layout-{stamp}.new"
        making.mkdir()
        resolve(making, java)
        for path in [making, *making.rglob("*")]:  # whatever the umask, the node must read it
            path.chmod(0o755 if path.is_dir() else 0o644)
        making.rename(layout)
    return layout


# ---- one node, in HOME/node-PORT


def nodes(home: Path) -> list[Path]:
    """Folders of all nodes ever started below this home."""
    return sorted(home.glob("node-*"))


def pid_of(node: Path) -> int | None:
    """The recorded pid, whatever runs under it now."""
    try:
        return int((node / "pid").read_text())
    except (OSError, ValueError):
        return None


def command_of(pid: int | None) -> str:
    """Command line of a process; empty where there is none, or a zombie."""
    if pid is None:
        return ""
    if Path("/proc/self").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            return ""
    shown = subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True)
    return shown.stdout.decode()


def running(node: Path) -> int | None:
    """Pid of the live process that is this very node: pids are given out again."""
    pid = pid_of(node)
    return pid if f"-Dopensearch.path.conf={node / 'config'} " in command_of(pid) else None


def health(port: int, query: str = "") -> dict[str, object] | None:
    """Cluster health; None where no OpenSearch answers."""
    url = f"http://127.0.0.1:{port}/_cluster/health{query}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=10) as reply:
            answer = json.load(reply)
    except urllib.error.HTTPError as error:  # 408: not yet
        with error:
            return {"status": f"HTTP {error.code}"}
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else {"status": "not a search engine"}


def configure(node: Path, port: int, keep: bool) -> None:
    """Write the configuration; without `keep` the node starts empty."""
    if not keep:
        shutil.rmtree(node / "data", ignore_errors=True)
    for name in ("config", "data", "logs", "tmp"):
        (node / name).mkdir(parents=True, exist_ok=True)
    settings = {
        "cluster.name": f"harness-test-{port}",
        "node.name": "node-1",
        "network.host": "127.0.0.1",
        "http.port": port,
        "transport.port": 0,  # any free one: nothing joins this node
        "discovery.type": "single-node",
        "path.data": node / "data",
        "path.logs": node / "logs",
        # a full disk must not make test indices read-only
        "cluster.routing.allocation.disk.threshold_enabled": "false",
    }
    lines = "".join(f"{key}: {value}\n" for key, value in settings.items())
    (node / "config/opensearch.yml").write_text(lines)
    (node / "config/log4j2.properties").write_text(LOG4J)
    if os.geteuid() == 0:
        for name in ("config", "data", "logs", "tmp"):
            for path in [node / name, *(node / name).rglob("*")]:
                shutil.chown(path, "nobody", pwd.getpwnam("nobody").pw_gid)


def launch(node: Path, layout: Path, java: Path, heap: str) -> int:
    """Start the process and record its pid."""
    flags = [f"-Xms{heap}", f"-Xmx{heap}", "-Xss1m", "-XX:+UseG1GC"]
    properties = {
        "java.awt.headless": "true",
        "file.encoding": "UTF-8",
        "java.locale.providers": "SPI,COMPAT",
        "java.security.manager": "allow",
        "jna.nosys": "true",
        "jna.tmpdir": node / "tmp",
        "java.io.tmpdir": node / "tmp",
        "io.netty.noUnsafe": "true",
        "io.netty.noKeySetOptimization": "true",
        "io.netty.recycler.maxCapacityPerThread": "0",
        "io.netty.allocator.numDirectArenas": "0",
        "log4j.shutdownHookEnabled": "false",
        "log4j2.disable.jmx": "true",
        "opensearch.path.home": layout,
        "opensearch.path.conf": node / "config",
        "opensearch.distribution.type": "tar",
        "opensearch.bundled_jdk": "false",
    }
    flags += [f"-D{key}={value}" for key, value in properties.items()]
    command = [java, *flags, "-cp", f"{layout}/lib/*", "org.opensearch.bootstrap.OpenSearch"]
    environment = {"HOME": str(node), "PATH": os.environ.get("PATH", os.defpath)}
    account = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    with (node / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=node,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **account,
        )
    (node / "pid").write_text(f"{process.pid}\n")
    return process.pid


def wait_until_ready(node: Path, port: int, keep: bool) -> None:
    """Wait for green; kept indices with replicas can only become yellow on one node."""
    goal = "yellow" if keep else "green"
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if running(node) is None:
            raise EngineError(f"the node on port {port} died while starting: see {node / 'log'}")
        state = health(port, f"?wait_for_status={goal}&timeout=2s")
        if state and state.get("status") in ("green", goal):
            return
        time.sleep(0.2)
    raise EngineError(f"the node on port {port} was not {goal} in time: see {node / 'log'}")


def up(home: Path, port: int, heap: str, keep: bool) -> None:
    """Start a node, or find it running; print its URL."""
    java = find_java()
    home.mkdir(parents=True, exist_ok=True)
    if home.stat().st_uid != os.geteuid():
        raise EngineError(f"{home} belongs to someone else: name your own folder with --home")
    home.chmod(0o755)
    layout = lay_out(home, java)
    node = home / f"node-{port}"
    node.mkdir(exist_ok=True)
    node.chmod(0o755)
    with locked(node / "lock"):
        if running(node) is None:
            if health(port) is not None:
                raise EngineError(f"port {port} is taken: name another with --port")
            configure(node, port, keep)
            launch(node, layout, java, heap)
        wait_until_ready(node, port, keep)
    print(f"http://127.0.0.1:{port}")


def stop(node: Path, pid: int) -> None:
    """Ask the process to end, then make it."""
    deadline = time.monotonic() + STOP_LIMIT_S
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        while running(node) == pid:
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)


def down(home: Path, port: int) -> None:
    """Stop a node; it is no error if it is not running."""
    node = home / f"node-{port}"
    if not node.is_dir():
        return
    with locked(node / "lock"):
        if pid := running(node):
            stop(node, pid)
        (node / "pid").unlink(missing_ok=True)


def status(home: Path, port: int | None) -> int:
    """Print the running nodes."""
    found = 0
    for node in nodes(home) if port is None else [home / f"node-{port}"]:
        if pid := running(node):
            at = int(node.name.removeprefix("node-"))
            state = health(at) or {"status": "silent"}
            print(f"http://127.0.0.1:{at} pid {pid} {state.get('status')}")
            found += 1
    return 0 if found else 1


def main() -> int:
    """Parse, call, turn errors into one line."""
    parser = argparse.ArgumentParser(description="a real OpenSearch node for the tests")
    parser.add_argument("command", choices=("up", "down", "status"))
    parser.add_argument("--port", type=int, help=f"default: {DEFAULT_PORT}; status: all")
    parser.add_argument(
        "--home",
        default=os.environ.get("HARNESS_OPENSEARCH_HOME", DEFAULT_HOME),
        help=f"a folder that an unprivileged account can reach (default: {DEFAULT_HOME})",
    )
    parser.add_argument("--heap", default="1g", help="default: 1g")
    parser.add_argument("--keep", action="store_true", help="keep the indices of the last run")
    options = parser.parse_args()
    home = Path(options.home).absolute()
    port = DEFAULT_PORT if options.port is None else options.port
    if not 0 < port < 65536:
        parser.error(f"--port {port}: allowed are 1 to 65535")
    try:
        if options.command == "up":
            up(home, port, options.heap, options.keep)
        elif options.command == "down":
            down(home, port)
        else:
            return status(home, options.port)
    except (EngineError, OSError) as error:
        print(f"opensearch.py: {error}", file=sys.stderr)
        return 3 if isinstance(error, NotAvailable) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
