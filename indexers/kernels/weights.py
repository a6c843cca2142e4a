"""Document frequencies of tokens."""

from __future__ import annotations

from numba import njit

from indexers.types import I32, I64


@njit(cache=True, nogil=True)
def count_documents(offsets: I64, tokens: I32, documents: int, last: I64, counts: I64) -> int:
    """Count the texts that hold each token.

    Args:
        offsets: int64 (n + 1,), text i's tokens are offsets[i] to offsets[i + 1].
        tokens: int32, 0 <= token < vocabulary.
        documents: texts with tokens seen before.
        last: int64 (vocabulary,), the last text that held each token, counted from 1, or 0;
            updated.
        counts: int64 (vocabulary,), updated.

    Returns:
        Texts with tokens seen by now.
    """
    for text in range(len(offsets) - 1):
        documents += offsets[text] < offsets[text + 1]
        for i in range(offsets[text], offsets[text + 1]):
            token = tokens[i]
            if last[token] != documents:
                last[token] = documents
                counts[token] += 1
    return documents
