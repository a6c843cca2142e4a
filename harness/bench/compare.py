"""Every family with every similarity on one task: measured once with each set of parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.bench.choices import Choice
from harness.bench.hashing import (
    Printed,
    Variant,
    bench_params,
    bench_size,
    fingerprint,
    variants,
)
from harness.bench.scoring import Scored, Task, score
from indexers import registry
from indexers.errors import SettingError
from indexers.types import F32, Form, Items, Progress, Status, no_progress

_WARM_ITEMS = 2
_TOLD = ("bits", "seed", "unit", "shingle_size", "weighting", "window", "dimension")


@dataclass(frozen=True, slots=True)
class Sides:
    """What is hashed.

    Attributes:
        texts: of the documents by ordinal.
        query_texts: of the corpus' queries by row.
        vectors, query_vectors: float32 (n, D) of the same; None where there are none.
        encode_s: spent making the vectors.
    """

    texts: Sequence[str]
    query_texts: Sequence[str]
    vectors: F32 | None = None
    query_vectors: F32 | None = None
    encode_s: float = 0.0

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
        encode_s: spent making their vectors; 0 for texts.
    """

    family: str
    similarity: str
    form: Form
    variant: Variant
    scored: Scored
    fingerprint_s: float
    encode_s: float


@dataclass(frozen=True, slots=True)
class Compared:
    """One family: its defaults, and what the dev halves may choose from.

    Attributes:
        family: its name.
        defaults: similarity -> measured with the bench's defaults.
        tried: similarity -> measured with each set of parameters, the defaults first.
        unusable: `documents` and `queries` -> status -> count, under the defaults.
    """

    family: str
    defaults: dict[str, Measured]
    tried: dict[str, list[Measured]]
    unusable: dict[str, dict[str, int]]


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


def compare(
    task: Task,
    choice: Choice,
    sides: Sides,
    given: dict[str, Any],
    progress: Progress = no_progress,
) -> Compared:
    """Measure one family.

    Args:
        task: what is ranked.
        choice: the family and its similarities.
        sides: what is hashed.
        given: parameters that were asked for; they hold in every set.
        progress: called with the number of items hashed since the last call.

    Raises:
        SettingError: the family cannot hash so, a vector is not finite, or nothing gives a
            fingerprint.
    """
    name = choice.family
    default = default_variant(choice, sides, given)
    _warm(choice, default, sides)
    printed = _hashed(name, default, sides, progress)
    unusable = _unusable(printed)
    _check_usable(name, unusable, len(printed.documents))
    defaults = _scored(task, choice, default, printed, sides)
    tried = {similarity: [measured] for similarity, measured in defaults.items()}
    for other in variants(name, default, given) if task.pools.folds else ():
        printed_so = _hashed(name, other, sides, progress)
        for similarity, measured in _scored(task, choice, other, printed_so, sides).items():
            tried[similarity].append(measured)
    return Compared(name, defaults, tried, unusable)


def _hashed(name: str, variant: Variant, sides: Sides, progress: Progress) -> Printed:
    documents, queries = sides.of(name)
    return fingerprint(name, variant.params, documents, queries, variant.size, progress)


def _scored(
    task: Task, choice: Choice, variant: Variant, printed: Printed, sides: Sides
) -> dict[str, Measured]:
    is_vector = registry.family(choice.family).source == "vector"
    found = {}
    for name, form in choice.similarities:
        scored = score(task, registry.similarity(name), form, printed.documents, printed.queries)
        found[name] = Measured(
            choice.family,
            name,
            form,
            variant,
            scored,
            printed.seconds,
            sides.encode_s if is_vector else 0.0,
        )
    return found


def _warm(choice: Choice, variant: Variant, sides: Sides) -> None:
    """Compile kernels before anything is timed."""
    documents, queries = sides.of(choice.family)
    few = slice(_WARM_ITEMS)
    printed = fingerprint(choice.family, variant.params, documents[few], queries[few], variant.size)
    for name, form in choice.similarities:
        registry.similarity(name).matrix(printed.queries, printed.documents, form)


def _unusable(printed: Printed) -> dict[str, dict[str, int]]:
    found = {}
    for side, fingerprints in (("documents", printed.documents), ("queries", printed.queries)):
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
