"""The official layout of CSFCube (Mysore et al., NeurIPS Datasets and Benchmarks 2021).

One folder holds `abstracts-csfcube-preds.jsonl`, a `test-pid2anns-csfcube-<facet>.json` for each
facet, and `evaluation_splits.json`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.collection import digest
from harness.collection.annotated import Release
from harness.collection.lines import shown
from indexers.errors import CorpusError

_ABSTRACTS = "abstracts-csfcube-preds.jsonl"
_ANNOTATIONS = "test-pid2anns-csfcube-"
_SPLITS = "evaluation_splits.json"
QUERIES = "75506416c68b593d5dd89d307c2c8da4"
"""Digest of the sorted ids `paper_facet` of its 50 judged pairs of query and facet."""


def benchmark(queries: Iterable[str]) -> str | None:
    """`csfcube` where these are all of its queries and no other; else None."""
    return "csfcube" if digest.of_text(*sorted(queries)) == QUERIES else None


def locate(folder: Path) -> Release | None:
    """The files of the release; None where the folder has no annotations of CSFCube.

    Raises:
        CorpusError: the abstracts are missing.
    """
    found = sorted(folder.glob(f"{_ANNOTATIONS}*.json"))
    if not found:
        return None
    abstracts = folder / _ABSTRACTS
    if not abstracts.is_file():
        raise CorpusError(
            f"{shown(folder)}: has annotations of CSFCube but no {_ABSTRACTS}; "
            "put the release's abstracts beside them"
        )
    splits = folder / _SPLITS
    return Release(
        name="csfcube",
        abstracts=abstracts,
        annotations={path.stem.removeprefix(_ANNOTATIONS): path for path in found},
        splits=splits if splits.is_file() else None,
        benchmark=benchmark,
    )
