"""What the releases of CSFCube and RELISH share: abstracts, and annotations by paper id."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.collection import digest, jsonl
from harness.collection.lines import brief, shown
from harness.collection.pools import Pool, Pools, packed, read_folds, read_json
from harness.collection.types import Corpus
from indexers.errors import CorpusError, JudgmentsError
from indexers.types import Progress, no_progress

FIELDS = ("title", "abstract")
_TEXT = "text"
"""As BEIR calls the abstract; both words are understood."""


@dataclass(frozen=True, slots=True)
class Release:
    """The files of one release.

    Attributes:
        name: of the benchmark, `csfcube` or `relish`; else of the folder.
        abstracts: JSON lines of `paper_id`, `title`, `abstract` (a list of sentences).
        annotations: facet (empty for none) -> JSON of paper id -> `cands`, `relevance_adju`.
        splits: JSON of query ids by fold; None where there is none.
        benchmark: query ids -> `Pools.benchmark`.
    """

    name: str
    abstracts: Path
    annotations: Mapping[str, Path]
    splits: Path | None
    benchmark: Callable[[Sequence[str]], str | None]


def read_release(
    release: Release, fields: Sequence[str] | None, progress: Progress = no_progress
) -> Pools:
    """The pools of a release; the papers that were annotated are the queries, and ask with the
    text that they have as documents.

    Raises:
        CorpusError: the abstracts cannot be used, or lack a query's paper.
        JudgmentsError: annotations or splits cannot be used.
    """
    chosen = _fields(fields)
    papers = _papers(release.abstracts, chosen, progress)
    ids = sorted(papers)
    ordinals = {name: ordinal for ordinal, name in enumerate(ids)}
    row_of = {name: row for row, name in enumerate(papers)}
    asked = [
        (facet, name, judged, path)
        for facet, path in sorted(release.annotations.items())
        for name, judged in _annotations(path)
    ]
    _require(release.abstracts, asked, ordinals)
    names = [f"{name}_{facet}" if facet else name for facet, name, _, _ in asked]
    own = [ordinals[name] for _, name, _, _ in asked]
    corpus = Corpus(
        name=release.name,
        content=_content(release, chosen),
        ids=ids,
        texts=[papers[name] for name in ids],
        query_ids=names,
        query_texts=[papers[name] for _, name, _, _ in asked],
        query_self=np.array(own, np.int32),
        judgments=None,
        file_rows=np.array([row_of[name] for name in ids], np.int64),
        source=f"{release.abstracts.name}, fields {' + '.join(chosen)}; "
        f"{', '.join(path.name for _, path in sorted(release.annotations.items()))}",
    )
    pools = [Pool(row, facet, judged) for row, (facet, _, judged, _) in enumerate(asked)]
    return _packed(release, corpus, pools)


def _packed(release: Release, corpus: Corpus, pools: Sequence[Pool]) -> Pools:
    where = ", ".join(shown(path) for path in release.annotations.values())
    skipped: dict[str, int] = {}
    queries, facets, indptr, candidates, gains = packed(corpus, pools, where, skipped)
    called = [corpus.query_ids[row] for row in queries]
    return Pools(
        corpus=replace(corpus, skipped=skipped),
        queries=queries,
        facets=facets,
        indptr=indptr,
        candidates=candidates,
        gains=gains,
        folds=() if release.splits is None else read_folds(release.splits, called, facets),
        benchmark=release.benchmark(called),
    )


def _fields(fields: Sequence[str] | None) -> tuple[str, ...]:
    chosen = tuple("abstract" if name == _TEXT else name for name in fields or FIELDS)
    unknown = [name for name in chosen if name not in FIELDS]
    if unknown:
        raise CorpusError(
            f"fields {', '.join(unknown)}: the abstracts have title and abstract; "
            "choose of these with --fields"
        )
    return chosen


def _papers(path: Path, fields: Sequence[str], progress: Progress) -> dict[str, str]:
    """Paper id -> text, in the order of the file."""
    papers: dict[str, str] = {}
    for number, record in jsonl.objects(path):
        name = record.get("paper_id")
        if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
            raise _fault(path, number, 'needs "paper_id", a string or an integer')
        if str(name) in papers:
            raise _fault(path, number, f"paper {brief(str(name))} is given twice; remove one")
        papers[str(name)] = _text(path, number, record, fields)
        progress(1)
    if not any(text.strip() for text in papers.values()):
        raise CorpusError(f"{shown(path)}: holds no text; give one paper with its abstract a line")
    return papers


def _text(path: Path, number: int, record: Mapping[str, Any], fields: Sequence[str]) -> str:
    parts = []
    for field in fields:
        value = record.get(field)
        sentences = value if isinstance(value, list) else [value or ""]
        if not all(isinstance(sentence, str) for sentence in sentences):
            raise _fault(path, number, f'"{field}" must be a string or a list of sentences')
        parts += [sentence for sentence in sentences if sentence]
    return " ".join(parts)


def _annotations(path: Path) -> list[tuple[str, list[tuple[str, float]]]]:
    """(paper id, its judged (id, gain)) as stored."""
    tree = read_json(path, JudgmentsError)
    if not isinstance(tree, dict):
        raise JudgmentsError(f"{shown(path)}: must be one JSON object of paper ids")
    return [(name, _judged(path, name, entry)) for name, entry in tree.items()]


def _judged(path: Path, name: str, entry: Any) -> list[tuple[str, float]]:
    what = f"{shown(path)}: paper {brief(name)}"
    entry = entry if isinstance(entry, dict) else {}
    candidates, labels = entry.get("cands"), entry.get("relevance_adju")
    if not isinstance(candidates, list) or not isinstance(labels, list):
        raise JudgmentsError(f'{what} needs the lists "cands" and "relevance_adju"')
    if len(candidates) != len(labels):
        raise JudgmentsError(
            f"{what} has {len(candidates)} candidates and {len(labels)} labels; mend it"
        )
    for label in labels:
        if isinstance(label, bool) or not isinstance(label, int | float) or not label >= 0:
            raise JudgmentsError(f"{what} has the label {brief(label)}; give a number from 0 up")
    return [(str(c), float(label)) for c, label in zip(candidates, labels, strict=True)]


def _require(
    path: Path,
    asked: Sequence[tuple[str, str, list[tuple[str, float]], Path]],
    ordinals: Mapping[str, int],
) -> None:
    for _, name, _, file in asked:
        if name not in ordinals:
            raise CorpusError(
                f"{shown(path)}: lacks the paper {brief(name)} that {file.name} asks for; "
                "the two files must be of one release"
            )


def _content(release: Release, fields: Sequence[str]) -> str:
    files = [release.abstracts, *(path for _, path in sorted(release.annotations.items()))]
    files += [] if release.splits is None else [release.splits]
    return digest.of_text("release", *map(digest.of_file, files), *fields)


def _fault(path: Path, number: int, what: str) -> CorpusError:
    return CorpusError(f"{shown(path)} line {number}: {what}")
