"""How far a changed text stays near its original: similarity to it, and its rank in the corpus."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.bench.choices import Choice, choices
from harness.bench.compare import Sides, default_variant
from harness.bench.config import BenchConfig
from harness.bench.hashing import Hashed, fingerprint
from harness.bench.left_out import LeftOut
from harness.bench.output import make_folder
from harness.bench.robustness.cases import Case, changed, chosen_perturbations, sampled
from harness.bench.robustness.perturbations import Perturbation
from harness.collection import source
from harness.collection.types import Corpus
from harness.config_problems import ALL
from harness.progress import Progress, duration
from indexers import registry
from indexers.errors import SettingError
from indexers.protocols import Similarity
from indexers.types import F64, I64, Form, Status

SCHEMA_VERSION = 1
_BLOCK_SCORES = 2**22
_NATURAL: Mapping[Form, str] = {
    "bits": "hamming",
    "signature": "agreement",
    "sequence": "jaccard",
    "string": "levenshtein",
    "vector": "cosine",
}
_BY_DIFFERING_BITS = ("hamming", "manhattan")
"""Similarities of codes that are 1 / (1 + d), d the number of differing bits."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Changed texts against the corpus; NaN where text or original has no fingerprint.

    Attributes:
        similarity: float64 (n,), of each text to its original.
        above: float64 (n,), documents nearer to the text than its original.
        equal: float64 (n,), documents as near, the original among them.
    """

    similarity: F64
    above: F64
    equal: F64


def measure(
    config: BenchConfig, perturbations: Sequence[str], sample: int, progress: Progress
) -> dict[str, Any]:
    """Every family and similarity under every perturbation and strength.

    Args:
        config: corpus, families, similarities and how they hash.
        perturbations: names; none for all.
        sample: documents to change, at most.
        progress: told how far it is.

    Returns:
        `{"schema_version", "corpus": {"name", "documents"}, "sample", "seed", "perturbations":
        [{"name", "strengths", "share_of"}], "left_out": [line], "rows": [row]}`; a row is told
        by `summary`, with `bits_equal_mean` behind it: the mean share of equal bits of codes
        compared by hamming or manhattan, over the texts of `similarity_mean`; else None.

    Raises:
        SettingError: a setting, a name, or a family that was named cannot hash so.
        CorpusError: the documents cannot be used.
    """
    seed = source.DEFAULT_SEED if config.seed is None else config.seed
    made = chosen_perturbations(perturbations)
    # the vectors of changed texts cannot come from a file
    chosen, waiting = choices(config, vectors_by="give --model NAME")
    assert config.corpus is not None
    corpus = source.open_corpus(config.corpus, config.fields, seed=seed)
    if config.out is not None:
        make_folder(config.out)
    originals = sampled(corpus, sample, seed)
    left_out = LeftOut(progress.say, *waiting)
    cases, texts = changed(corpus, originals, made, seed)
    sides = _sides(config, corpus, originals, texts, progress)
    rows: list[dict[str, Any]] = []
    for choice in _told(chosen, progress):
        with left_out.unless(choice.named):
            rows += _family(choice, config, sides, originals, cases, left_out)
    if not rows:
        raise SettingError(*left_out.lines)
    return {
        "schema_version": SCHEMA_VERSION,
        "corpus": {"name": corpus.name, "documents": len(corpus.ids)},
        "sample": len(originals),
        "seed": seed,
        "perturbations": [_described(name, one) for name, one in made.items()],
        "left_out": left_out.lines,
        "rows": rows,
    }


def _described(name: str, one: Perturbation) -> dict[str, Any]:
    return {"name": name, "strengths": list(one.strengths), "share_of": one.share_of}


def _sides(
    config: BenchConfig, corpus: Corpus, originals: I64, texts: Sequence[str], progress: Progress
) -> Sides:
    """The corpus' documents, and the changed texts in the place of its queries."""
    if not config.has_vectors:
        return Sides(corpus.texts, texts)
    from harness.bench.vectors import with_vectors

    query_self = np.full(len(texts), -1, np.int32)
    query_self[: len(originals)] = originals
    asked = replace(
        corpus,
        query_ids=[str(row) for row in range(len(texts))],
        query_texts=texts,
        query_self=query_self,
        judgments=None,
    )
    return with_vectors(config, asked, progress)


def _told(chosen: Sequence[Choice], progress: Progress) -> Iterator[Choice]:
    started = time.monotonic()
    for done, choice in enumerate(chosen, 1):
        yield choice
        left_s = (time.monotonic() - started) / done * (len(chosen) - done)
        told = f", about {duration(left_s)} left" if done < len(chosen) else ""
        progress.say(f"{done}/{len(chosen)} families ({choice.family}){told}")


