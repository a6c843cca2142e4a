"""What is asked of the docker command: whether it works, its containers, its compose projects."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.engine.flavours import Cluster
from indexers.errors import BackendError, EngineUnavailable

OTHERWISE = "or start an engine otherwise and name it with --opensearch-url or --elasticsearch-url"
ANSWER_LIMIT_S = 60.0
COLUMNS = (
    '{{.Label "com.docker.compose.service"}}',
    '{{.Label "harness.engine"}}',
    '{{.Label "harness.nodes"}}',
    '{{.Label "harness.url"}}',
    "{{.State}}",
    "{{.Status}}",
    "{{.ID}}",
)


@dataclass(frozen=True, slots=True)
class Container:
    """A container of a compose project.

    Attributes:
        service: name in the compose file.
        engine: the label that marks it as ours; empty where it is not.
        nodes: of its cluster; empty for dashboards.
        url: where it is published; empty where it is not.
        state: `running`, `exited`, …
        status: the state for people, with exit code and health.
        id: of the container.
    """

    service: str
    engine: str
    nodes: str
    url: str
    state: str
    status: str
    id: str


class Docker:
    """The docker command of this machine with its compose plugin.

    Raises:
        EngineUnavailable: there is none, it has no compose, or its daemon does not answer; the
            message says what to do.
    """

    def __init__(self) -> None:
        if shutil.which("docker") is None:
            raise EngineUnavailable(f"there is no docker on PATH: install Docker, {OTHERWISE}")
        version = _ask("docker", "version", "--format", "{{.Server.Version}}")
        if version.returncode:
            told = " ".join(version.stderr.split())
            raise EngineUnavailable(
                f"the Docker daemon does not answer ({told}): start it, such as by systemctl "
                f"start docker, {OTHERWISE}"
            )
        self._compose = _compose()

    def containers(self, cluster: Cluster) -> list[Container]:
        """Containers of a cluster's project, running or not, by service.

        Raises:
            BackendError: docker could not tell.
        """
        label = f"label=com.docker.compose.project={cluster.project}"
        reply = _ask("docker", "ps", "--all", "--filter", label, "--format", "\t".join(COLUMNS))
        if reply.returncode:
            raise BackendError(f"docker ps failed: {' '.join(reply.stderr.split())}")
        rows = (line.split("\t") for line in reply.stdout.splitlines() if line)
        return sorted((Container(*row) for row in rows), key=lambda one: one.service)

    def compose(
        self, cluster: Cluster, arguments: Sequence[str], environment: Mapping[str, str] = {}
    ) -> None:
        """Run a compose command on a cluster's project; what it tells goes to stderr.

        Raises:
            BackendError: it failed, having told why.
        """
        command = [
            *self._compose,
            *("--project-name", cluster.project),
            *("--file", str(cluster.file)),
            *arguments,
        ]
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),
            check=False,
        )
        if done.returncode:
            action = next(word for word in arguments if word in ("up", "down"))
            raise BackendError(
                f"{' '.join(self._compose)} could not bring {cluster.project} {action} (exit "
                f"status {done.returncode}): see what it told above"
            )

    def last_words(self, container: Container) -> str:
        """The last line that a container wrote; empty where there is none."""
        reply = _ask("docker", "logs", "--tail", "5", container.id)
        lines = [line.strip() for line in (reply.stdout + reply.stderr).splitlines()]
        return next((line[:300] for line in reversed(lines) if line), "")


def _compose() -> tuple[str, ...]:
    """The plugin, or the command of its own that some distributions ship."""
    if _ask("docker", "compose", "version").returncode == 0:
        return ("docker", "compose")
    if shutil.which("docker-compose") is not None:
        return ("docker-compose",)
    raise EngineUnavailable(
        "docker has no compose: install its plugin (docker-compose-plugin, or Debian's "
        f"docker-compose), {OTHERWISE}"
    )


def _ask(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ANSWER_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineUnavailable(f"{' '.join(command[:2])} does not answer: {error}") from None
