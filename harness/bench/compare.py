"""Every family with every similarity on one task: measured once with each set of parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from harness.bench.choices import Choice
from harness.bench.hashing import (
    Hashed,
    Variant,
    bench_params,
    bench_size,
    fingerprint,
    variants,
)
from harness.bench.left_out import problems_of
from harness.bench.scoring import Scored, Task, score
from indexers import registry
from indexers.errors import MissingPackage, SettingError
from indexers.types import F32, Form, Items, Status

_WARM_ITEMS = 2
_TOLD = ("bits", "seed", "unit", "shingle_size", "weighting", "window", "dimension")


@dataclass(frozen=True, slots=True)
class Sides:
    """What is hashed.

    Attributes:
        texts: of the documents by ordinal.
        query_texts: of the corpus' queries by row.
        vectors, query_vectors: float32 (n, D) of the same; None where there are none.
        encode_s: spent making the vectors; None where they were given, or kept from before.
    """

    texts: Sequence[str]
    query_texts: Sequence[str]
    vectors: F32 | None = None
    query_vectors: F32 | None = None
    encode_s: float | None = None

    def of(self, family: str) -> tuple[Items, Items]:
        """Documents and queries as this family takes them."""
        if registry.family(family).source == "text":
            return self.texts, self.query_texts
        return self.vectors, self.query_vectors

    def dimension(self, family: str) -> int | None:
        """D where the family hashes vectors."""
        if registry.family(family).source == "text" or self.vectors is None:
            return None
        return int(self.vectors.shape[1])


@dataclass(frozen=True, slots=True)
class Measured:
    """One family with one similarity and one set of parameters.

    Attributes:
        family, similarity, form: what was compared.
        variant: how it was hashed.
        scored: the measures of each row.
        fingerprint_s: spent hashing documents and queries.
        encode_s: spent making their vectors; None for texts, and as in `Sides`.
    """

    family: str
    similarity: str
    form: Form
    variant: Variant
    scored: Scored
    fingerprint_s: float
    encode_s: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """One family: its defaults, and what the dev halves may choose from.

    Attributes:
        family: its name.
        defaults: similarity -> measured with the bench's defaults.
        tried: similarity -> measured with each set of parameters, the defaults first, the others
            without their scores.
        unusable: `documents` and `queries` -> status -> count, under the defaults.
        left_out: a line for each similarity that could not compare its fingerprints.
    """

    family: str
    defaults: dict[str, Measured]
    tried: dict[str, list[Measured]]
    unusable: dict[str, dict[str, int]]
    left_out: tuple[str, ...] = ()


def default_variant(choice: Choice, sides: Sides, given: dict[str, Any]) -> Variant:
    """How a family is hashed unless told otherwise.

    Raises:
        SettingError: the family cannot hash so.
    """
    name = choice.family
    params = bench_params(name, **given, dimension=sides.dimension(name))
    variant = Variant(params, bench_size(name, params))
    registry.family(name).check(variant.size, params)
    return variant


def compare(task: Task, choice: Choice, sides: Sides, given: dict[str, Any]) -> Compared:
    """Measure one family.

    Args:
        task: what is ranked.
        choice: the family and its similarities.
        sides: what is hashed.
        given: parameters that were asked for; they hold in every set.

    Raises:
        SettingError: the family cannot hash so, a vector is not finite, nothing gives a
            fingerprint, or no similarity, or one that was named, can compare them.
        MissingPackage: the family needs one that is not installed.
    """
    name = choice.family
    default = default_variant(choice, sides, given)
    _warm(choice, default, sides)
    hashed = _hashed(name, default, sides)
    unusable = _unusable(hashed)
    _check_usable(name, unusable, len(hashed.documents))
    defaults, left_out = _scored(task, choice, default, hashed, sides)
    if not defaults:
        raise SettingError(*left_out)
    tried = {similarity: [measured] for similarity, measured in defaults.items()}
    for other in variants(name, default, given) if task.pools.folds else ():
        found, _ = _scored(task, choice, other, _hashed(name, other, sides), sides)
        for similarity in found.keys() & tried.keys():
            tried[similarity].append(_without_scores(found[similarity]))
    return Compared(name, defaults, tried, unusable, tuple(left_out))


def _hashed(name: str, variant: Variant, sides: Sides) -> Hashed:
    documents, queries = sides.of(name)
    return fingerprint(name, variant.params, documents, queries, variant.size)


def _scored(
    task: Task, choice: Choice, variant: Variant, hashed: Hashed, sides: Sides
) -> tuple[dict[str, Measured], list[str]]:
    """Similarity -> measured, and a line for each that cannot compare these fingerprints."""
    is_vector = registry.family(choice.family).source == "vector"
    found, left_out = {}, []
    for name, form in choice.similarities:
        try:
            scored = score(task, registry.similarity(name), form, hashed.documents, hashed.queries)
        except (SettingError, MissingPackage) as fault:
            if choice.pairs_named:
                raise
            left_out += [f"family {choice.family} by {name}: {line}" for line in problems_of(fault)]
            continue
        encode_s = sides.encode_s if is_vector else None
        found[name] = Measured(choice.family, name, form, variant, scored, hashed.seconds, encode_s)
    return found, left_out


def _without_scores(measured: Measured) -> Measured:
    return replace(measured, scored=replace(measured.scored, scores=()))


def _warm(choice: Choice, variant: Variant, sides: Sides) -> None:
    """Compile kernels before anything is timed."""
    documents, queries = sides.of(choice.family)
    few = slice(_WARM_ITEMS)
    hashed = fingerprint(choice.family, variant.params, documents[few], queries[few], variant.size)
    for name, form in choice.similarities:
        with suppress(SettingError, MissingPackage):  # told when all is compared
            registry.similarity(name).matrix(hashed.queries, hashed.documents, form)


def _unusable(hashed: Hashed) -> dict[str, dict[str, int]]:
    found = {}
    for side, fingerprints in (("documents", hashed.documents), ("queries", hashed.queries)):
        counts = Counter(Status(value).name.lower() for value in fingerprints.status)
        bad = {name: counts[name] for name in sorted(counts) if name != "ok"}
        if bad:
            found[side] = bad
    return found


def told(family: str, variant: Variant) -> dict[str, Any]:
    """The parameters that the family reads, for reports."""
    made, params = registry.family(family), variant.params
    reads = {*made.reads, "seed"} | ({"bits"} if {"bits", "signature"} & {*made.forms} else set())
    values = {name: getattr(params, name) for name in _TOLD if name in reads}
    if not made.nested:
        values["num_tables"] = variant.size.num_tables
    return values


def _check_usable(name: str, unusable: dict[str, dict[str, int]], documents: int) -> None:
    counts = unusable.get("documents", {})
    if sum(counts.values()) == documents:
        told = ", ".join(f"{number} {status}" for status, number in counts.items())
        raise SettingError(
            f"family {name}: none of the {documents} documents gives a fingerprint ({told}); "
            "choose other fields or parameters"
        )
