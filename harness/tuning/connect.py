"""The backends of a study: where they are, and what an earlier run left on them."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from harness.config import StudyConfig
from harness.progress import Progress
from harness.settings import ATTACHED, Setting
from harness.tuning.plan import Plan, Planned, server
from harness.tuning.specs import spec_of
from harness.tuning.store import Store
from indexers.abilities import OnServer
from indexers.errors import BackendError, EngineUnavailable, HarnessError, SettingError
from indexers.index_types import BackendConfig, BackendInfo
from indexers.protocols import Backend
from indexers.registry import backend


@dataclass(frozen=True, slots=True)
class Connected:
    """A backend that answered, with what it said of itself."""

    backend: Backend
    config: BackendConfig
    info: BackendInfo


def connect(
    config: StudyConfig, plan: Plan, store: Store, missing: Sequence[Planned]
) -> dict[str, Connected]:
    """Ask every backend that is still needed whether it is there.

    Where only an index of the user's own is measured, no right over the cluster is needed.

    Raises:
        EngineUnavailable: one is not, or its cluster is red.
        MissingPackage: its client is not installed.
        SettingError: its server lacks what an index of the study needs.
    """
    connected = {}
    owner = owner_tag(plan, store)
    for name in dict.fromkeys(p.point.setting.backend for p in missing):
        settings = [p.point.setting for p in missing if p.point.setting.backend == name]
        made, backend_config = _backend(config, owner, name, settings)
        connected[name] = Connected(made, backend_config, made.check())
        _check_indexes(made, settings)
    return connected


def _check_indexes(made: Backend, settings: Sequence[Setting]) -> None:
    """Refuse indexes that the server cannot hold; what they are of decides, not their sizes."""
    if not isinstance(made, OnServer):
        return
    ours = [setting for setting in settings if setting.kind != ATTACHED]
    kinds = {(s.family, s.kind, s.vector_type, s.knn_engine, s.replicas): s for s in ours}
    lacking: dict[str, None] = {}
    for setting in kinds.values():
        try:
            made.accept(spec_of(setting))
        except EngineUnavailable:
            raise
        except BackendError as error:
            lacking[str(error)] = None
    if lacking:
        raise SettingError(*lacking)


def _backend(
    config: StudyConfig, owner: str, name: str, settings: Sequence[Setting]
) -> tuple[Backend, BackendConfig]:
    backend_config = replace(
        config.access(name),
        owner=owner,
        patience_s=config.patience,
        reads_only=all(setting.kind == ATTACHED for setting in settings),
    )
    return backend(name)(backend_config), backend_config


def owner_tag(plan: Plan, store: Store) -> str:
    """Marks what this study file makes, and nothing else's: no lock keeps two files apart.

    Hosts and folders of two containers may have the same names; and a file that was copied is
    another in another folder.
    """
    place = f"{store.identity()}:{socket.gethostname()}:{plan.folder.resolve()}"
    return f"{plan.name}-{hashlib.blake2b(place.encode(), digest_size=3).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an index of this folder's studies may still stand.

    Attributes:
        backend: its name.
        server: where, without credentials.
        owner: the tag that it carries.
    """

    backend: str
    server: str
    owner: str


def note_standing(config: StudyConfig, plan: Plan, store: Store, backends: list[str]) -> None:
    """Remember which servers may hold an index of this plan, in place of what was known of it."""
    owner = owner_tag(plan, store)
    others = [s for s in _standing(store) if s.owner != owner]
    ours = [Standing(name, server(config, name) or "", owner) for name in backends]
    store.put_meta("standing", [asdict(s) for s in (*others, *ours)])


def sweep_standing(config: StudyConfig, store: Store, progress: Progress) -> None:
    """Remove what runs in this folder that were killed, or whose server went away, left."""
    left = []
    for standing in _standing(store):
        try:
            for index in _owned(config, standing).sweep():
                progress.say(f"removed {index}, left behind by an earlier run")
        except HarnessError as error:
            left.append(standing)
            progress.say(
                f"{standing.backend} at {standing.server} may hold an index of an earlier run: "
                f"{error}"
            )
    store.put_meta("standing", [asdict(s) for s in left])


def standing_places(store: Store) -> list[str]:
    """The servers that may still hold an index, for people."""
    return [f"{s.backend} at {s.server}" for s in _standing(store)]


def _standing(store: Store) -> list[Standing]:
    return [Standing(**entry) for entry in store.meta("standing") or []]


def _owned(config: StudyConfig, standing: Standing) -> Backend:
    """The backend under the tag of an earlier run, if this command names the same server.

    Raises:
        HarnessError: it names another, or none.
    """
    access = config.access(standing.backend)
    if access.url is None or server(config, standing.backend) != standing.server:
        raise SettingError(f"name that server once more with --{standing.backend}-url")
    return backend(standing.backend)(replace(access, owner=standing.owner))


def tell_standing(reasons: list[str], progress: Progress) -> None:
    """Say where a temporary index may still stand, why, and what to do."""
    for reason in reasons:
        progress.say(
            f"a temporary index may still stand ({reason}): run the same command once that is "
            "mended, and it is removed first"
        )
