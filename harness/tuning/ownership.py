"""What of a server is a study's own: the owner tag of its file, and its notes of what may be left.

A study file can be copied, sent, or written by someone else, so that a note in it proves nothing by
itself: an owner tag is a study's own only where it holds the digest of this very file's identity,
host and folder. Of any other tag nothing is removed on the word of a note.
"""

from __future__ import annotations

import hashlib
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.engines import ENGINES
from indexers.backends._engine_temporary import OWNER

IDENTITY = re.compile("[0-9a-f]{16}", re.ASCII)
"""What a study file draws once."""
DIGEST_BYTES = 8
"""So many that nobody finds an identity whose tag is another study's."""


@dataclass(frozen=True, slots=True)
class PossibleLeftover:
    """Where an index of a study may still stand.

    Attributes:
        backend: its name.
        server: where, without credentials.
        owner: the tag that it carries.
    """

    backend: str
    server: str
    owner: str


def owner_tag(study: str, identity: str, folder: Path) -> str:
    """Marks what a study file makes, and nothing else's: no lock keeps two files apart.

    Hosts and folders of two containers may have the same names; and a file that was copied is
    another in another folder.

    Args:
        study: its name.
        identity: of the file, drawn once.
        folder: that holds it.
    """
    return f"{study}-{_digest(identity, folder)}"


def is_own(owner: str, identity: str, folder: Path) -> bool:
    """Whether a tag is of the study file in this folder, under whatever name of the study."""
    return owner.endswith(f"-{_digest(identity, folder)}")


def noted(value: object) -> list[PossibleLeftover]:
    """What a study file notes, from JSON; entries that no study writes are passed over."""
    entries = value if isinstance(value, list) else []
    return [found for entry in entries if (found := _noted(entry)) is not None]


def _noted(entry: object) -> PossibleLeftover | None:
    if not isinstance(entry, Mapping):
        return None
    backend, server, owner = (entry.get(name) for name in ("backend", "server", "owner"))
    if not (isinstance(backend, str) and isinstance(server, str) and isinstance(owner, str)):
        return None
    known = backend in ENGINES and server.isprintable() and OWNER.fullmatch(owner)
    return PossibleLeftover(backend, server, owner) if known else None


def _digest(identity: str, folder: Path) -> str:
    place = f"{identity}:{socket.gethostname()}:{folder.resolve()}".encode(errors="surrogateescape")
    return hashlib.blake2b(place, digest_size=DIGEST_BYTES).hexdigest()
