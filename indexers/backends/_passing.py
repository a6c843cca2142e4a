"""Which documents of an index in process pass a filter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson

from indexers.backends._folder import map_array
from indexers.errors import BackendError
from indexers.filters import attribute_of, within
from indexers.index_types import IndexHandle, SearchParams
from indexers.types import U64, Bool


def allowed(handle: IndexHandle, params: SearchParams) -> Bool | None:
    """Which documents may be answered, by ordinal: bool (documents,); None for all.

    Raises:
        BackendError: a file is gone or damaged.
    """
    wanted = params.filter
    if wanted is None:
        return None
    number = handle.spec.attributes.index(attribute_of(wanted))
    held = map_array(handle, f"attribute-{number}")
    if not isinstance(wanted.value, str):
        return within(held, wanted)
    path = Path(handle.location) / f"attribute-{number}.json"
    try:
        texts = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        problem = f"index file {path} cannot be opened: {error}; build it again"
        raise BackendError(problem) from error
    row = texts.index(wanted.value) if wanted.value in texts else len(texts)
    return np.asarray(held == row)


def as_bit_set(mask: Bool | None) -> U64:
    """A bit a document, 64 a word from the lowest; empty for all documents."""
    if mask is None:
        return np.zeros(0, np.uint64)
    packed = np.packbits(mask, bitorder="little")
    words = np.zeros(8 * (-(-len(mask) // 64)), np.uint8)
    words[: len(packed)] = packed
    return words.view("<u8").astype(np.uint64)
