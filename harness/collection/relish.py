"""The layout of RELISH as released with Aspire (Mysore et al., NAACL 2022), and of its likes.

One folder holds `abstracts-relish.jsonl`, `test-pid2anns-relish.json` with labels 0 to 2, and
`relish-evaluation_splits.json` with the lists `dev` and `test`. Another name in the place of
`relish` is another collection of the same layout.
"""

from __future__ import annotations

from pathlib import Path

from harness.collection.annotated import Release
from harness.collection.lines import shown
from indexers.errors import CorpusError

BENCHMARK = "relish"


def locate(folder: Path) -> Release | None:
    """The files of the release; None where the folder has no annotations.

    Raises:
        CorpusError: it has several, or no abstracts.
    """
    found = sorted(folder.glob("*pid2anns*.json"))
    if not found:
        return None
    abstracts = sorted(folder.glob("abstracts-*.jsonl"))
    if len(found) != 1 or len(abstracts) != 1:
        raise CorpusError(
            f"{shown(folder)}: has {len(found)} files *pid2anns*.json and {len(abstracts)} files "
            "abstracts-*.jsonl; give a folder with one of each"
        )
    name = abstracts[0].stem.removeprefix("abstracts-").removesuffix("-preds")
    splits = sorted(folder.glob("*evaluation_splits.json"))
    return Release(
        name=name,
        abstracts=abstracts[0],
        annotations={"": found[0]},
        splits=splits[0] if splits else None,
        benchmark=lambda _: BENCHMARK if name == BENCHMARK else None,
    )
