"""Bringing a cluster up and down, and telling what is there."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.engine.docker import Container, Docker
from harness.engine.flavours import DASHBOARDS_PORTS, PORTS, Cluster, clusters
from harness.engine.waiting import health, wait_until_usable
from indexers.errors import BackendError, EngineUnavailable, SettingError

Say = Callable[[str], None]

DASHBOARDS = "dashboards"
LOAD = "load"
"""Label of the containers that `load.yaml` puts beside an engine."""
MAPS = Path("/proc/sys/vm/max_map_count")
MAPS_NEEDED = 262_144
"""Memory maps that a node of several refuses to start below; a single node only warns."""


@dataclass(frozen=True, slots=True)
class State:
    """A cluster as it is.

    Attributes:
        engine, nodes: which it is.
        running: how many of its nodes run.
        health: `green`, `yellow`, `red`, or `none` where it does not answer.
        url: where it answers; None where it is not published.
        dashboards_url: None where they do not run.
    """

    engine: str
    nodes: int
    running: int
    health: str
    url: str | None
    dashboards_url: str | None

    def document(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def up(
    cluster: Cluster,
    *,
    port: int | None,
    dashboards: bool,
    limit_s: float,
    say: Say,
) -> State:
    """Start what of a cluster does not run yet, and wait until it can be used.

    Args:
        cluster: which.
        port: of 127.0.0.1; None for that of the running cluster, or the engine's own.
        dashboards: start them too.
        limit_s: the longest that is waited once the containers are started.
        say: tells the one who waits.

    Raises:
        EngineUnavailable: no Docker, or the cluster did not become usable.
        SettingError: the port is taken, the engine runs with other nodes, or the kernel is set
            for fewer memory maps.
        BackendError: compose failed, or containers of that name are not ours.
    """
    docker = Docker()
    found = _ours(docker, cluster)
    _check_others(docker, cluster)
    _check_maps(cluster)
    published = _port(cluster, found, port)
    environment = {
        "HARNESS_ENGINE_PORT": str(published),
        "HARNESS_DASHBOARDS_PORT": str(_dashboards_port(cluster, found, wanted=dashboards)),
    }
    profile = ["--profile", DASHBOARDS] if dashboards else []
    say(f"starting {cluster.project} (the first time, its images are fetched)")
    docker.compose(cluster, [*profile, "up", "--detach"], environment)
    url = f"http://127.0.0.1:{published}"
    wait_until_usable(url, cluster.nodes, limit_s, say, lambda: _check_alive(docker, cluster))
    return state(docker, cluster)


def down(engine: str | None, *, remove_data: bool, say: Say) -> None:
    """Stop and remove the containers of an engine, or of every engine.

    Args:
        engine: None for every.
        remove_data: remove the volumes too, of clusters that do not run as well.
        say: tells what was done.

    Raises:
        EngineUnavailable: no Docker.
        BackendError: compose failed, or containers of that name are not ours.
    """
    docker = Docker()
    for cluster in clusters(engine):
        there = bool(_ours(docker, cluster))
        if there or remove_data:
            volumes = ["--volumes"] if remove_data else []
            docker.compose(cluster, ["--profile", DASHBOARDS, "down", "--remove-orphans", *volumes])
        if there:
            say(f"{cluster.project} is down{'' if remove_data else '; its data is kept'}")
        elif not remove_data:
            say(f"{cluster.project} was not up")


def states(engine: str | None) -> list[State]:
    """What is there of an engine, or of every engine; one entry for each number of nodes.

    Raises:
        EngineUnavailable: no Docker.
    """
    docker = Docker()
    return [state(docker, cluster) for cluster in clusters(engine)]


def state(docker: Docker, cluster: Cluster) -> State:
    """What is there of one cluster."""
    found = [one for one in docker.containers(cluster) if one.engine == cluster.engine]
    nodes = [one for one in found if one.nodes]
    running = [one for one in nodes if one.state == "running"]
    url = next((one.url for one in running if one.url), None)
    boards = (one.url for one in found if one.service == DASHBOARDS and one.state == "running")
    told = health(url).status if url else "none"
    return State(cluster.engine, cluster.nodes, len(running), told, url, next(boards, None))


def _ours(docker: Docker, cluster: Cluster) -> list[Container]:
    """Containers of the project, all of which must carry our label; those of load do, too."""
    found = docker.containers(cluster)
    for one in found:
        if one.engine not in (cluster.engine, LOAD):
            raise BackendError(
                f"a container of project {cluster.project} ({one.id}) does not carry the label "
                f"harness.engine={cluster.engine}: nothing of that project is touched; remove it"
            )
    return found


def _check_others(docker: Docker, cluster: Cluster) -> None:
    for other in clusters(cluster.engine):
        running = [one for one in docker.containers(other) if one.state == "running"]
        if other != cluster and running:
            raise SettingError(
                f"{cluster.engine} already runs with --nodes {other.nodes}: run harness engine "
                f"down {cluster.engine} first (its data is kept)"
            )


def _check_maps(cluster: Cluster) -> None:
    if cluster.nodes == 1 or not MAPS.exists():
        return
    allowed = int(MAPS.read_text())
    if allowed < MAPS_NEEDED:
        raise SettingError(
            f"vm.max_map_count is {allowed} and several nodes need {MAPS_NEEDED}: run sysctl -w "
            f"vm.max_map_count={MAPS_NEEDED} as root, or start one node"
        )


def _port(cluster: Cluster, found: list[Container], wanted: int | None) -> int:
    """The port to publish; one that our running cluster holds already is free for it."""
    nodes = (one for one in found if one.engine == cluster.engine and one.nodes and one.url)
    held = next((int(one.url.rpartition(":")[2]) for one in nodes if one.state == "running"), None)
    port = wanted or held or PORTS[cluster.engine]
    if port != held:
        _check_free(port, "--port")
    return port


def _dashboards_port(cluster: Cluster, found: list[Container], *, wanted: bool) -> int:
    running = any(one.service == DASHBOARDS and one.state == "running" for one in found)
    port = DASHBOARDS_PORTS[cluster.engine]
    if wanted and not running:
        _check_free(port, "no --dashboards")
    return port


def _check_free(port: int, instead: str) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise SettingError(
                f"port {port} of 127.0.0.1 cannot be used ({error.strerror}): end what holds it, "
                f"or give {instead}"
            ) from None


def _check_alive(docker: Docker, cluster: Cluster) -> None:
    """Stop waiting for a node that has ended."""
    for one in docker.containers(cluster):
        if one.nodes and one.state in ("exited", "dead"):
            words = docker.last_words(one)
            raise EngineUnavailable(
                f"{one.service} of {cluster.project} ended ({one.status})"
                + (f"; its last words: {words}" if words else "")
                + "; 137 is the kernel's end of a container that wants more memory than "
                "HARNESS_ENGINE_MEMORY"
            )
