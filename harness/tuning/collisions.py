"""By how many tables answers were found, counted from the keys: what rerank `none` ranks by."""

from __future__ import annotations

import numpy as np

from harness.settings import Setting
from harness.tuning.encode import Encoded
from indexers.atoms import prefix_values
from indexers.types import F64, I32


def table_counts(encoded: Encoded, setting: Setting, answers: I32) -> F64:
    """Tables in which an answer's key is the query's: float64 (queries, K), NaN at padding.

    Args:
        encoded: fingerprints of documents and queries.
        setting: with num_tables and hash_length.
        answers: int32 (queries, K), ordinals, padded with -1.
    """
    documents, queries = encoded.documents.fingerprints, encoded.queries.fingerprints
    assert documents is not None
    assert queries is not None
    assert setting.hash_length is not None
    found = np.maximum(answers, 0)
    counts = np.zeros(answers.shape)
    for table in range(setting.num_tables or 0):
        keys = np.ascontiguousarray(documents.keys[table : table + 1, :, found.ravel()])
        theirs = prefix_values(keys, documents.atom, setting.hash_length).reshape(found.shape)
        mine = prefix_values(queries.keys[table : table + 1], queries.atom, setting.hash_length)
        counts += theirs == mine.T
    return np.where(answers >= 0, counts, np.nan)
