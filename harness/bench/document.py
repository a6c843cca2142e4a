"""The comparison as one JSON object: what `--json` prints and `bench.json` holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness import __version__
from harness.bench.compare import Compared
from harness.bench.grid import Cell
from harness.bench.rows import DIGITS, Row, front, total_s
from harness.bench.scoring import Task
from harness.measures.equivalence import rank_classes
from harness.measures.pooled import AVERAGE_PRECISION

SCHEMA_VERSION = 1


def document(
    task: Task,
    compared: Sequence[Compared],
    found: Sequence[Row],
    cells: Sequence[Cell],
    left_out: Sequence[str],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything that a run found.

    Args:
        task: what was ranked.
        compared: every family.
        found: their rows.
        cells: of the grid; none where it was not asked for.
        left_out: one line for each family that was not compared.
        settings: `seed`, `resamples`, `command`, and `vectors`: given, encoded or None.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "version": __version__,
        **settings,
        "corpus": _corpus(task),
        "protocol": task.protocol,
        "relevant_from": task.relevant_from,
        "rows": list(found),
        "random_order": {AVERAGE_PRECISION: round(random_order(task), DIGITS)},
        "front": [_place(row) for row in front(found)],
        "equivalent": equivalent(compared),
        "grid": [cell.values() for cell in cells],
        "unusable": {one.family: one.unusable for one in compared if one.unusable},
        "left_out": list(left_out),
    }


def random_order(task: Task) -> float:
    """Expected MAP of candidates in random order, as a constant scorer has it.

    Of n candidates in random order a relevant one has each rank r with probability 1 / n, and
    (r - 1)(R - 1) / (n - 1) other relevant ones are expected before it. Their mean precision is
    (H_n + (R - 1)(n - H_n) / (n - 1)) / n, H_n = 1 + 1/2 + … + 1/n.
    """
    pools = task.pools
    relevant = np.add.reduceat(pools.gains >= task.relevant_from, pools.indptr[:-1])
    sizes = pools.sizes
    if task.protocol == "corpus":
        own = pools.corpus.query_self[pools.queries] >= 0
        sizes = len(pools.corpus.ids) - own.astype(np.int64)
    harmonic = np.cumsum(1 / np.arange(1, int(sizes.max()) + 1))[sizes - 1]
    others = (relevant - 1) * (sizes - harmonic) / np.maximum(sizes - 1, 1)
    return float(np.where(relevant > 0, (harmonic + others) / sizes, 0).mean())


def equivalent(compared: Sequence[Compared]) -> list[list[dict[str, str]]] | None:
    """Classes of two or more that order every query's candidates identically; None where there
    are too many scores to tell."""
    scores = {
        (one.family, name): measured.scored.scores
        for one in compared
        for name, measured in one.defaults.items()
    }
    if not all(scores.values()):
        return None
    names = {f"{family} {similarity}": (family, similarity) for family, similarity in scores}
    classes = rank_classes({name: scores[key] for name, key in names.items()})
    return [
        [{"family": names[name][0], "similarity": names[name][1]} for name in members]
        for members in classes
        if len(members) > 1
    ]


def _place(row: Row) -> dict[str, Any]:
    named = {name: row[name] for name in ("family", "similarity", AVERAGE_PRECISION)}
    return {**named, "total_s": total_s(row)}


def _corpus(task: Task) -> dict[str, Any]:
    pools = task.pools
    relevant = np.add.reduceat(pools.gains >= task.relevant_from, pools.indptr[:-1])
    return {
        "name": pools.corpus.name,
        "content": pools.corpus.content,
        "benchmark": pools.benchmark,
        "documents": len(pools.corpus.ids),
        "queries": len(pools),
        "facets": dict(sorted(Counter(facet for facet in pools.facets if facet).items())),
        "pairs": len(pools.candidates),
        "folds": len(pools.folds),
        "without_relevant": int(np.count_nonzero(relevant == 0)),
        "all_relevant": int(np.count_nonzero(relevant == pools.sizes)),
        "skipped": pools.corpus.skipped,
        "source": pools.corpus.source,
    }
