"""The backends of a study: where they are, and what an earlier run left on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from harness.config import StudyConfig
from harness.progress import Progress
from harness.settings import ATTACHED, Setting
from harness.tuning.ownership import PossibleLeftover, is_own, noted, owner_tag
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
    owner = owner_of(plan, store)
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


def note_standing(config: StudyConfig, plan: Plan, store: Store, backends: list[str]) -> None:
    """Remember which servers may hold an index of this plan, in place of what was known of it."""
    owner = owner_of(plan, store)
    others = [one for one in _noted(store) if one.owner != owner]
    ours = [PossibleLeftover(name, server(config, name) or "", owner) for name in backends]
    store.put_meta("standing", [asdict(one) for one in (*others, *ours)])


def sweep_standing(config: StudyConfig, store: Store, progress: Progress) -> None:
    """Remove what runs in this folder that were killed, or whose server went away, left.

    What a copy of this file noted, or this file under another folder or host, may be in use there:
    it is left, and told for as long as it stands.
    """
    left = []
    for one in _noted(store):
        try:
            if not _gone(_owned(config, one), one, store, progress):
                left.append(one)
        except HarnessError as error:
            left.append(one)
            progress.say(
                f"{one.backend} at {one.server} may hold an index of an earlier run: {error}"
            )
    store.put_meta("standing", [asdict(one) for one in left])


def _gone(backend: Backend, one: PossibleLeftover, store: Store, progress: Progress) -> bool:
    """Whether nothing of this owner stands any more, once what is this study's own is removed."""
    if is_own(one.owner, store.identity(), store.path.parent):
        for index in backend.sweep():
            progress.say(f"removed {index}, left behind by an earlier run")
        return True
    there = backend.left() if isinstance(backend, OnServer) else []
    if there:
        progress.say(
            f"{', '.join(there)} at {one.server} is left: this study made it in another folder, on "
            "another host or by an earlier version; once nothing runs there any more, "
            f"`harness clean --owner {one.owner}` removes it"
        )
    return not there


def standing_places(store: Store) -> list[str]:
    """The servers that may still hold an index, for people."""
    return [f"{one.backend} at {one.server}" for one in _noted(store)]


def owner_of(plan: Plan, store: Store) -> str:
    """The owner tag of what this study makes."""
    return owner_tag(plan.name, store.identity(), plan.folder)


def _noted(store: Store) -> list[PossibleLeftover]:
    return noted(store.meta("standing"))


def _owned(config: StudyConfig, one: PossibleLeftover) -> Backend:
    """The backend under the tag of an earlier run, if this command names the same server.

    Raises:
        HarnessError: it names another, or none.
    """
    access = config.access(one.backend)
    if access.url is None or server(config, one.backend) != one.server:
        raise SettingError(f"name that server once more with --{one.backend}-url")
    return backend(one.backend)(replace(access, owner=one.owner))


def tell_standing(reasons: list[str], progress: Progress) -> None:
    """Say where a temporary index may still stand, why, and what to do."""
    for reason in reasons:
        progress.say(
            f"a temporary index may still stand ({reason}): run the same command once that is "
            "mended, and it is removed first"
        )
