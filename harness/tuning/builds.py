"""Which index serves which trials, and its life from build to removal."""

from __future__ import annotations

import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from harness.tuning.plan import Planned
from harness.tuning.space import NESTED, spec_of
from indexers.errors import BackendError
from indexers.types import Backend, Documents, IndexHandle, IndexSpec, Progress


def builds(trials: Sequence[Planned], build: str) -> Iterator[tuple[IndexSpec, list[Planned]]]:
    """Trials by the index that serves them, in the order of measuring.

    Args:
        trials: of one family, grouped by backend and kind.
        build: `shared` gives nested kinds one index for all their settings; `per-setting`
            gives every setting its own.
    """

    def place(planned: Planned) -> tuple[str, str]:
        return planned.point.setting.backend, planned.point.setting.kind

    for (_, kind), group in groupby(trials, key=place):
        members = list(group)
        if kind == NESTED and build == "shared":
            yield joint_spec([spec_of(p.point.setting) for p in members]), members
            continue
        for spec, same in groupby(members, key=lambda p: spec_of(p.point.setting)):
            yield spec, list(same)


def joint_spec(specs: Sequence[IndexSpec]) -> IndexSpec:
    """The smallest nested index that serves all of these."""
    first = specs[0]
    return IndexSpec(
        backend=first.backend,
        kind=first.kind,
        family=first.family,
        num_tables=max(s.num_tables or 1 for s in specs),
        hash_lengths=tuple(sorted({length for s in specs for length in s.hash_lengths})),
        bits=first.bits,
    )


class TemporaryIndexes:
    """Builds indexes and sees to it that each is removed, on success, error and Ctrl-C.

    Args:
        note: told the backends that may hold an index of ours, whenever that changes, so that
            a run after one that was killed knows where to look.
    """

    def __init__(self, note: Callable[[list[str]], None]) -> None:
        self._note = note
        self._left: list[tuple[Backend, IndexHandle]] = []

    @contextmanager
    def built(
        self,
        backend: Backend,
        spec: IndexSpec,
        documents: Documents,
        folder: Path,
        progress: Progress,
    ) -> Iterator[IndexHandle]:
        """An index that is gone after the block.

        Raises:
            BackendError: the backend is away, or the index could not be built.
        """
        backend.check()
        folder.mkdir()
        self._tell(backend)
        try:
            handle = backend.build(spec, documents, folder, progress)
            try:
                yield handle
            finally:
                with uninterrupted():
                    self._drop(backend, handle)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            self._tell()

    def drop_left(self) -> list[str]:
        """Try once more what could not be removed; names what still stands.

        A server that went away may have come back by now.
        """
        with uninterrupted():
            left, self._left = self._left, []
            for backend, handle in left:
                self._drop(backend, handle)
        self._tell()
        return [handle.location for _, handle in self._left]

    def _tell(self, *building: Backend) -> None:
        holders = [*(backend for backend, _ in self._left), *building]
        self._note(sorted({backend.name for backend in holders if backend.remote}))

    def _drop(self, backend: Backend, handle: IndexHandle) -> None:
        try:
            backend.drop(handle)
        except (BackendError, OSError):
            self._left.append((backend, handle))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C while something of ours is being removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []

    def note(number: int, _frame: object) -> None:
        pressed.append(number)

    previous = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pressed:
        raise KeyboardInterrupt
