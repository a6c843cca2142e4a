"""Which documents are changed, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.bench.robustness.perturbations import PERTURBATIONS, Draws, Perturbation
from harness.collection.types import Corpus
from harness.config_problems import ALL
from indexers.errors import CorpusError, SettingError
from indexers.types import I64


@dataclass(frozen=True, slots=True)
class Case:
    """A perturbation at one strength.

    Attributes:
        perturbation: its name.
        rows: where its texts are among all that are hashed.
        kept: characters of its texts over those of the originals.
    """

    perturbation: str
    strength: float
    rows: slice
    kept: float


def chosen_perturbations(names: Sequence[str]) -> dict[str, Perturbation]:
    """The perturbations of these names, or all.

    Raises:
        SettingError: one is unknown.
    """
    unknown = [repr(name) for name in names if name not in (*PERTURBATIONS, ALL)]
    if unknown:
        raise SettingError(
            f"perturbation {', '.join(unknown)} is unknown: choose from {', '.join(PERTURBATIONS)}"
        )
    if not names or ALL in names:
        return dict(PERTURBATIONS)
    return {name: one for name, one in PERTURBATIONS.items() if name in names}


def sampled(corpus: Corpus, count: int, seed: int) -> I64:
    """Ordinals of documents drawn from those that are not blank, ascending; all if fewer.

    Raises:
        SettingError: fewer than one is asked for.
        CorpusError: every document is blank.
    """
    if count < 1:
        raise SettingError(f"sample {count} is out of range: at least 1 document")
    told = [ordinal for ordinal, text in enumerate(corpus.texts) if text.strip()]
    if not told:
        raise CorpusError(f"corpus {corpus.name}: every document is blank; choose other --fields")
    drawn = Draws(seed, "sample").order(len(told))[:count]
    return np.sort(np.array(told, np.int64)[drawn])


def changed(
    corpus: Corpus, originals: I64, made: Mapping[str, Perturbation], seed: int
) -> tuple[list[Case], list[str]]:
    """Every case, and the texts of all of them; the originals come first, once."""
    ordinals = originals.tolist()
    texts = [corpus.texts[ordinal] for ordinal in ordinals]
    n, characters, cases = len(ordinals), sum(map(len, texts)), []
    untouched = slice(0, n)
    for name, perturbation in made.items():
        for strength in perturbation.strengths:
            if not strength:
                cases.append(Case(name, strength, untouched, 1.0))
                continue
            now = [
                perturbation(text, strength, Draws(seed, name, corpus.ids[ordinal]))
                for text, ordinal in zip(texts[:n], ordinals, strict=True)
            ]
            kept = sum(map(len, now)) / characters
            cases.append(Case(name, strength, slice(len(texts), len(texts) + n), kept))
            texts += now
    return cases, texts
