"""What a comparison leaves: `bench.json`, `rows.csv` and `report.html`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.bench.output import text_bytes, write_files
from harness.measures.pooled import AVERAGE_PRECISION, NDCG_JK2

_NESTED = ("params", "published")


def write(found: Mapping[str, Any], page: str, folder: Path) -> None:
    """Write the files, each whole or not at all; the folder is made if missing.

    Args:
        found: the comparison as its JSON object.
        page: `report.html`.
        folder: where.

    Raises:
        SettingError: they cannot be written there.
    """
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    files = {
        "bench.json": text + "\n",
        "rows.csv": rows_csv(found["rows"]),
        "report.html": page,
    }
    write_files(folder, {name: text_bytes(content) for name, content in files.items()})


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as RFC 4180, parameters as JSON, published figures in columns of their own."""
    stream = io.StringIO(newline="")
    names = [name for name in rows[0] if name not in _NESTED]
    published = (AVERAGE_PRECISION, NDCG_JK2)
    writer = csv.writer(stream)
    writer.writerow(
        [*names, "params", *(f"published {name}" for name in published), "published name"]
    )
    for row in rows:
        told = row["published"] or {}
        params = json.dumps(row["params"], ensure_ascii=False)
        writer.writerow(
            [*(row[n] for n in names), params, *(told.get(n) for n in (*published, "name"))]
        )
    return stream.getvalue()
