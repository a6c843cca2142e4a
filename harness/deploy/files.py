"""Files that the scripts of a deploy folder read, and the lines that they print."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from harness.collection import jsonl
from harness.collection.lines import shown
from indexers.errors import CorpusError
from indexers.index_types import Answer
from indexers.types import F32


class VectorRows:
    """Rows of a file of vectors, by their order or by ids."""

    def __init__(self, spec: str) -> None:
        from harness.collection.vector_files import read_vectors

        table = read_vectors(spec)  # float32 .npy stays on the disk
        self._spec, self._vectors = spec, table.vectors
        self._rows = None if table.ids is None else {n: r for r, n in enumerate(table.ids)}

    def of(self, ids: Sequence[str], start: int, count: int | None = None) -> F32:
        """The rows of these ids, or, where the file has none, from `start` on."""
        if self._rows is None or count is not None:
            stop = start + (len(ids) if count is None else count)
            if stop > len(self._vectors):
                raise self._other_count(f"at least {stop}")
            return self._vectors[start:stop]
        missing = [name for name in ids if name not in self._rows]
        if missing:
            raise CorpusError(
                f"{shown(Path(self._spec))}: has no vector for {missing[0]!r:.80}, as for "
                f"{len(missing) - 1} more of the documents"
            )
        return self._vectors[np.array([self._rows[name] for name in ids], np.int64)]

    def check_end(self, count: int) -> None:
        """Refuse more rows than there were documents or queries."""
        if self._rows is None and count != len(self._vectors):
            raise self._other_count(str(count))

    def _other_count(self, count: str) -> CorpusError:
        return CorpusError(
            f"{shown(Path(self._spec))}: has {len(self._vectors)} rows, and {count} are needed: "
            "one for each line, in the same order"
        )


def read_queries(path: Path) -> tuple[list[str], list[str]]:
    """Ids and texts of a JSON-lines file of queries.

    Raises:
        CorpusError: a line cannot be used.
    """
    table = jsonl.queries(path)
    return table.ids, table.texts


def told(
    ids: Iterable[str], answers: Iterable[Sequence[Answer]], *, as_json: bool
) -> Iterator[str]:
    """Lines that show the answers: JSON, one query a line, or columns of query, rank, id, score."""
    for query, found in zip(ids, answers, strict=True):
        if as_json:
            hits = [_shown(answer) for answer in found]
            yield json.dumps({"query": query, "hits": hits}, ensure_ascii=False)
            continue
        for rank, answer in enumerate(found, 1):
            yield f"{query}\t{rank}\t{answer.id}\t{answer.score:g}"


def _shown(answer: Answer) -> dict[str, object]:
    told: dict[str, object] = {"id": answer.id, "score": answer.score}
    return told if answer.document is None else told | {"document": answer.document}
