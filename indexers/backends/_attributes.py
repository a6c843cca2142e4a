"""Attributes of an index in process, by which answers are filtered.

Numbers are one float64 a document. Texts are numbered in order of appearance, −1 for none; the
texts themselves stand apart.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson

from indexers.errors import BackendError
from indexers.filters import KEYWORD, Value, as_numbers
from indexers.index_types import Documents, IndexSpec
from indexers.types import I32


def write_attributes(folder: Path, spec: IndexSpec, documents: Documents) -> None:
    """Write the attributes that the index is to hold, of all documents by ordinal.

    Raises:
        BackendError: the documents have no such attribute.
    """
    for number, (name, held_as) in enumerate(spec.attributes):
        values = documents.attributes.get(name)
        if values is None or len(values) != len(documents.ids):
            raise BackendError(f"the documents have no attribute {name!r}: read it with them")
        if held_as == KEYWORD:
            rows, texts = _numbered(values)
            (folder / f"attribute-{number}.json").write_bytes(orjson.dumps(texts))
            np.save(folder / f"attribute-{number}.npy", rows)
        else:
            np.save(folder / f"attribute-{number}.npy", as_numbers(values))


def _numbered(values: Any) -> tuple[I32, list[str]]:
    numbers: dict[Value, int] = {None: -1}
    rows = [numbers.setdefault(value, len(numbers) - 1) for value in values]
    return np.array(rows, np.int32), [str(text) for text in list(numbers)[1:]]
