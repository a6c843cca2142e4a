"""Sets of hashes in an engine, ranked by exact Jaccard similarity: shared / (|A| + |B| − shared).

A document has its distinct hashes as signed words in `p` (doc values) and their number in `n`;
an index of kind `tokens` also has them as 16 hex digits in the keyword field `t`, whose score is
1 a matching term. Answers are sorted by a script of type `number`, which works in float64, so
that scores and ties are those of the definition; scores of queries are float32.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import orjson

from indexers.backends._engine_fields import HEX
from indexers.backends._engine_queries import EVERYTHING, sorted_by, terms
from indexers.backends._ragged import by_list, distinct
from indexers.types import I64, U8, Fingerprints, Ragged

DIGITS = 16
WORDS = {"type": "long", "index": False, "doc_values": True}
COUNT = {"type": "integer", "index": False, "doc_values": True}
TOKENS = {
    "type": "keyword",
    "norms": False,
    "doc_values": False,
    "index_options": "docs",
    "similarity": "boolean",
    # a match query then makes a term of every word, which is shorter than a clause a term
    "split_queries_on_whitespace": True,
}
# sort scripts see scores only where scores are kept
COUNTING = "double c = _score; return c / (doc['n'].value + params.n - c);"
MERGING = (
    "def t = doc['p']; List w = params.w; int n = t.size(), m = w.size(), i = 0, j = 0, c = 0; "
    "while (i < n && j < m) { long a = (long)t.get(i), b = (long)w.get(j); "
    "if (a == b) { ++c; ++i; ++j; } else if (a < b) { ++i; } else { ++j; } } "
    "return (double)c / (n + m - c);"
)


def properties(*, tokens: bool) -> dict[str, Any]:
    """Mapping of the fields."""
    fields = {"n": COUNT, "p": WORDS}
    return fields | {"t": TOKENS} if tokens else fields


def signed_sets(hashes: Ragged) -> Ragged:
    """The distinct values of each list as signed words, ascending: int64."""
    values, owners = distinct(hashes)
    return by_list(owners, values.view(np.int64), len(hashes))


def digit_rows(words: I64) -> U8:
    """The 16 hex digits of each word, as unsigned: uint8 (n, 16)."""
    shifts = np.arange(4 * (DIGITS - 1), -1, -4, dtype=np.uint64)
    nibbles = words.view(np.uint64)[:, None] >> shifts & np.uint64(15)
    return HEX[nibbles.astype(np.intp)]


def lists(hashes: Ragged) -> list[bytes]:
    """JSON list of each document's distinct hashes as tokens."""
    sets = signed_sets(hashes)
    rows = np.tile(np.frombuffer(b'"' + b"0" * DIGITS + b'",', np.uint8), (len(sets.values), 1))
    rows[:, 1 : DIGITS + 1] = digit_rows(sets.values)
    flat, width = rows.tobytes(), rows.shape[1]
    bounds = sets.indptr.tolist()
    return [b"[" + flat[width * lo : width * hi - 1] + b"]" for lo, hi in pairwise(bounds)]


def tails(fingerprints: Fingerprints, *, tokens: bool) -> list[bytes]:
    """The rest of each document's line, after the id."""
    assert fingerprints.hashes is not None
    sets = signed_sets(fingerprints.hashes)
    words = [sets.values[lo:hi] for lo, hi in pairwise(sets.indptr.tolist())]
    made = [b',"n":%d,"p":%b' % (len(part), _json(part)) for part in words]
    if tokens:
        columns = zip(made, lists(fingerprints.hashes), strict=True)
        made = [b'%b,"t":%b' % column for column in columns]
    return [line + b"}\n" for line in made]


def _json(words: I64) -> bytes:
    return orjson.dumps(words, option=orjson.OPT_SERIALIZE_NUMPY)


def bodies(hashes: Ragged, k: int, *, tokens: bool, clauses: int) -> list[bytes]:
    """One body a query.

    Counting matches by their score is three to four times as fast as merging doc values, but
    takes a clause a hash; a query of more hashes than the server allows clauses is merged, as
    is every document by `flat`, where most documents have a share of the hashes.

    Args:
        hashes: of the queries, none empty where the query is to be asked.
        k: answers asked for.
        tokens: only documents that share a hash; else every document.
        clauses: that the server allows in a query.
    """
    sets = signed_sets(hashes)
    columns = lists(hashes) if tokens else [b""] * len(sets)
    made = []
    for (lo, hi), tokens_list in zip(pairwise(sets.indptr.tolist()), columns, strict=True):
        words = sets.values[lo:hi]
        if tokens and len(words) <= clauses:
            made.append(_counting(words, k))
        else:
            made.append(_merging(words, k, terms("t", tokens_list) if tokens else EVERYTHING))
    return made


def _counting(words: I64, k: int) -> bytes:
    spaced = np.full((len(words), DIGITS + 1), ord(" "), np.uint8)
    spaced[:, :DIGITS] = digit_rows(words)
    query = b'{"match":{"t":"%b"}}' % spaced.tobytes().rstrip()
    return sorted_by(COUNTING, orjson.dumps({"n": len(words)}), query, k, scores=True)


def _merging(words: I64, k: int, query: bytes) -> bytes:
    return sorted_by(MERGING, b'{"w":%b}' % _json(words), query, k)
