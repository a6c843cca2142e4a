"""The backends of a study: where they are, and what an earlier run left on them."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from harness.config import StudyConfig
from harness.progress import Progress
from harness.tuning.plan import Plan, Planned
from harness.tuning.store import Store
from indexers.errors import BackendError
from indexers.registry import backend
from indexers.types import Backend, BackendConfig, BackendInfo


@dataclass(frozen=True, slots=True)
class Connected:
    """A backend that answered, with what it said of itself."""

    backend: Backend
    config: BackendConfig
    info: BackendInfo


def connect(config: StudyConfig, plan: Plan, missing: Sequence[Planned]) -> dict[str, Connected]:
    """Ask every backend that is still needed whether it is there.

    Raises:
        EngineUnavailable: one is not, or its cluster is red.
        MissingPackage: its client is not installed.
    """
    connected = {}
    for name in dict.fromkeys(p.point.setting.backend for p in missing):
        made, backend_config = _backend(config, plan, name)
        connected[name] = Connected(made, backend_config, made.check())
    return connected


def _backend(config: StudyConfig, plan: Plan, name: str) -> tuple[Backend, BackendConfig]:
    url = getattr(config, f"{name}_url", None)
    backend_config = BackendConfig(url=url, owner=owner_tag(plan))
    return backend(name)(backend_config), backend_config


def owner_tag(plan: Plan) -> str:
    """Marks what this study makes in this folder on this host, and nothing else's."""
    place = f"{socket.gethostname()}:{plan.folder.resolve()}"
    return f"{plan.name}-{hashlib.blake2b(place.encode(), digest_size=3).hexdigest()}"


def tell_away(away: list[str], progress: Progress) -> None:
    """Say which servers could not be looked at again, and what to do."""
    for name in away:
        progress.say(
            f"{name} is away and may still hold a temporary index: run the same command once "
            "it is back, and it is removed first"
        )


def sweep_standing(config: StudyConfig, plan: Plan, store: Store, progress: Progress) -> None:
    """Remove what a run of this study that was killed, or whose server went away, left."""
    left = []
    for name in store.meta("standing") or []:
        try:
            for index in _backend(config, plan, name)[0].sweep():
                progress.say(f"removed {index}, left behind by an earlier run")
        except BackendError as error:
            left.append(name)
            progress.say(f"an earlier run may have left an index: {error}")
    store.put_meta("standing", left)
