"""What the scripts that start test nodes share: Java, Maven, one layout, nodes, the command line.

A layout holds the server's files and is made once; nodes on different ports share it and run side
by side, each in a folder of its own. Called as root, a node runs as `nobody`: the engines refuse
to run as root.

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

START_LIMIT_S = 180.0
STOP_LIMIT_S = 30.0
NODE_FOLDERS = ("config", "data", "logs", "tmp")


class EngineError(Exception):
    """The node could not be started or stopped."""


class NotAvailable(EngineError):
    """Java or Maven is missing; tests skip with this reason."""


@dataclass(frozen=True)
class Engine:
    """One engine's part.

    Attributes:
        name: of its script and folders.
        title: for people.
        port: default.
        java: versions that the server runs on.
        java_hint: what to install.
        whole_jdk: whether a runtime alone is too little.
        files: a change of one of them makes a new layout.
        resolve: (empty folder, java) puts the server's files there.
        configure: (node, layout, settings that all engines have, heap) writes node/config.
        launch: (node, layout, java, heap) starts the process and gives its pid.
        mark: (node) text in the command line of that node's process and no other's.
    """

    name: str
    title: str
    port: int
    java: range
    java_hint: str
    whole_jdk: bool
    files: tuple[Path, ...]
    resolve: Callable[[Path, Path], None]
    configure: Callable[[Path, Path, dict[str, object], str], None]
    launch: Callable[[Path, Path, Path, str], int]
    mark: Callable[[Path], str]


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


def find_java(engine: Engine) -> Path:
    """The first java that the server can run on, links resolved."""
    seen: dict[Path, int | None] = {}
    for candidate in java_candidates():
        java = candidate.resolve()
        if java in seen or not java.is_file():
            continue
        seen[java] = java_version(java)
        if seen[java] in engine.java and (not engine.whole_jdk or has_jlink(java)):
            return java
    others = ", ".join(f"{java} is {version or 'broken'}" for java, version in seen.items())
    kind = "JDK" if engine.whole_jdk else "Java"
    raise NotAvailable(
        f"no {kind} {engine.java[0]} to {engine.java[-1]} ({others or 'no Java at all'}): "
        f"install {engine.java_hint}, or name one in HARNESS_JAVA"
    )


def has_jlink(java: Path) -> bool:
    """Whether it belongs to a whole JDK."""
    return java.with_name("jlink").is_file()


def find_maven() -> str:
    """The mvn command."""
    if mvn := shutil.which("mvn"):
        return mvn
    raise NotAvailable("no Maven: install it so that mvn is on PATH")


def maven(pom: Path, java: Path, *arguments: str) -> None:
    """Run Maven on a pom."""
    command = [find_maven(), "-B", "-q", "-Dstyle.color=never", "-f", str(pom), *arguments]
    environment = {**os.environ, "JAVA_HOME": str(java.parent.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        told = [line.removeprefix("[ERROR]").strip() for line in done.stdout.splitlines()]
        first = next(filter(None, told), done.stderr.strip())
        raise EngineError(f"Maven could not resolve {pom.name}: {first}")


def in_pom(pom: Path, name: str) -> str:
    """A property of a pom."""
    found = re.search(rf"<{re.escape(name)}>(.+?)<", pom.read_text())
    assert found
    return found[1]


# ---- the layout, shared by all nodes


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time; the lock goes with the process."""
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def lay_out(engine: Engine, home: Path, java: Path) -> Path:
    """The server's files, made anew when what makes them has changed."""
    content = b"".join(path.read_bytes() for path in engine.files)
    stamp = hashlib.sha256(content).hexdigest()[:12]
    layout = home / f"layout-{stamp}"
    with locked(home / "lock"):
        if layout.is_dir():
            return layout
        used = [command for node in nodes(home) if (command := command_of(pid_of(node)))]
        for old in home.glob("layout-*"):
            if not any(str(old) in command for command in used):
                shutil.rmtree(old)
        making = home / f"layout-{stamp}.new"
        shutil.rmtree(making, ignore_errors=True)  # one that was interrupted
        making.mkdir()
        engine.resolve(making, java)
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


def running(engine: Engine, node: Path) -> int | None:
    """Pid of the live process that is this very node: pids are given out again."""
    pid = pid_of(node)
    return pid if engine.mark(node) in command_of(pid) else None


def health(port: int, query: str = "") -> dict[str, object] | None:
    """Cluster health; None where nothing answers."""
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


def configure(
    engine: Engine,
    node: Path,
    layout: Path,
    port: int,
    keep: bool,
    heap: str,
    more: dict[str, object],
) -> None:
    """Write the configuration; without `keep` the node starts empty."""
    if not keep:
        shutil.rmtree(node / "data", ignore_errors=True)
    shutil.rmtree(node / "config", ignore_errors=True)
    for name in NODE_FOLDERS:
        (node / name).mkdir(parents=True, exist_ok=True)
    settings: dict[str, object] = {
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
        **more,
    }
    engine.configure(node, layout, settings, heap)
    if os.geteuid() == 0:
        for name in NODE_FOLDERS:
            for path in [node / name, *(node / name).rglob("*")]:
                shutil.chown(path, "nobody", pwd.getpwnam("nobody").pw_gid)


