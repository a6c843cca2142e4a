"""Where the files of a BEIR folder are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.collection.lines import shown
from indexers.errors import CorpusError

SPLITS = ("test", "dev", "validation", "val", "train")
_SUFFIXES = ("", ".gz")


@dataclass(frozen=True, slots=True)
class Layout:
    """The files that are used.

    Attributes:
        corpus: documents.
        queries: queries.
        judgments: None where there are none.
        split: name of the split where the judgments are one of several; queries of others are
            then left out, as BEIR does.
        other_splits: splits that were there and are not used.
    """

    corpus: Path
    queries: Path
    judgments: Path | None
    split: str | None = None
    other_splits: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that are used."""
        found = (self.corpus, self.queries)
        return found if self.judgments is None else (*found, self.judgments)


def locate(folder: Path) -> Layout:
    """The files to use: `corpus.jsonl`, `queries.jsonl`, and `qrels.tsv` or a split of `qrels/`.

    Raises:
        CorpusError: corpus or queries are missing, or the folder cannot be read.
    """
    corpus = _needed(folder, "corpus.jsonl", "give a BEIR folder, or one JSONL file of documents")
    remedy = f"add them, or give {corpus.name} itself to use documents as queries"
    queries = _needed(folder, "queries.jsonl", remedy)
    judgments = _present(folder, "qrels.tsv")
    if judgments is not None:
        return Layout(corpus, queries, judgments)
    splits = dict(_splits(folder))
    if not splits:
        return Layout(corpus, queries, None)
    preferred = [name for name in SPLITS if name in splits] or sorted(splits)
    split = preferred[0]
    others = tuple(sorted(name for name in splits if name != split))
    return Layout(corpus, queries, splits[split], split, others)


def _splits(folder: Path) -> Iterator[tuple[str, Path]]:
    """Split name -> file, of `qrels/NAME.tsv`, else `qrels.NAME.tsv`."""
    inside = _named(folder / "qrels", "")
    return iter((inside or _named(folder, "qrels.")).items())


def _named(folder: Path, prefix: str) -> dict[str, Path]:
    if not folder.is_dir():
        return {}
    found: dict[str, Path] = {}
    for suffix in _SUFFIXES:
        ending = f".tsv{suffix}"
        for path in sorted(_entries(folder)):
            if path.name.startswith(prefix) and path.name.endswith(ending):
                found.setdefault(path.name.removeprefix(prefix).removesuffix(ending), path)
    return found


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as fault:
        raise _unreadable(folder, fault) from fault


def _needed(folder: Path, name: str, remedy: str) -> Path:
    found = _present(folder, name)
    if found is None:
        there = ", ".join(sorted(path.name for path in _entries(folder))[:8]) or "nothing"
        raise CorpusError(f"{shown(folder)}: has no {name} or {name}.gz (there: {there}); {remedy}")
    return found


def _present(folder: Path, name: str) -> Path | None:
    for suffix in _SUFFIXES:
        path = folder / f"{name}{suffix}"
        try:
            if path.exists():
                return path
        except OSError as fault:
            raise _unreadable(folder, fault) from fault
    return None


def _unreadable(folder: Path, fault: OSError) -> CorpusError:
    return CorpusError(
        f"{shown(folder)}: cannot be read ({fault.strerror}); it must be a readable folder"
    )
