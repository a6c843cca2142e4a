"""The grid as panels: a family's cells by two sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexers import registry


@dataclass(frozen=True, slots=True)
class Panel:
    """One family's cells.

    Attributes:
        family: its name.
        row_name, column_name: what rows and columns count.
        rows, columns: ascending; one row named by a dash where only the columns count.
        cells: (row, column) -> the cell as the JSON holds it.
        reference: what shares are of.
    """

    family: str
    row_name: str
    column_name: str
    rows: tuple[int | None, ...]
    columns: tuple[int, ...]
    cells: Mapping[tuple[int | None, int], Mapping[str, Any]]
    reference: str


def panels(grid: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """A panel for each family, in the order of the cells.

    Columns count hash_length where the cells are keys of tables; else the bits of codes.
    """
    families = dict.fromkeys(cell["family"] for cell in grid)
    return [_panel(name, [cell for cell in grid if cell["family"] == name]) for name in families]


def _panel(family: str, cells: Sequence[Mapping[str, Any]]) -> Panel:
    keyed = registry.family(family).nested and cells[0]["num_tables"] is not None
    column = "hash_length" if keyed else "bits"
    rows = dict.fromkeys(sorted({cell["num_tables"] for cell in cells}, key=lambda n: n or 0))
    return Panel(
        family,
        "num_tables",
        column,
        tuple(rows),
        tuple(sorted({cell[column] for cell in cells})),
        {(cell["num_tables"], cell[column]): cell for cell in cells},
        cells[0]["reference"],
    )
