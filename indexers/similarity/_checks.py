"""What every similarity checks before it compares, and marks afterwards."""

from __future__ import annotations

import numpy as np

from indexers.errors import SettingError
from indexers.protocols import Similarity
from indexers.types import F64, Fingerprints, Form, Status


def check(
    similarity: Similarity, queries: Fingerprints, documents: Fingerprints, form: Form
) -> None:
    """Refuse fingerprints that cannot be compared.

    Raises:
        SettingError: the similarity does not know the form, one side has not got it, or the
            widths differ.
    """
    if form not in similarity.forms:
        raise SettingError(
            f"{similarity.name} does not compare the form {form!r}: "
            f"choose from {', '.join(similarity.forms)}"
        )
    for side, fingerprints in (("queries", queries), ("documents", documents)):
        if len(fingerprints) and form not in fingerprints.forms:
            raise SettingError(
                f"{similarity.name}: the {side} have no {form}, "
                f"only {', '.join(fingerprints.forms) or 'nothing'}: choose another form"
            )
    mine, theirs = _width(queries, form), _width(documents, form)
    if mine != theirs and len(queries) and len(documents):
        raise SettingError(
            f"{similarity.name}: {form} of width {mine} in the queries, {theirs} in the "
            "documents: hash both with the same parameters"
        )


def _width(fingerprints: Fingerprints, form: Form) -> int:
    if form == "bits":
        return fingerprints.bits
    rows = {"signature": fingerprints.signatures, "vector": fingerprints.vectors}.get(form)
    return 0 if rows is None else int(rows.shape[1])


def masked(matrix: F64, queries: Fingerprints, documents: Fingerprints) -> F64:
    """The same matrix, NaN where either side is not OK."""
    matrix[queries.status != Status.OK] = np.nan
    matrix[:, documents.status != Status.OK] = np.nan
    return matrix
