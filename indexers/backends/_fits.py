"""What an index kind asks of a family, and by what its answers are ranked."""

from __future__ import annotations

from indexers import registry
from indexers.filters import attribute_of
from indexers.index_types import IndexSpec, SearchParams
from indexers.reranks import COLLISION_RERANKS, WINDOWED
from indexers.types import Form

RERANK_FORMS: dict[str, Form] = {
    "code": "bits",
    "signature": "signature",
    "jaccard": "sequence",
    "levenshtein": "string",
    "cosine": "vector",
}
"""The form of fingerprint that each re-ranking compares."""
_CODE_RERANKS = ("code", "signature")
MOST_WINDOW = 10_000  # index.max_rescore_window


def default_rerank(spec: IndexSpec) -> str:
    """By what the answers of an index of this family are ranked unless told otherwise."""
    return registry.family(spec.family).reranks[0] if spec.family else "code"


def needed_forms(spec: IndexSpec) -> tuple[Form, ...]:
    """The forms of fingerprint that such an index is made of."""
    ranked: Form = "bits" if spec.bits is not None else RERANK_FORMS[default_rerank(spec)]
    if spec.kind == "tokens" and ranked != "sequence":
        return ("sequence", ranked)
    return (ranked,)


def misfit(
    backend: str, kinds: tuple[str, ...], spec: IndexSpec, params: SearchParams
) -> str | None:
    """Why this backend, kind, family and re-ranking do not go together, or None.

    Args:
        backend: name of the backend.
        kinds: that the backend has.
        spec: what would be built.
        params: how it would be searched.
    """
    if spec.kind not in kinds:
        return f"{backend} has no kind {spec.kind!r}: choose from {', '.join(kinds)}"
    if (spec.vector_type or spec.knn_engine) and not registry.backend(backend).remote:
        return f"vector types and libraries of graphs are for engines: {backend} has none"
    if problem := _family_misfit(backend, spec, params) or unheld_attribute(spec, params):
        return problem
    if params.rerank in _CODE_RERANKS and spec.bits is None:
        return f"{spec.kind} re-ranked by {params.rerank} needs bits"
    return None


def unheld_attribute(spec: IndexSpec, params: SearchParams) -> str | None:
    """Why answers of such an index cannot be filtered so, or None."""
    if params.filter is None or attribute_of(params.filter) in spec.attributes:
        return None
    name, held_as = attribute_of(params.filter)
    held = ", ".join(f"{n} as {t}" for n, t in spec.attributes) or "none"
    return f"a filter reads {name} as {held_as}, and of attributes the index holds {held}"


def no_code_or_vector(backend: str, spec: IndexSpec, params: SearchParams) -> str | None:
    """Why a backend that compares nothing but codes and vectors cannot rank so, or None."""
    if params.rerank == "signature":
        return f"{backend} has no rerank 'signature': choose code"
    if params.rerank not in ("code", "cosine"):
        return (
            f"{backend} compares codes or vectors, and {spec.family} has neither: "
            "choose tables by tokens, or exact"
        )
    return None


def _family_misfit(backend: str, spec: IndexSpec, params: SearchParams) -> str | None:
    family = registry.family(spec.family) if spec.family else None
    if family and not family.kinds:
        return f"{family.name} is only compared, never searched: use it with `harness bench`"
    if family and spec.kind not in family.kinds:
        return f"{family.name} has no kind {spec.kind!r}: choose from {', '.join(family.kinds)}"
    name, reranks = (family.name, family.reranks) if family else (backend, _CODE_RERANKS)
    if params.rerank in COLLISION_RERANKS:
        if problem := _collision_misfit(backend, spec, params):
            return problem
    elif params.rerank not in reranks:
        return f"{name} has no rerank {params.rerank!r}: choose from {', '.join(reranks)}"
    if family and not family.nested and spec.kind == "lsh" and spec.num_tables != params.num_tables:
        return (
            f"{name} does not nest in num_tables: an index of {spec.num_tables} tables is "
            f"searched with {spec.num_tables}, not {params.num_tables}"
        )
    return None


def _collision_misfit(backend: str, spec: IndexSpec, params: SearchParams) -> str | None:
    """Why answers cannot be ranked by the number of tables that found them, or None."""
    if not registry.backend(backend).remote:
        return f"rerank={params.rerank} exists on engines only: {backend} re-ranks all it finds"
    if spec.kind != "lsh" or spec.bits is None:
        return f"rerank={params.rerank} counts the tables of lsh: {spec.kind} has none"
    if params.window_size is not None and not 1 <= params.window_size <= MOST_WINDOW:
        return f"window_size {params.window_size} is out of range: 1 to {MOST_WINDOW}"
    if params.rerank == WINDOWED and params.k > MOST_WINDOW:
        return f"{params.k} answers are more than the {MOST_WINDOW} that a window holds"
    return None
