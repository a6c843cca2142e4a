"""What a comparison leaves: `bench.json`, `rows.csv` and `report.html`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.measures.pooled import AVERAGE_PRECISION, NDCG_JK2
from harness.report.files import write_text
from indexers.errors import SettingError

_NESTED = ("params", "published")


def made(folder: Path) -> None:
    """Make the folder if it is missing.

    Raises:
        SettingError: it cannot be made, or is no folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise _unwritable(folder, fault) from fault


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
    try:
        for name, content in files.items():
            write_text(folder / name, content)
    except OSError as fault:
        raise _unwritable(folder, fault) from fault


def _unwritable(folder: Path, fault: OSError) -> SettingError:
    return SettingError(
        f"--out {folder}: cannot be written ({fault.strerror or fault}); give another folder"
    )


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as RFC 4180, parameters as JSON, published figures in columns of their own."""
    stream = io.StringIO(newline="")
    names = [name for name in rows[0] if name not in _NESTED]
    published = (AVERAGE_PRECISION, NDCG_JK2)
    writer = csv.writer(stream)
    writer.writerow([*names, "params", *(f"published {name}" for name in published)])
    for row in rows:
        told = row["published"] or {}
        params = json.dumps(row["params"], ensure_ascii=False)
        writer.writerow([*(row[n] for n in names), params, *(told.get(n) for n in published)])
    return stream.getvalue()
