"""What an index holds of its documents, by its kind and by what its answers are ranked."""

from __future__ import annotations

from typing import Any

from indexers.backends import _engine_sets, _engine_strings, _engine_texts, _engine_vectors
from indexers.backends._engine_dialect import Dialect
from indexers.backends._engine_fields import code_properties, code_tails
from indexers.backends._fits import default_rerank, needed_forms
from indexers.errors import BackendError
from indexers.index_types import Documents, IndexHandle, IndexSpec, SearchParams
from indexers.types import Fingerprints


def ranked_by(spec: IndexSpec) -> str:
    """`code`, or the similarity of a family without codes."""
    return "code" if spec.bits is not None else default_rerank(spec)


def fitting(spec: IndexSpec, fingerprints: Fingerprints | None, whose: str) -> Fingerprints:
    """The fingerprints, if they are such as the index is made of.

    Raises:
        BackendError: there are none, or of another width, or they lack a form.
    """
    if fingerprints is None:
        raise BackendError(f"{spec.kind} searches fingerprints: {whose} have none")
    if spec.bits is not None and fingerprints.bits != spec.bits:
        raise BackendError(
            f"{whose} have codes of {fingerprints.bits} bits and the index of {spec.bits}: "
            "fingerprint both with the same settings"
        )
    lacking = [form for form in needed_forms(spec) if form not in fingerprints.forms]
    if lacking:
        raise BackendError(
            f"{spec.kind} of {spec.family} needs fingerprints with {' and '.join(lacking)}, which "
            f"{whose} have not: fingerprint with family {spec.family}"
        )
    return fingerprints


def properties(spec: IndexSpec, documents: Documents, dialect: Dialect) -> dict[str, Any]:
    """Mapping of the index's fields, `id` apart; the documents fit."""
    if spec.kind in _engine_texts.KINDS:
        return _engine_texts.properties(spec.kind)
    if _engine_vectors.is_native(spec):
        assert documents.fingerprints is not None
        return _engine_vectors.properties(spec, documents.fingerprints, dialect)
    by, tokens = ranked_by(spec), spec.kind == "tokens"
    if by == "jaccard":
        return _engine_sets.properties(tokens=tokens)
    if by == "levenshtein":
        return _engine_strings.properties(tokens=tokens)
    if by == "cosine":
        assert documents.fingerprints is not None
        assert documents.fingerprints.vectors is not None
        return {"v": dialect.vector.mapping(documents.fingerprints.vectors.shape[1])}
    return code_properties(spec, dialect)


def tails(spec: IndexSpec, fingerprints: Fingerprints, dialect: Dialect) -> list[bytes]:
    """The rest of each document's line, after the id."""
    if _engine_vectors.is_native(spec):
        return _engine_vectors.tails(spec, fingerprints, dialect)
    by, tokens = ranked_by(spec), spec.kind == "tokens"
    if by == "jaccard":
        return _engine_sets.tails(fingerprints, tokens=tokens)
    if by == "levenshtein":
        return _engine_strings.tails(fingerprints, tokens=tokens)
    if by == "cosine":
        assert fingerprints.vectors is not None
        return [b',"v":%b}\n' % value for value in dialect.vector.values(fingerprints.vectors)]
    return code_tails(spec, fingerprints, dialect)


def other_lengths_bytes(handle: IndexHandle, params: SearchParams) -> int:
    """Bytes of the tokens of hash lengths that are not asked for, where the engine told them."""
    others = [length for length in handle.spec.hash_lengths if length != params.hash_length]
    return sum(handle.field_bytes.get(f"h{length}", 0) for length in others)
