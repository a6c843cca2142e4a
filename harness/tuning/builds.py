"""Which index serves which trials, and its life from build to removal."""

from __future__ import annotations

import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from harness.filters import attributes_of
from harness.settings import layout_of
from harness.tuning.hashing import Hashing, hashing_of
from harness.tuning.plan import Planned
from harness.tuning.space import NESTED
from harness.tuning.specs import spec_of
from indexers.errors import BackendError
from indexers.index_types import Documents, IndexHandle, IndexSpec, Layout
from indexers.protocols import Backend
from indexers.types import Progress

RETRY_S = 0.5


def builds(
    missing: Sequence[Planned], planned: Sequence[Planned], build: str
) -> Iterator[tuple[IndexSpec, list[Planned]]]:
    """Missing trials by the index that serves them, in the order of measuring.

    Args:
        missing: trials of one hashing, grouped by backend and kind.
        planned: all trials of the study; what is built depends on them, so that a resumed
            study measures the same indexes as one that was not interrupted.
        build: `shared` gives nested kinds one index for all their settings; `per-setting`
            gives every setting its own.
    """
    attributes = attributes_of({p.point.setting.filter for p in planned})

    def spec(one: Planned) -> IndexSpec:
        """One build serves every filter, and no filter."""
        return replace(spec_of(one.point.setting), attributes=attributes)

    for place, group in groupby(missing, key=_place):
        members = list(group)
        if place[2] == NESTED and build == "shared":
            yield joint_spec([spec(p) for p in planned if _place(p) == place]), members
            continue
        for made, same in groupby(members, key=spec):
            yield made, list(same)


def _place(planned: Planned) -> tuple[Hashing | None, str, str, Layout]:
    setting = planned.point.setting
    return hashing_of(setting), setting.backend, setting.kind, layout_of(setting)


def joint_spec(specs: Sequence[IndexSpec]) -> IndexSpec:
    """The smallest nested index that serves all of these."""
    first = specs[0]
    return replace(
        first,
        num_tables=max(s.num_tables or 1 for s in specs),
        hash_lengths=tuple(sorted({length for s in specs for length in s.hash_lengths})),
    )


class TemporaryIndexes:
    """Builds indexes and sees to it that each is removed, on success, error and Ctrl-C.

    Args:
        note: told the names of the servers that may hold an index of ours, whenever that
            changes, so that a run after one that was killed knows where to look.
    """

    def __init__(self, note: Callable[[list[str]], None]) -> None:
        self._note = note
        self._doubtful: dict[str, Backend] = {}

    @contextmanager
    def built(
        self,
        backend: Backend,
        spec: IndexSpec,
        documents: Documents,
        folder: Path,
        stage: AbstractContextManager[Progress],
    ) -> Iterator[IndexHandle]:
        """An index that is gone after the block.

        Args:
            backend: where it is built.
            spec: what is built.
            documents: what it holds.
            folder: for its files in process; made here, and removed.
            stage: held while it is built; counts the documents.

        Raises:
            BackendError: the backend is away, or the index could not be built.
        """
        backend.check()
        folder.mkdir()
        known = backend.name in self._doubtful
        self._doubt(backend)
        try:
            with stage as advance:
                handle = backend.build(spec, documents, folder, advance)
            try:
                yield handle
            finally:
                with uninterrupted(), suppress(BackendError, OSError):
                    backend.drop(handle)
                    if not known:
                        self._trust(backend)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(self, patience_s: float) -> list[str]:
        """Look again where something may be left; gives why it could not be, a line a server.

        Args:
            patience_s: a server that went away is given this long to come back.
        """
        end = time.monotonic() + patience_s
        while True:
            reasons = []
            with uninterrupted():
                for backend in list(self._doubtful.values()):
                    try:
                        backend.sweep()
                        self._trust(backend)
                    except (BackendError, OSError) as error:
                        reasons.append(f"{backend.name}: {error}")
            if not reasons or time.monotonic() >= end:
                return reasons
            time.sleep(RETRY_S)

    def remove_left(self, backend: Backend) -> None:
        """Remove what stands there still, of which nothing is in use.

        Raises:
            BackendError: it cannot be.
        """
        if backend.name in self._doubtful:
            backend.sweep()
            self._trust(backend)

    def _doubt(self, backend: Backend) -> None:
        if backend.remote:
            self._doubtful[backend.name] = backend
            self._note(sorted(self._doubtful))

    def _trust(self, backend: Backend) -> None:
        self._doubtful.pop(backend.name, None)
        self._note(sorted(self._doubtful))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM while something of ours is being removed.

    The first one waits for the end of the block; a second one, from someone who has been told
    what is going on, does not.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []

    def note(number: int, _frame: object) -> None:
        pressed.append(number)
        if len(pressed) > 1:
            raise KeyboardInterrupt
        sys.stderr.write("removing the temporary index; once more leaves it to the next run\n")

    held = (signal.SIGINT, signal.SIGTERM)
    previous = [signal.signal(number, note) for number in held]
    try:
        yield
    finally:
        for number, handler in zip(held, previous, strict=True):
            signal.signal(number, handler)
    if pressed:
        raise KeyboardInterrupt
