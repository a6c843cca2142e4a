"""Rows of an index that the user built: looked at first, then measured as it is.

It never becomes an index of this study: no backend that builds or removes is told its name. What
is sent to it is what `loadtest.attached` and `_engine_existing` send, and these only read.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from harness.collection.lines import brief
from harness.collection.types import Corpus
from harness.config import StudyConfig
from harness.progress import Progress
from harness.settings import ATTACHED, Setting
from harness.tuning.attached_bodies import deployed_bodies, deployed_words, own_bodies
from harness.tuning.attached_settings import body_path
from harness.tuning.plan import Plan, Planned
from harness.tuning.store import Store
from indexers.address import address_of
from indexers.backends import _engine_existing as existing
from indexers.backends._engine_errors import Refused
from indexers.backends._engine_http import HttpTransport
from indexers.backends._engine_root import FORBIDDEN
from indexers.errors import BackendError, EngineUnavailable, SettingError
from indexers.http_request import Transport
from loadtest.attached import hits_of, search_request
from loadtest.attached_answers import AnswerSearcher, id_of

TIMEOUT_S = 60.0
LOOKED_AT = 20
"""Queries asked before anything is built."""
FACT = "attached"
CACHES = "its caches are as its owner set them: what is asked again may be answered from one"

CHANGED = (
    "the attached index has changed since the first of its rows was measured: rows may differ by "
    "that alone; --fresh measures all again"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One way to ask the attached index.

    Attributes:
        bodies: one a query; empty for one that cannot be asked.
        remarks: for the row.
    """

    bodies: tuple[bytes, ...]
    remarks: tuple[str, ...]


def is_attached(planned: Planned) -> bool:
    """Whether a trial is of an index that is not ours."""
    return planned.point.setting.kind == ATTACHED


def transport_to(config: StudyConfig, engine: str) -> HttpTransport:
    """A way to the server of an attached index."""
    return HttpTransport(address_of(engine, config.access(engine)), TIMEOUT_S)


def asked(config: StudyConfig, setting: Setting, corpus: Corpus, k: int, send: Transport) -> Asked:
    """How a row's index is asked.

    Raises:
        SettingError: its body, or its manifest, cannot be used.
        BackendError: the index is not there.
    """
    assert setting.index is not None
    path = body_path(config, setting)
    if path is not None:
        return Asked(own_bodies(path, corpus.query_texts, k, config.id_field), (CACHES,))
    index = existing.look(send, setting.index)
    made = deployed_bodies(setting.backend, index, corpus.query_texts, k, send)
    return Asked(made, (deployed_words(index) or "", CACHES))


def answers_asked(config: StudyConfig, corpus: Corpus) -> int:
    """Answers asked for: the cut-off, and one more where a query may find itself."""
    return config.cutoff + bool((corpus.query_self >= 0).any())


def look_at_attached(
    config: StudyConfig,
    missing: Sequence[Planned],
    corpus: Corpus,
    progress: Progress,
) -> dict[str, object] | None:
    """Ask a few queries before anything is built; gives what the index is, to be stored.

    Raises:
        SettingError: the index is not there, refuses a body, or knows none of the documents.
        EngineUnavailable: the server is away.
    """
    rows = [p.point.setting for p in missing if is_attached(p)]
    place = config.attach_place
    if not rows or place is None:
        return None
    with closing(transport_to(config, place.engine)) as send:
        try:
            uuid = _uuid(config, rows, place.name, send)
            for setting in rows:
                _look(config, setting, corpus, send, progress)
        except (EngineUnavailable, SettingError):
            raise
        except BackendError as error:
            raise SettingError(f"--attach {place.name}: {error}") from None
        told = {"uuid": uuid, "state": existing.state(send, place.name)}
    return {f"{place.engine}:{place.name}": told}


def _uuid(config: StudyConfig, rows: Sequence[Setting], name: str, send: Transport) -> str | None:
    """Of the index; None where it may be searched only, which bodies of its user's own allow.

    Raises:
        BackendError: it is not there, or what it was made by has to be read from it.
    """
    try:
        return existing.look(send, name).uuid
    except Refused as error:
        if error.status != FORBIDDEN or any(body_path(config, row) is None for row in rows):
            raise
        return None