def yaml_lines(settings: dict[str, object]) -> str:
    """A settings file of one value a line."""
    return "".join(f"{key}: {value}\n" for key, value in settings.items())


def spawn(
    node: Path, command: list[object], environment: dict[str, str], cwd: Path | None = None
) -> subprocess.Popen:
    """Start a process, never as root; what it prints goes to node/log."""
    account = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    with (node / "log").open("wb") as log:
        return subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd or node,
            env={"HOME": str(node), "PATH": os.environ.get("PATH", os.defpath), **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **account,
        )


def wait_until_ready(engine: Engine, node: Path, port: int, keep: bool) -> None:
    """Wait for green; kept indices with replicas can only become yellow on one node."""
    goal = "yellow" if keep else "green"
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if running(engine, node) is None:
            raise EngineError(f"the node on port {port} died while starting: see {node / 'log'}")
        state = health(port, f"?wait_for_status={goal}&timeout=2s")
        if state and state.get("status") in ("green", goal):
            return
        time.sleep(0.2)
    raise EngineError(f"the node on port {port} was not {goal} in time: see {node / 'log'}")


def up(
    engine: Engine, home: Path, port: int, heap: str, keep: bool, more: dict[str, object]
) -> None:
    """Start a node, or find it running; print its URL."""
    java = find_java(engine)
    home.mkdir(parents=True, exist_ok=True)
    if home.stat().st_uid != os.geteuid():
        raise EngineError(f"{home} belongs to someone else: name your own folder with --home")
    home.chmod(0o755)
    layout = lay_out(engine, home, java)
    node = home / f"node-{port}"
    node.mkdir(exist_ok=True)
    node.chmod(0o755)
    with locked(node / "lock"):
        if running(engine, node) is None:
            if health(port) is not None:
                raise EngineError(f"port {port} is taken: name another with --port")
            configure(engine, node, layout, port, keep, heap, more)
            (node / "pid").write_text(f"{engine.launch(node, layout, java, heap)}\n")
        wait_until_ready(engine, node, port, keep)
    print(f"http://127.0.0.1:{port}")


def stop(engine: Engine, node: Path, pid: int) -> None:
    """Ask the process to end, then make it."""
    deadline = time.monotonic() + STOP_LIMIT_S
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
        while running(engine, node) == pid:
            if time.monotonic() > deadline:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)


def down(engine: Engine, home: Path, port: int) -> None:
    """Stop a node; it is no error if it is not running."""
    node = home / f"node-{port}"
    if not node.is_dir():
        return
    with locked(node / "lock"):
        if pid := running(engine, node):
            stop(engine, node, pid)
        (node / "pid").unlink(missing_ok=True)


def status(engine: Engine, home: Path, port: int | None) -> int:
    """Print the running nodes."""
    found = 0
    for node in nodes(home) if port is None else [home / f"node-{port}"]:
        if pid := running(engine, node):
            at = int(node.name.removeprefix("node-"))
            state = health(at) or {"status": "silent"}
            print(f"http://127.0.0.1:{at} pid {pid} {state.get('status')}")
            found += 1
    return 0 if found else 1


def setting(text: str) -> tuple[str, object]:
    """A setting of a node, such as `thread_pool.write.queue_size=2`."""
    key, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[a-z0-9_.]+", key):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form key=value")
    return key, json.dumps(value)


def main(engine: Engine) -> int:
    """Parse, call, turn errors into one line."""
    parser = argparse.ArgumentParser(description=f"a real {engine.title} node for the tests")
    parser.add_argument("command", choices=("up", "down", "status"))
    parser.add_argument("--port", type=int, help=f"default: {engine.port}; status: all")
    usual = f"/var/tmp/harness-{engine.name}"
    parser.add_argument(
        "--home",
        default=os.environ.get(f"HARNESS_{engine.name.upper()}_HOME", usual),
        help=f"a folder that an unprivileged account can reach (default: {usual})",
    )
    parser.add_argument("--heap", default="1g", help="default: 1g")
    parser.add_argument("--keep", action="store_true", help="keep the indices of the last run")
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        type=setting,
        help="of the node, in place of ours or beside them; may be given several times",
    )
    options = parser.parse_args()
    home = Path(options.home).absolute()
    port = engine.port if options.port is None else options.port
    if not 0 < port < 65536:
        parser.error(f"--port {port}: allowed are 1 to 65535")
    try:
        if options.command == "up":
            up(engine, home, port, options.heap, options.keep, dict(options.setting))
        elif options.command == "down":
            down(engine, home, port)
        else:
            return status(engine, home, options.port)
    except (EngineError, OSError) as error:
        print(f"{engine.name}.py: {error}", file=sys.stderr)
        return 3 if isinstance(error, NotAvailable) else 1
    return 0
