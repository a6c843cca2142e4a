"""Small corpora on disk."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest


def _lines(records: Sequence[Any]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


@pytest.fixture
def write_beir(tmp_path: Path) -> Callable[..., Path]:
    """Writes a BEIR folder; records may be given as objects or as raw bytes."""

    def write(
        documents: Sequence[Any] | bytes = ({"_id": "d1", "text": "one"},),
        queries: Sequence[Any] | bytes = ({"_id": "q1", "text": "one"},),
        qrels: str | None = None,
        *,
        packed: bool = False,
        qrels_name: str = "qrels.tsv",
    ) -> Path:
        folder = tmp_path / "My Corpus"
        files = {
            "corpus.jsonl": documents if isinstance(documents, bytes) else _lines(documents),
            "queries.jsonl": queries if isinstance(queries, bytes) else _lines(queries),
        }
        if qrels is not None:
            files[qrels_name] = qrels.encode()
        for name, content in files.items():
            path = folder / (f"{name}.gz" if packed else name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(content) if packed else content)
        return folder

    return write