def _look(
    config: StudyConfig, setting: Setting, corpus: Corpus, send: Transport, progress: Progress
) -> None:
    assert setting.index is not None
    where = f"--attach {setting.index}" + (f" --body {setting.body}" if setting.body else "")
    bodies = asked(config, setting, corpus, answers_asked(config, corpus), send).bodies
    rows = [row for row, body in enumerate(bodies) if body][:LOOKED_AT]
    searcher = AnswerSearcher(setting.index, bodies, corpus.ids, config.id_field, send)
    try:
        found = [searcher.search(row) for row in rows]
    except EngineUnavailable:
        raise
    except BackendError as error:
        raise SettingError(f"{where}: {error}") from None
    known = sum(len(hits.ordinals) for hits in found)
    unknown = sum(hits.unknown for hits in found)
    if unknown and not known:
        row = next(row for row, hits in zip(rows, found, strict=True) if hits.unknown)
        reply = send(search_request(setting.index, bodies[row]))
        name = id_of(hits_of(setting.index, *reply)[0], config.id_field)
        ids = "_id" if config.id_field is None else config.id_field
        told = "its answers hold none" if name is None else f"such as {brief(name)}"
        raise SettingError(
            f"{where}: none of {unknown} answers to {len(rows)} queries is a document of the "
            f"corpus by its {ids} ({told}; the corpus has such as {brief(corpus.ids[0])}): name "
            "the field that holds the corpus' ids with --id-field"
        )
    if not known:
        progress.say(f"{where}: no answers to the first {len(rows)} queries")
    elif unknown:
        progress.say(
            f"{where}: {unknown} of {known + unknown} answers to {len(rows)} queries are no "
            "documents of the corpus; they are left out and counted"
        )


def with_rebuilt(
    config: StudyConfig,
    plan: Plan,
    missing: tuple[Planned, ...],
    store: Store,
    progress: Progress,
) -> tuple[Planned, ...]:
    """The missing trials, and those of an attached index that is not what was measured.

    All of its rows are of one state, so that they can be compared: where one is to be measured and
    the index has changed, all are. Where none is, an index that only changed keeps its rows, which
    is said. So it is where the server is away.
    """
    place = config.attach_place
    if place is None or _all_attached(plan, missing):
        return missing
    held = (store.meta(FACT) or {}).get(f"{place.engine}:{place.name}")
    if held is None:
        return missing
    try:
        with closing(transport_to(config, place.engine)) as send:
            known = held["uuid"] is not None  # or it may be searched only
            uuid = existing.look(send, place.name).uuid if known else None
            state = existing.state(send, place.name)
    except BackendError as error:
        progress.say(f"--attach {place.name}: its stored rows are kept, for {error}")
        return missing
    if uuid != held["uuid"]:
        progress.say(f"index {place.name} is another one than was measured: it is measured again")
    elif state == held["state"]:
        return missing
    elif any(is_attached(p) for p in missing):
        progress.say(f"index {place.name} has changed: all of its rows are measured again")
    else:
        progress.say(
            f"index {place.name} has changed since it was measured: --fresh measures all again"
        )
        return missing
    return tuple(p for p in plan.trials if p in missing or is_attached(p))


def put_attached(
    store: Store, plan: Plan, missing: Sequence[Planned], looked: dict[str, object]
) -> None:
    """Store what the attached index is, where all of its rows are to be measured.

    Rows that it does not hold for are removed: one that was left when a run is killed would pass
    for one of this state. Where rows are kept, so is what they were measured on.
    """
    if _all_attached(plan, missing) or store.meta(FACT) is None:
        store.forget(p.key for p in missing if is_attached(p))
        store.put_meta(FACT, looked)


def has_changed(store: Store, config: StudyConfig, send: Transport) -> bool:
    """Whether the attached index is not as it was when the first of its rows was measured."""
    place = config.attach_place
    held = (store.meta(FACT) or {}).get(f"{place.engine}:{place.name}") if place else None
    if place is None or held is None or held["state"] is None:
        return False
    return existing.state(send, place.name) not in (held["state"], None)


def _all_attached(plan: Plan, missing: Sequence[Planned]) -> bool:
    return all(p in missing for p in plan.trials if is_attached(p))


def without_handle(
    remarks: tuple[str, ...], told: Asked, unknown: int, *, changed: bool
) -> tuple[str, ...]:
    """The remarks of a row that has no index of ours."""
    found = (*remarks, *(line for line in told.remarks if line))
    if unknown:
        found += (f"{unknown} first answers are no documents of the corpus and were left out",)
    if changed:
        found += (CHANGED,)
    return found