def _family(
    choice: Choice,
    config: BenchConfig,
    sides: Sides,
    originals: I64,
    cases: Sequence[Case],
    left_out: LeftOut,
) -> list[dict[str, Any]]:
    variant = default_variant(choice, sides, config.hashing)
    documents, asked = sides.of(choice.family)
    hashed = fingerprint(choice.family, variant.params, documents, asked, variant.size)
    rows: list[dict[str, Any]] = []
    for name, form in _compared(choice, config):
        with left_out.unless(choice.named):
            rows += _by_similarity(choice.family, name, form, hashed, originals, cases)
    return rows


def _by_similarity(
    family: str, name: str, form: Form, hashed: Hashed, originals: I64, cases: Sequence[Case]
) -> list[dict[str, Any]]:
    similarity = registry.similarity(name).fitted(hashed.documents)
    done: dict[int, Ranked] = {}  # the originals are ranked once
    rows = []
    for case in cases:
        if case.rows.start not in done:
            done[case.rows.start] = ranked(similarity, form, hashed, case.rows, originals)
        head = {"family": family, "similarity": name}
        row = summary(case, done[case.rows.start], hashed, originals)
        bits = hashed.documents.bits if form == "bits" and name in _BY_DIFFERING_BITS else None
        equal = _bits_equal(done[case.rows.start].similarity, bits)
        rows.append({**head, **row, "bits_equal_mean": equal})
    return rows


def _bits_equal(similarity: F64, bits: int | None) -> float | None:
    """Mean share of equal bits of what is told as 1 / (1 + d), d the bits that differ."""
    told = similarity[~np.isnan(similarity)]
    return None if bits is None else _mean(1 - np.rint(1 / told - 1) / bits)


def _compared(choice: Choice, config: BenchConfig) -> Sequence[tuple[str, Form]]:
    """The similarities asked for; else the one that the family is made for."""
    if ALL not in config.similarity:
        return choice.similarities
    forms = registry.family(choice.family).forms
    natural = _NATURAL["signature" if "signature" in forms else forms[0]]
    return [pair for pair in choice.similarities if pair[0] == natural] or choice.similarities[:1]


def ranked(
    similarity: Similarity, form: Form, hashed: Hashed, rows: slice, originals: I64
) -> Ranked:
    """Rank the original of each changed text among all documents.

    Args:
        similarity: how.
        form: in which fingerprints are compared.
        hashed: of the corpus' documents, and of the changed texts as queries.
        rows: of the changed texts.
        originals: int64 (n,), ordinal of the original of each of these rows.
    """
    n = len(originals)
    found, above, equal = np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan)
    step = max(1, _BLOCK_SCORES // len(hashed.documents))
    for start in range(0, n, step):
        part = np.arange(start, min(start + step, n))
        scores = similarity.matrix(hashed.queries.take(rows.start + part), hashed.documents, form)
        own = scores[np.arange(len(part)), originals[part]]
        told = ~np.isnan(own)
        found[part] = own
        above[part[told]] = (scores[told] > own[told, None]).sum(axis=1)
        equal[part[told]] = (scores[told] == own[told, None]).sum(axis=1)
    return Ranked(found, above, equal)


def summary(case: Case, found: Ranked, hashed: Hashed, originals: I64) -> dict[str, Any]:
    """One row.

    Documents as near to a text as its original tie with it: ranks, their reciprocals and the
    chance of rank 1 are expected values over the orders of the tie. A text without a
    fingerprint counts as a miss (0) in `mrr` and `top1` and is left out of the means of
    similarity and rank, which are None where no text has one.

    Returns:
        `perturbation`, `strength`, `similarity_mean`, `rank_mean`, `rank_median`, `mrr`, `top1`,
        `not_ok` (texts without a fingerprint, or with codes of zeros that have no similarity),
        `n` (texts whose original has one) and `kept` (characters of the changed texts over those
        of the originals).
    """
    held = hashed.documents.status[originals] == Status.OK
    ok = held & (hashed.queries.status[case.rows] == Status.OK) & ~np.isnan(found.similarity)
    above, equal, n = found.above[ok], found.equal[ok], int(held.sum())
    ranks = above + (equal + 1) / 2
    return {
        "perturbation": case.perturbation,
        "strength": case.strength,
        "similarity_mean": _mean(found.similarity[ok]),
        "rank_mean": _mean(ranks),
        "rank_median": float(np.median(ranks)) if len(ranks) else None,
        "mrr": float(reciprocal(above, equal).sum()) / n if n else None,
        "top1": float(np.where(above == 0, 1 / np.maximum(equal, 1), 0).sum()) / n if n else None,
        "not_ok": n - int(ok.sum()),
        "n": n,
        "kept": case.kept,
    }


def _mean(values: F64) -> float | None:
    return float(values.mean()) if len(values) else None


def reciprocal(above: F64, equal: F64) -> F64:
    """Expected 1 / rank over ranks above + 1 … above + equal, all equally likely."""
    if not len(above):
        return np.zeros(0)
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, int((above + equal).max()) + 1))])
    low, high = above.astype(np.int64), (above + equal).astype(np.int64)
    result: F64 = (harmonic[high] - harmonic[low]) / equal
    return result
