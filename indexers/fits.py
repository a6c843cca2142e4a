"""Which similarity compares the fingerprints of which family, and in which form."""

from __future__ import annotations

from typing import NamedTuple

from indexers import registry
from indexers.types import Form


class Fit(NamedTuple):
    """A family and a similarity that fit; names as in the registry."""

    family: str
    similarity: str
    form: Form


def fits() -> tuple[Fit, ...]:
    """Every family with every similarity that compares its fingerprints, sorted by name.

    It follows from the forms that both declare (`registry.fitting_form`).
    """
    forms = (
        (family, similarity, registry.fitting_form(family, similarity))
        for family in registry.family_names()
        for similarity in registry.similarity_names()
    )
    return tuple(Fit(family, similarity, form) for family, similarity, form in forms if form)
