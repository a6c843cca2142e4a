"""The official layout of CSFCube (Mysore et al., NeurIPS Datasets and Benchmarks 2021).

One folder holds `abstracts-csfcube-preds.jsonl`, a `test-pid2anns-csfcube-<facet>.json` for each
facet, and `evaluation_splits.json`.
"""

from __future__ import annotations

from pathlib import Path

from harness.collection.annotated import Release
from harness.collection.lines import shown
from indexers.errors import CorpusError

_ABSTRACTS = "abstracts-csfcube-preds.jsonl"
_ANNOTATIONS = "test-pid2anns-csfcube-"
_SPLITS = "evaluation_splits.json"


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
        benchmark="csfcube",
    )
