"""A corpus by its name on the command line: a catalogue, a BEIR folder or a JSONL file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.collection import beir, digest, jsonl, reading
from harness.collection.lines import brief, shown
from harness.collection.types import Corpus
from indexers.errors import CorpusError
from indexers.types import Progress, no_progress

DEFAULT_SEED = 123
CATALOGUE_ITEMS = 20_000

RULES = "1"
"""Raised when the same files begin to give other texts, queries or judgments."""


@dataclass(frozen=True, slots=True)
class CorpusId:
    """A corpus without its content.

    Attributes:
        name: as `Corpus.name`.
        content: as `Corpus.content`.
    """

    name: str
    content: str


def identify(
    spec: str, fields: Sequence[str] | None = None, *, seed: int = DEFAULT_SEED
) -> CorpusId:
    """Name and content digest of a corpus, without parsing it.

    Args:
        spec: `catalogue`, `catalogue:N`, a BEIR folder or a JSONL file.
        fields: whose values are joined into a document's text; None or none for title and text.
        seed: of the catalogue, and of the queries drawn from a JSONL file.

    Raises:
        CorpusError: there is no such corpus, or a file cannot be read.
    """
    size = _catalogue_size(spec)
    if size is not None:
        return _catalogue_id(size, fields, seed)
    path = _existing(spec)
    if path.is_dir():
        layout = beir.locate(path)
        parts = ["beir", layout.split or "", *map(digest.of_file, layout.files)]
    else:
        parts = ["jsonl", f"{seed} {reading.SAMPLED_QUERIES}", digest.of_file(path)]
    joined = fields or jsonl.DEFAULT_FIELDS
    return CorpusId(_name(path), digest.of_text(RULES, str(len(parts)), *parts, *joined))


def open_corpus(
    spec: str,
    fields: Sequence[str] | None = None,
    *,
    seed: int = DEFAULT_SEED,
    progress: Progress = no_progress,
    attributes: Sequence[str] = (),
) -> Corpus:
    """Read a corpus whole.

    Args:
        spec: as for `identify`.
        fields: as for `identify`.
        seed: as for `identify`.
        progress: called with the number of documents read since the last call.
        attributes: fields that filters read, named as `fields` are.

    Raises:
        CorpusError: documents or queries cannot be used; file and line are named.
        JudgmentsError: judgments cannot be used, or match nothing.
    """
    fields = fields or None
    identity = identify(spec, fields, seed=seed)
    size = _catalogue_size(spec)
    if size is not None:
        corpus = _catalogue(size, seed, attributes)
        progress(size)
    elif Path(spec).is_dir():
        corpus = reading.read_folder(beir.locate(Path(spec)), fields, progress, attributes)
    else:
        corpus = reading.read_file(Path(spec), fields, seed, progress, attributes)
    return replace(corpus, name=identity.name, content=identity.content)


def _existing(spec: str) -> Path:
    path = Path(spec)
    remedy = "give a BEIR folder, a JSONL file or catalogue:N"
    if not spec or "\0" in spec:
        raise CorpusError(f"corpus {brief(spec)} is no path; {remedy}")
    try:
        if path.is_dir() or path.is_file():
            return path
        known = path.exists()
    except OSError as fault:
        raise CorpusError(f"{shown(path)}: cannot be read ({fault.strerror}); {remedy}") from fault
    what = "is neither a file nor a folder" if known else "no such file or folder"
    raise CorpusError(f"{shown(path)}: {what}; {remedy}")


def _name(path: Path) -> str:
    whole = path.resolve()
    name = whole.name
    if not path.is_dir():
        name = re.sub(r"(\.(jsonl|ndjson|json))?(\.gz)?$", "", name, flags=re.IGNORECASE)
        # most files of documents are called so: the folder tells them apart
        name = f"{whole.parent.name}-{name}" if name == "corpus" else name
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_only.lower()).strip("-")
    return slug[:60].rstrip("-") or "corpus"


def _catalogue_size(spec: str) -> int | None:
    """Items of `catalogue` or `catalogue:N`; None for a path."""
    head, colon, number = spec.partition(":")
    if head != "catalogue":
        return None
    if not colon:
        return CATALOGUE_ITEMS
    if not re.fullmatch(r"[0-9]{1,9}", number, re.ASCII):
        raise CorpusError(
            f"corpus {brief(spec)}: after catalogue: comes the number of items, "
            f"such as catalogue:{CATALOGUE_ITEMS}"
        )
    return int(number)


def _catalogue_queries(size: int) -> int:
    return min(1000, max(20, size // 20))


def _catalogue_id(size: int, fields: Sequence[str] | None, seed: int) -> CorpusId:
    from harness.collection import catalogue

    if fields and tuple(fields) != jsonl.DEFAULT_FIELDS:
        raise CorpusError(
            f"the catalogue's texts are title and text, not {', '.join(fields)}; "
            "leave --fields out, or give your own --corpus"
        )
    content = catalogue.content(size, _catalogue_queries(size), seed)
    return CorpusId(f"catalogue-{size}", content)


def _catalogue(size: int, seed: int, attributes: Sequence[str]) -> Corpus:
    from harness.collection import catalogue

    return catalogue.load(size, _catalogue_queries(size), seed, attributes)
