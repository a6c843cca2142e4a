"""Which engines there are, and the compose file and project of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.engines import ENGINES
from indexers.errors import SettingError

HERE = Path(__file__).resolve().parent
FOLDERS = (HERE.parents[1] / "docker", HERE / "compose")
"""Where compose files lie: in a checkout, and in an installed package."""
SIZES = {1: "", 3: "-three"}
"""Number of nodes -> what the names of file and project end with."""
PORTS = {"opensearch": 9200, "elasticsearch": 9201}
DASHBOARDS_PORTS = {"opensearch": 5601, "elasticsearch": 5602}


@dataclass(frozen=True, slots=True)
class Cluster:
    """One engine with one number of nodes; each has containers and volumes of its own.

    Attributes:
        engine: `opensearch` or `elasticsearch`.
        nodes: 1 or 3.
    """

    engine: str
    nodes: int = 1

    @property
    def project(self) -> str:
        """Name of the compose project."""
        return f"harness-{self.engine}{SIZES[self.nodes]}"

    @property
    def file(self) -> Path:
        """Its compose file.

        Raises:
            SettingError: it is not there.
        """
        name = f"{self.engine}{SIZES[self.nodes]}.yaml"
        for folder in FOLDERS:
            if (folder / name).is_file():
                return folder / name
        places = " or ".join(str(folder) for folder in FOLDERS)
        raise SettingError(f"compose file {name} is not in {places}: install harness anew")


def clusters(engine: str | None) -> tuple[Cluster, ...]:
    """All clusters of an engine, or of every engine."""
    return tuple(Cluster(name, n) for name in ENGINES if engine in (None, name) for n in SIZES)
