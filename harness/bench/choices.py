"""Which families are compared by which similarities."""

from __future__ import annotations

from dataclasses import dataclass

from harness.bench.config import BenchConfig
from harness.config_problems import ALL
from indexers import registry
from indexers.errors import SettingError
from indexers.types import Form


@dataclass(frozen=True, slots=True)
class Choice:
    """A family, and every similarity that compares it with the form it compares.

    Attributes:
        family: its name.
        similarities: (name, form), never none.
        named: whether a person asked for the family by its name.
        pairs_named: whether for the similarities, too.
    """

    family: str
    similarities: tuple[tuple[str, Form], ...]
    named: bool
    pairs_named: bool = False


VECTORS_BY = "give --vectors FILE or --model NAME"


def choices(config: BenchConfig, vectors_by: str = VECTORS_BY) -> tuple[list[Choice], list[str]]:
    """What is compared, and one line for each family that is not.

    Args:
        config: families and similarities that were asked for.
        vectors_by: what families of vectors wait for, in words.

    Raises:
        SettingError: a family asked for by name cannot be compared, or nothing fits.
    """
    named = ALL not in config.family
    found: list[Choice] = []
    problems: list[str] = []
    left_out: list[str] = []
    for name in config.family if named else registry.family_names():
        why = _obstacle(config, name, vectors_by)
        if why is None:
            pairs_named = named and ALL not in config.similarity
            found.append(Choice(name, _fitting(config, name), named, pairs_named))
        else:
            (problems if named else left_out).append(why)
    problems += _unfitting(config, [choice.family for choice in found])
    if not found and not problems:
        problems.append(f"nothing to compare: {'; '.join(left_out)}")
    if problems:
        raise SettingError(*problems)
    return found, left_out


def _obstacle(config: BenchConfig, name: str, vectors_by: str) -> str | None:
    if registry.family(name).source == "vector" and not config.has_vectors:
        return f"family {name} hashes vectors: {vectors_by}"
    if _fitting(config, name):
        return None
    fits = _fits(name)
    if not fits:
        return (
            f"family {name} tells membership alone and ranks nothing: "
            "score it with `harness bench classifier`"
        )
    wanted = ", ".join(config.similarity)
    return f"family {name} is not compared by {wanted}: choose from {', '.join(fits)}"


def _unfitting(config: BenchConfig, families: list[str]) -> list[str]:
    """Similarities asked for by name that fit none of the families."""
    if ALL in config.similarity or not families:
        return []
    return [
        f"similarity {name} fits none of {', '.join(families)}: choose from "
        f"{', '.join(sorted({fit for family in families for fit in _fits(family)}))}"
        for name in config.similarity
        if not any(registry.fitting_form(family, name) for family in families)
    ]


def _fits(family: str) -> list[str]:
    return [name for name in registry.similarity_names() if registry.fitting_form(family, name)]


def _fitting(config: BenchConfig, family: str) -> tuple[tuple[str, Form], ...]:
    wanted = config.similarity if ALL not in config.similarity else registry.similarity_names()
    forms = ((name, registry.fitting_form(family, name)) for name in wanted)
    return tuple((name, form) for name, form in forms if form is not None)
