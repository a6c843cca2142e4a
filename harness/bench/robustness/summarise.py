"""Sentences of a text, and which of them say most of it: LexRank (Erkan and Radev 2004).

Sentences are vectors of words weighted by tf · idf, idf = 1 + ln((1 + n) / (1 + n_w)) over the
text's own n sentences, of which n_w hold the word. A sentence's centrality is its share of the
stationary distribution of a walk that goes to another sentence in proportion to the cosine with
it, and with probability 0.15, or where no other shares a word, to any. A text is summarised
without the others of its corpus, so that the summary depends on it alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from indexers.types import F64, I64

DAMPING = 0.85
CLOSE = 1e-12
ALONE = 1e-9
"""Cosines that sum to less are rounding."""
MOST_STEPS = 200
DECIMALS = 9
"""Centralities that agree so far are equal: sums differ by machine beyond."""

_END = re.compile(
    r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]]))\s+(?=[^a-z\s])"  # quotes are meant
    r"|(?<=[。！？])\s*"
)
_WORD = re.compile(r"\w+")


def sentences(text: str) -> list[str]:
    """A text in sentences, without the white space between them.

    A sentence ends at . ! ? … before white space that no lower case letter a to z follows, at
    。！？ and at line breaks.
    """
    # line by line: a pattern for breaks with white space around would look at each space of a run
    # as the first of it, and so at all the others again
    parts = (part.strip() for line in text.split("\n") for part in _END.split(line.strip()))
    return [part for part in parts if part]


def centrality(parts: Sequence[str]) -> F64:
    """Centrality of each sentence, float64 (n,), summing to 1 within rounding."""
    n = len(parts)
    owners, words, weights, size = _unit_vectors(parts)

    def through(values: F64) -> F64:
        """Cosines with the other sentences times a vector, without making the matrix."""
        sums = np.bincount(words, weights * values[owners], size)
        back: F64 = np.bincount(owners, weights * sums[words], n).astype(np.float64)
        return np.where(worded, back - values, 0)

    worded = np.bincount(owners, minlength=n) > 0
    row_sums = through(np.ones(n))
    lonely = row_sums < ALONE
    row_sums[lonely] = 1
    rank = np.full(n, 1 / n)
    for _ in range(MOST_STEPS):
        walked = through(np.where(lonely, 0, rank / row_sums)) + rank[lonely].sum() / n
        moved = (1 - DAMPING) / n + DAMPING * walked
        change = np.abs(moved - rank).sum()
        rank = moved
        if change < CLOSE:
            break
    return np.round(rank, DECIMALS)


def by_centrality(parts: Sequence[str]) -> list[int]:
    """Places of the sentences, the most central first, ties by place."""
    order: list[int] = np.argsort(-centrality(parts), kind="stable").tolist()
    return order


def _unit_vectors(parts: Sequence[str]) -> tuple[I64, I64, F64, int]:
    """Sentence, word and weight of every entry, and the number of words."""
    counts = [Counter(_WORD.findall(part.lower())) for part in parts]
    numbers: dict[str, int] = {}
    for count in counts:
        for word in count:
            numbers.setdefault(word, len(numbers))
    owners = np.repeat(np.arange(len(parts)), [len(count) for count in counts]).astype(np.int64)
    words = np.array([numbers[word] for count in counts for word in count], np.int64)
    often = np.array([number for count in counts for number in count.values()], np.float64)
    held_by = np.bincount(words, minlength=len(numbers))
    weights = often * (1 + np.log((1 + len(parts)) / (1 + held_by[words])))
    lengths = np.sqrt(np.bincount(owners, weights * weights, len(parts)))
    return owners, words, weights / lengths[owners], len(numbers)
