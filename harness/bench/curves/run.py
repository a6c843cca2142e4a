"""Hash curves from flags to output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import orjson

from harness.bench.compare import Sides
from harness.bench.curves.corpus import (
    CorpusTruth,
    Truth,
    chosen_families,
    from_corpus,
    relevance_of,
)
from harness.bench.curves.document import Document, document, radius_csv, rank_csv, table
from harness.bench.curves.flags import check_corpus, check_raw, check_truth
from harness.bench.curves.input import RawInput
from harness.bench.curves.raw import Measured, from_arrays
from harness.bench.output import make_folder, write_files
from harness.collection import source
from harness.collection.types import Corpus
from harness.measures.curves import Empty
from harness.progress import Progress
from harness.vector_flags import vector_source
from indexers.errors import SettingError


def run(
    *,
    corpus: str | None,
    empty: Empty,
    ties: Any,
    out: Path | None,
    as_json: bool,
    **flags: Any,
) -> None:
    """Measure, write and print.

    Args:
        corpus: name of a corpus; None for raw arrays.
        empty: what an empty ball's precision is for macro.
        ties: how documents of one distance are ranked.
        out: folder of curves.json, CSV and PNG; None for none.
        as_json: print JSON instead of tables.
        flags: of `RawInput`, or of a corpus.

    Raises:
        SettingError: flags or files do not fit together.
        CorpusError, JudgmentsError: a corpus or judgments cannot be used.
    """
    progress = Progress()
    if out is not None:
        make_folder(out)
    title, inputs = _raw(flags) if corpus is None else _corpus(corpus, flags, progress)
    curves: dict[str, Document] = {}
    for name, found in inputs:
        queries = len(found.coded.query_codes) * (2 if ties == "id" else 1)
        with progress.stage(f"distances {name}".strip(), queries) as advance:
            curves[name] = document(
                found.coded,
                found.relevance,
                note=found.note,
                empty=empty,
                ties=ties,
                progress=advance,
            )
    printed = curves[""] if corpus is None else {"corpus": title, "curves": curves}
    if out is not None:
        _write(out, title, printed, curves)
        progress.say(f"written: {out}")
    if as_json:
        click.echo(orjson.dumps(printed).decode())
    else:
        click.echo("\n\n".join(table(name, curve) for name, curve in curves.items()))


def _raw(flags: Mapping[str, Any]) -> tuple[str, Iterator[tuple[str, Measured]]]:
    given = {name: value for name, value in flags.items() if value is not None}
    if "codes" not in given and "family" not in given:
        raise SettingError(
            "nothing to measure: give --codes FILE, --vectors FILE with --family, or --corpus NAME"
        )
    if "codes" in given and "family" in given:
        raise SettingError("--family makes codes and --codes brings them; give one of them")
    check_raw(flags)
    for name in ("vectors", "query_vectors"):
        if name in given:
            given[name] = Path(given[name])
    raw = RawInput(**given)
    title = str(raw.family or getattr(raw.codes, "name", ""))
    return title, iter([("", from_arrays(raw))])


def _corpus(
    spec: str, flags: Mapping[str, Any], progress: Progress
) -> tuple[str, Iterator[tuple[str, Measured]]]:
    check_corpus(flags)
    families = chosen_families(_names(flags["family"]), bool(flags["vectors"] or flags["model"]))
    seed = source.DEFAULT_SEED if flags["seed"] is None else flags["seed"]
    found = source.open_corpus(spec, _names(flags["fields"]), seed=seed)
    kind: Truth = flags["truth"] or ("neighbours" if found.judgments is None else "judgments")
    check_truth(kind, flags)
    sides = _sides(found, flags, progress)
    names = ("relevant_from", "k", "rule", "ball_rank")
    given = {name: flags[name] for name in names if flags[name] is not None}
    truth = CorpusTruth(kind, **given)
    relevance = relevance_of(found, sides, truth, progress)
    hashing = {"bits": flags["bits"], "seed": flags["seed"]}
    return found.name, from_corpus(found, sides, families, relevance, hashing, progress)


def _sides(corpus: Corpus, flags: Mapping[str, Any], progress: Progress) -> Sides:
    """Texts, and vectors where they are given or a model makes them."""
    if not (flags["vectors"] or flags["query_vectors"] or flags["model"]):
        return Sides(corpus.texts, corpus.query_texts)
    from harness.collection.vectors import vectors_of

    with progress.stage("vectors", len(corpus.texts) + len(corpus.query_texts)) as advance:
        documents, queries = vectors_of(corpus, vector_source(flags), advance)
    return Sides(corpus.texts, corpus.query_texts, documents, queries)


def _names(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(part.strip() for part in text.split(",") if part.strip())


def _write(out: Path, title: str, printed: Document, curves: Mapping[str, Document]) -> None:
    from harness.bench.curves.plots import draw

    files = {
        "curves.json": orjson.dumps(printed) + b"\n",
        "radius.csv": radius_csv(curves).encode(),
        "rank.csv": rank_csv(curves).encode(),
        **draw(title, curves),
    }
    write_files(out, files)
