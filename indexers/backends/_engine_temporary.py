"""Temporary indices: how one is known as ours, and how one is removed.

An index is ours where its name and its owner tag fit exactly what is written here, and fit each
other. Nothing else is ever removed. A removal names one index, with wildcards off; immediately
before it the index is looked at again, immediately after it too: neither engine removes by uuid.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import orjson

from indexers.backends._engine_admin import Call
from indexers.backends._engine_errors import Refused
from indexers.errors import BackendError, IndexMissing, SettingError
from indexers.http_request import HttpRequest, Listing

PREFIX = "harness"
LONGEST_OWNER = 200
OWNER = re.compile(rf"[a-z0-9-]{{1,{LONGEST_OWNER}}}", re.ASCII)
NAME = re.compile(rf"{PREFIX}-({OWNER.pattern})-[0-9a-f]{{8}}", re.ASCII)
CREATED_FORM = "%Y-%m-%dT%H:%M:%SZ"
ALL = Listing(f"{PREFIX}-*")
"""What may be ours, for reading."""
REMOVAL_LIMIT_S = 10.0
"""Of one request when removing: a server that hangs must not hold up the end of a run."""
_ONE = {"expand_wildcards": "none"}
_TOLD = {
    "filter_path": "*.aliases,*.mappings._meta.harness,*.settings.index.uuid"
    ",*.settings.index.hidden,*.settings.index.creation_date,*.data_stream"
}
_MILLISECONDS = re.compile("[0-9]{1,14}", re.ASCII)
_FORBIDDEN, _MISSING = 403, 404
_UNREADABLE = 200
"""Status of a refusal whose reply is no JSON: what one index holds may be none that can be read."""


def check_owner(owner: str) -> None:
    """Refuse tags that cannot be part of an index name.

    Raises:
        SettingError: it is one.
    """
    if not OWNER.fullmatch(owner):
        raise SettingError(
            f"owner {owner!r:.80} is out of range: 1 to {LONGEST_OWNER} of a-z, 0-9 and -"
        )


def new_name(owner: str) -> str:
    """A name for a temporary index."""
    return f"{PREFIX}-{owner}-{secrets.token_hex(4)}"


def alias_of(name: str) -> str:
    """The alias by which alone documents of a temporary index are sent."""
    return f"{name}-updates"


def tag_of(owner: str, created: str) -> dict[str, str]:
    """The owner tag of an index, `_meta.harness` in its mapping; the time as `CREATED_FORM`."""
    return {"owner": owner, "created": created}


@dataclass(frozen=True, slots=True)
class Found:
    """An index that a server finds by a name that begins as ours do: its own, or of an alias or a
    data stream that it belongs to.

    Attributes:
        name: as the server tells it; anything, unless it is ours.
        uuid: of this index; another one under its name has another. Empty where none is told.
        owner: in its name and its tag; None for an index that is not ours.
        problem: why it is not ours, or None.
        aliases: that it carries beside the one it was made with, sorted.
        hidden: from patterns; none is made so here, but a template of the cluster can do it.
        created_ms: by the server's clock, since 1970; None where that is not told.
    """

    name: str
    uuid: str
    owner: str | None
    problem: str | None
    aliases: tuple[str, ...] = ()
    hidden: bool = False
    created_ms: int | None = None


def found(call: Call, where: Listing = ALL) -> list[Found]:
    """What stands on a server, ours and not, by name; only looked at.

    Raises:
        BackendError: the server does not tell.
    """
    parameters = {"expand_wildcards": "all", **_TOLD}
    request = HttpRequest("GET", (where,), parameters)
    try:
        reply = call(request, what=f"looking for {where.text}", timeout_s=REMOVAL_LIMIT_S)
    except Refused as error:
        with suppress(Refused):  # else the first refusal is the one to tell
            if error.status in (_FORBIDDEN, _UNREADABLE):
                return _one_by_one(call, where)
        raise
    return [_found(name, told) for name, told in sorted(reply.items())]


def _one_by_one(call: Call, where: Listing) -> list[Found]:
    """As `found`, where one index keeps the others from being listed, by a block or by what its
    mapping holds."""
    request = HttpRequest("GET", ("_resolve", "index", where), {"expand_wildcards": "all"})
    reply = call(request, what=f"looking for {where.text}", timeout_s=REMOVAL_LIMIT_S)
    entries = [_mapping(entry) for entry in _list(reply.get("indices"))]
    names = sorted(str(entry["name"]) for entry in entries if "name" in entry)
    return [one for name in names if (one := _looked_at(call, name)) is not None]


def _looked_at(call: Call, name: str) -> Found | None:
    if owner_in(name) is None:
        return _found(name, {})
    try:
        return look(call, name)
    except Refused as error:
        return Found(name, "", None, f"it cannot be looked at: {error}")


def owned(call: Call, owner: str) -> list[Found]:
    """The temporary indices of an owner, by name; only looked at."""
    check_owner(owner)
    return [one for one in found(call, Listing(f"{PREFIX}-{owner}-*")) if one.owner == owner]


def look(call: Call, name: str) -> Found | None:
    """One index as it is now; None where none has this very name."""
    request = HttpRequest("GET", (name,), {**_ONE, **_TOLD})
    try:
        reply = call(request, what=f"reading {name}", timeout_s=REMOVAL_LIMIT_S)
    except Refused as error:
        if error.status == _MISSING:
            return None
        raise
    if name not in reply and reply:  # an alias, or a data stream
        others = ", ".join(map(repr, sorted(reply)[:3]))
        return Found(name, "", None, f"the name stands for {others:.160}")
    return _found(name, reply[name]) if reply else None


def made(call: Call, name: str) -> Found:
    """An index that was just made, as it is.

    Raises:
        IndexMissing: it is gone already.
    """
    if (there := look(call, name)) is None:
        raise IndexMissing(f"{name} is gone: someone removed it as soon as it was made")
    return there


def check_made(there: Found, owner: str) -> None:
    """Refuse an index that is not as it was made: it would not be known again after a kill.

    Raises:
        BackendError: it is one.
    """
    if there.owner != owner:
        raise BackendError(
            f"{there.name} is not as it was made: {there.problem}; see which index template of "
            "the cluster changes it"
        )


def remove(
    call: Call,
    name: str,
    owner: str,
    uuid: str | None = None,
    kept: Callable[[Found], str | None] | None = None,
) -> bool:
    """Remove one index that is ours by its name and tag, read-only or not.

    Args:
        call: to the server.
        name: of the index.
        owner: whose it must be, by name and tag.
        uuid: of the index that is meant; None for whichever has this name.
        kept: why an index of ours is left all the same, or None; without it, none is.

    Returns:
        Whether this removed it, and it is gone by the server's word; False where it was gone.

    Raises:
        BackendError: it is not removed: it is not ours, or another one than is meant, or is
            kept, or the server did not do it.
        EngineUnavailable: no answer came.
    """

    def reason(there: Found) -> str | None:
        if there.owner != owner:
            return f"it is not ours ({there.problem})"
        return (None if uuid is None else _other(there, uuid)) or (kept(there) if kept else None)

    return _removed(call, name, owner, reason)


def remove_made(call: Call, name: str, owner: str, uuid: str) -> bool:
    """Remove the index that this run made, whatever was done to it since: its uuid tells.

    Args:
        call: to the server.
        name: that it was made by.
        owner: in its name.
        uuid: that it got.

    Returns, Raises: as `remove`.
    """
    return _removed(call, name, owner, lambda there: _other(there, uuid))


def _other(there: Found, uuid: str) -> str | None:
    if there.uuid == uuid:
        return None
    # an alias and a data stream have no uuid of their own
    return "another index has taken its name" if there.uuid else there.problem


def _removed(call: Call, name: str, owner: str, reason: Callable[[Found], str | None]) -> bool:
    there = _meant(call, name, owner, reason)
    if there is None:
        return False
    try:
        done = _delete(call, name)
    except Refused as error:
        if error.status != _FORBIDDEN:
            raise
        _unlock(call, name)
        again = _meant(call, name, owner, lambda one: _other(one, there.uuid) or reason(one))
        if again is None:
            return False
        done = _delete(call, name)
    after = look(call, name)
    if after is not None and after.uuid == there.uuid:
        raise BackendError(f"{name} still stands after its removal: run again")
    return done


def remove_all(call: Call, owner: str) -> list[str]:
    """Remove all indices that carry an owner's tag; gives the names of those removed, sorted.

    What a run that was killed made is known by its tag alone.
    """
    ours = owned(call, owner)
    return [one.name for one in ours if remove(call, one.name, owner, one.uuid)]


def _meant(
    call: Call, name: str, owner: str, reason: Callable[[Found], str | None]
) -> Found | None:
    """The index that is to be removed, as it is now; None where it is gone.

    Raises:
        BackendError: there is a reason to leave it.
    """
    if owner_in(name) != owner:
        raise BackendError(f"{name!r:.300} is not removed: it is no name of owner {owner!r:.80}")
    there = look(call, name)
    if there is not None and (told := reason(there)):
        raise BackendError(f"{name} is not removed: {told}")
    return there


def _delete(call: Call, name: str) -> bool:
    """Whether this removed it: False where it was gone."""
    request = HttpRequest("DELETE", (name,), _ONE)
    try:
        call(request, what=f"removing {name}", timeout_s=REMOVAL_LIMIT_S)
    except Refused as error:
        if error.status != _MISSING:
            raise
        return False
    return True


def _unlock(call: Call, name: str) -> None:
    """A read-only index takes this setting, and takes it alone."""
    body = orjson.dumps({"index.blocks.read_only": False})
    request = HttpRequest("PUT", (name, "_settings"), _ONE, body)
    call(request, what=f"unlocking {name}", timeout_s=REMOVAL_LIMIT_S)


def owner_in(name: str) -> str | None:
    """The owner in a name of ours; None for any other name."""
    parts = NAME.fullmatch(name)
    return parts[1] if parts else None


def _found(name: str, told: object) -> Found:
    index = _mapping(told, "settings", "index")
    uuid, created = index.get("uuid"), index.get("creation_date")
    problem = _problem(name, told, index)
    return Found(
        name,
        uuid if isinstance(uuid, str) else "",
        None if problem else owner_in(name),
        problem,
        tuple(sorted(alias for alias in _mapping(told, "aliases") if alias != alias_of(name))),
        index.get("hidden") in (True, "true"),
        int(created) if isinstance(created, str) and _MILLISECONDS.fullmatch(created) else None,
    )


def _problem(name: str, told: object, index: Mapping[str, object]) -> str | None:
    """Why an index is not one that is made here, or None."""
    owner = owner_in(name)
    if _mapping(told).get("data_stream") is not None:
        return "it belongs to a data stream"
    if owner is None and not name.startswith(f"{PREFIX}-"):
        aliases = [alias for alias in _mapping(told, "aliases") if alias.startswith(f"{PREFIX}-")]
        return f"it is found by its alias {min(aliases)!r:.300}" if aliases else "its name is other"
    if owner is None:
        return f"its name is not {PREFIX}-OWNER-XXXXXXXX"
    tag = _mapping(told, "mappings", "_meta").get("harness")
    if not isinstance(tag, Mapping):
        return "it has no owner tag"
    if tag.keys() != tag_of("", "").keys() or not _is_time(tag["created"]):
        return "its owner tag is none that harness writes"
    if tag["owner"] != owner:
        return "its owner tag does not fit its name"
    return None if isinstance(index.get("uuid"), str) else "the server tells no uuid of it"


def _is_time(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return f"{datetime.strptime(value, CREATED_FORM):{CREATED_FORM}}" == value
    except ValueError:
        return False


def _mapping(value: object, *path: str) -> Mapping[str, object]:
    """The object at this path; empty where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
