"""The filters of a study in its corpus: what they come to, and how many documents pass."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.collection import cache, digest
from harness.config import StudyConfig
from harness.filters import NONE, Asked, asked, fields_of, text_of
from harness.tuning import corpora
from indexers.errors import SettingError
from indexers.filters import Value, as_numbers, passing
from indexers.index_types import Filter

if TYPE_CHECKING:
    from harness.collection.types import Corpus

_RULES = "1"
"""Raised when the same filters begin to come to something else in the same corpus."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A filter in one corpus.

    Attributes:
        asked: as it was written.
        filter: as settings hold it.
        documents: how many pass.
        share: of the corpus' documents.
    """

    asked: str
    filter: str
    documents: int
    share: float


@dataclass(frozen=True, slots=True)
class Filtered:
    """A study whose filters are as settings hold them.

    Attributes:
        config: the study.
        filters: what each came to.
        corpus: where it had to be read, with the attributes of the filters.
    """

    config: StudyConfig
    filters: tuple[Resolved, ...] = ()
    corpus: Corpus | None = None


def resolve(config: StudyConfig, content: str) -> Filtered:
    """Look at every filter of a study, in its corpus or in what was kept of an earlier look.

    Args:
        config: the study.
        content: digest of its corpus.

    Raises:
        CorpusError: the corpus has no such field, or not of one type.
        SettingError: a filter does not fit its field, or too few documents pass; a line each.
    """
    fields = fields_of(config.filter)
    if not fields:
        return Filtered(config)
    name = f"filters/{digest.of_text(_RULES, content, *config.filter)}.json"
    kept, corpus = cache.read(name), None
    if kept is not None:
        found = [Resolved(**one) for one in json.loads(kept)]
    else:
        corpus = corpora.open_corpus(config)
        found = resolved(corpus, config.filter)
        cache.write(name, json.dumps([asdict(one) for one in found]).encode())
    _check_counts(found, config)
    by_text = {one.asked: one.filter for one in found}
    texts = tuple(dict.fromkeys(by_text.get(text, NONE) for text in config.filter))
    return Filtered(config.model_copy(update={"filter": texts}), tuple(found), corpus)


def resolved(corpus: Corpus, texts: Sequence[str]) -> list[Resolved]:
    """What each filter comes to, `none` left out.

    Raises:
        SettingError: filters that do not fit their fields, a line each.
    """
    found: list[Resolved] = []
    problems: list[str] = []
    for text in texts:
        one = asked(text)
        if one is None:
            continue
        values = corpus.attributes[one.field]
        try:
            wanted = _filter(text, one, values)
        except SettingError as error:
            problems += error.problems
            continue
        count = int(np.count_nonzero(passing(values, wanted)))
        if not count and wanted.value is not None and (one.share or one.range):
            problems.append(
                f"filter {text!r:.80}: {one.field} holds texts, none of them {one.value!r:.60}; a "
                "range or a share needs numbers"
            )
            continue
        found.append(Resolved(text, text_of(wanted), count, count / len(corpus.ids)))
    if problems:
        raise SettingError(*problems)
    return found


def _filter(text: str, one: Asked, values: Sequence[Value]) -> Filter:
    if any(isinstance(value, str) for value in values):
        return Filter(one.field, one.value)
    if one.share is not None:
        return Filter(one.field, high=_greatest_of_share(text, one.share, values))
    if one.range is None:
        raise SettingError(
            f"filter {text!r:.80}: {one.field} holds numbers; give a number, LOW..HIGH or SHARE%"
        )
    return Filter(one.field, None, *one.range)


def _greatest_of_share(text: str, share: float, values: Sequence[Value]) -> float:
    """The greatest value up to which no more than this share of all documents lie."""
    numbers = as_numbers(values)
    numbers = np.sort(numbers[~np.isnan(numbers)])
    most = int(share * len(values) + 1e-9)
    # all documents of one value pass or none
    upto = np.searchsorted(numbers, numbers, side="right")
    within = numbers[upto <= most]
    if not len(within):
        lowest = upto[0] / len(values)
        raise SettingError(
            f"filter {text!r:.80}: {lowest:.3%} of the documents have the lowest value, "
            f"{numbers[0]:g}; choose a share of at least that"
        )
    return float(within[-1])


def _check_counts(found: Sequence[Resolved], config: StudyConfig) -> None:
    problems = []
    for one in found:
        if one.documents < config.cutoff:
            passes = (
                "no document passes" if not one.documents else f"{one.documents} documents pass"
            )
            needed = f"at least {config.cutoff} must, as many as are asked for (--cutoff)"
            problems.append(f"filter {one.asked!r:.80}: {passes} it, and {needed}")
    if problems:
        raise SettingError(*problems)


def told(filters: Sequence[Resolved]) -> Iterator[str]:
    """A line each, for people."""
    for one in filters:
        was = "" if one.asked == one.filter else f" (asked for as {one.asked})"
        yield f"filter {one.filter}{was}: {one.documents:,} documents pass, {one.share:.3%} of all"
