"""What makes a study like production: stored documents, replays, and indexing meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np

from harness.config import StudyConfig
from harness.engines import ENGINES
from harness.settings import ATTACHED, Setting
from indexers.abilities import Updatable
from indexers.index_types import Documents, IndexHandle, IndexSpec
from indexers.protocols import Backend
from indexers.types import I32, Status
from loadtest.schedule import query_cycle
from loadtest.writing import Writer

OWNERS = "in the attached index nothing is indexed, and its caches are as its owner set them"
WORN_SHARE = 0.1
"""Of an index's documents, the most that may be deleted when a trial begins."""


def in_production(spec: IndexSpec, config: StudyConfig) -> IndexSpec:
    """The index with what the study's way of asking needs, the same in all of its trials."""
    if spec.backend not in ENGINES:
        return spec
    return replace(
        spec,
        stores_source="source" in config.fetch,
        updatable=config.indexing_rate is not None,
        cached=config.zipf_exponent is not None,
    )


def content(config: StudyConfig, setting: Setting) -> dict[str, object]:
    """What a trial's key says of it; nothing where it is not used."""
    found: dict[str, object] = {}
    if config.zipf_exponent is not None:
        found["zipf_exponent"] = config.zipf_exponent
    if setting.kind == ATTACHED:  # asked as it is, never written to
        return found
    backend_name = setting.backend
    if backend_name in ENGINES and "source" in config.fetch:
        found["stores_source"] = True
    if backend_name in ENGINES and config.indexing_rate is not None:
        found["indexing_rate"] = config.indexing_rate
    return found


def load_words(config: StudyConfig, backend_name: str) -> str:
    """What a report tells of the load beside its rate; empty where it is the usual one."""
    place = config.attach_place
    attached = place is not None and place.engine == backend_name
    engine = backend_name in ENGINES and not (attached and config.only_attached)
    told = []
    if config.zipf_exponent is not None:
        caches = ", the engine's caches on" if engine else ""
        told.append(
            f"queries drawn by Zipf's law with exponent {config.zipf_exponent:g}{caches}; those "
            "never drawn are asked afterwards without load, for quality alone"
        )
    if engine and config.indexing_rate is not None:
        told.append(
            f"meanwhile documents are indexed again, {config.indexing_rate:g} a second; between "
            "trials the index is merged, or built anew where a tenth of it is deleted"
        )
    if engine and "source" in config.fetch:
        told.append("the index stores the documents")
    if attached and (config.zipf_exponent is not None or config.indexing_rate is not None):
        told.append(OWNERS)
    return "".join(f"; {line}" for line in told)


@contextmanager
def indexing(
    config: StudyConfig, backend: Backend, handle: IndexHandle, documents: Documents
) -> Iterator[Writer | None]:
    """Index documents again at the study's rate until the end of the block.

    Gives the writer, whose `written` tells what came of it after the block; None where the index
    is left alone. Documents keep their content, so that right answers stay the same.
    """
    if config.indexing_rate is None or not _writable(backend, handle):
        yield None
        return
    assert isinstance(backend, Updatable)
    write = partial(backend.update, handle, documents)
    order = query_cycle(_indexed(documents), config.seed).astype(np.int64)
    with Writer(write, order, config.indexing_rate) as writer:
        yield writer


def worn(config: StudyConfig, backend: Backend, handle: IndexHandle) -> bool:
    """Settle an index that was written into, for the next trial; whether it is to be built anew.

    A document indexed again leaves its older self behind, deleted. Engines keep the deleted for
    minutes, whatever is merged, since a copy of the shard may need them: beyond a tenth of all,
    the next trial would be measured on another index than the first.

    Raises:
        BackendError: it could not be settled.
    """
    if config.indexing_rate is None or not _writable(backend, handle):
        return False
    assert isinstance(backend, Updatable)
    return backend.settle(handle) > WORN_SHARE


def _writable(backend: Backend, handle: IndexHandle) -> bool:
    return handle.spec.updatable and isinstance(backend, Updatable)


def _indexed(documents: Documents) -> I32:
    """Ordinals of the documents that an index holds."""
    if documents.fingerprints is None:
        return np.arange(len(documents.ids), dtype=np.int32)
    return np.flatnonzero(documents.fingerprints.status == Status.OK).astype(np.int32)
