"""Pools of a BEIR folder, with facets and folds where it has them, or of an official release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.collection import annotated, beir, csfcube, digest, jsonl, judgments, relish, source
from harness.collection.lines import brief, shown
from harness.collection.pools import Pool, Pools, packed, read_folds
from harness.collection.types import Corpus
from indexers.errors import CorpusError
from indexers.types import Progress, no_progress

_SPLITS = ("splits.json", "evaluation_splits.json")


def open_pools(
    spec: str,
    fields: Sequence[str] | None = None,
    *,
    seed: int = source.DEFAULT_SEED,
    progress: Progress = no_progress,
) -> Pools:
    """The judged pools of a corpus, recognised by what lies in its folder.

    Args:
        spec: a folder (BEIR, CSFCube or RELISH), or `catalogue:N`.
        fields: joined into a document's text; None or none for title and text.
        seed: of the catalogue.
        progress: called with the number of documents read since the last call.

    Raises:
        CorpusError: documents or queries cannot be used, or there are no judgments.
        JudgmentsError: judgments or splits cannot be used.
    """
    folder = Path(spec)
    release = None
    if spec and "\0" not in spec and folder.is_dir():
        release = csfcube.locate(folder) or relish.locate(folder)
    if release is not None:
        return annotated.read_release(release, fields or None, progress)
    corpus = source.open_corpus(spec, fields, seed=seed, progress=progress)
    if corpus.judgments is None:
        raise CorpusError(
            f"corpus {brief(spec)}: has no judgments to compare by; add qrels.tsv or give another"
        )
    return _folder(corpus, folder) if folder.is_dir() else _judged(corpus)


def _judged(corpus: Corpus) -> Pools:
    """Pools of judgments that lie in memory only."""
    truth = corpus.judgments
    assert truth is not None
    rows = np.flatnonzero(np.diff(truth.indptr)).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(np.diff(truth.indptr)[rows])]).astype(np.int64)
    return Pools(corpus, rows, ("",) * len(rows), indptr, truth.documents, truth.gains)


def _folder(corpus: Corpus, folder: Path) -> Pools:
    layout = beir.locate(folder)
    assert layout.judgments is not None
    facet_of = _facets(layout.queries)
    files = {} if facet_of else _facet_files(folder, layout)
    skipped: dict[str, int] = {}
    pools = [
        pool
        for facet, path in (files or {"": layout.judgments}).items()
        for pool in _pools(path, corpus, facet, facet_of)
    ]
    pools.sort(key=lambda pool: (pool.query, pool.facet))
    where = ", ".join(shown(path) for path in files.values()) or shown(layout.judgments)
    queries, facets, indptr, candidates, gains = packed(corpus, pools, where, skipped)
    splits = next((folder / name for name in _SPLITS if (folder / name).is_file()), None)
    ids = [corpus.query_ids[query] for query in queries]
    return Pools(
        corpus=_told(corpus, skipped, [*files.values(), *([] if splits is None else [splits])]),
        queries=queries,
        facets=facets,
        indptr=indptr,
        candidates=candidates,
        gains=gains,
        folds=() if splits is None else read_folds(splits, ids, facets),
        benchmark=csfcube.benchmark(ids),
    )


def _told(corpus: Corpus, skipped: Mapping[str, int], more: Sequence[Path]) -> Corpus:
    """The corpus with the judgments of the pools left out, and files that it knows nothing of."""
    kept = {reason: n for reason, n in corpus.skipped.items() if reason not in judgments.LEFT_OUT}
    content = digest.of_text(corpus.content, *map(digest.of_file, more)) if more else corpus.content
    return replace(corpus, skipped={**kept, **skipped}, content=content)


def _facets(path: Path) -> dict[str, str]:
    """Query id -> `metadata.facet`, of those that have one."""
    found = {}
    for _, record in jsonl.objects(path):
        metadata = record.get("metadata")
        facet = metadata.get("facet") if isinstance(metadata, dict) else None
        if isinstance(facet, str) and facet:
            found[str(record.get("_id", record.get("id")))] = facet
    return found


def _facet_files(folder: Path, layout: beir.Layout) -> dict[str, Path]:
    """Facet -> `qrels.<facet>.tsv` beside `qrels.tsv`; splits of BEIR are no facets."""
    if layout.split is not None:
        return {}
    found = {
        path.name.removeprefix("qrels.").removesuffix(".tsv"): path
        for path in sorted(folder.glob("qrels.*.tsv"))
    }
    return {name: path for name, path in found.items() if name not in beir.SPLITS}


def _pools(path: Path, corpus: Corpus, facet: str, facet_of: Mapping[str, str]) -> Iterator[Pool]:
    rows = {name: row for row, name in enumerate(corpus.query_ids)}
    judged: dict[int, dict[str, float]] = {}
    for line in judgments.rows(path):
        row = rows.get(line.query)
        if row is not None:
            judged.setdefault(row, {}).setdefault(line.document, line.gain)
    for row, gains in judged.items():
        yield Pool(row, facet or facet_of.get(corpus.query_ids[row], ""), list(gains.items()))
