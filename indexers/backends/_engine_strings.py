"""Strings in an engine, ranked by edit distance d as 1 / (1 + d) in float64.

A document has its string in `s` (doc values) and, for the kind `tokens`, its distinct hashes in
`t`. The distance is Myers' bit-vector algorithm (Myers 1999) in blocks of 64 characters of the
query, with the carries between blocks of Hyyrö (2003): five to ten times as fast in Painless as
the table of Levenshtein distances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from indexers.backends._engine_queries import EVERYTHING, sorted_by, terms
from indexers.backends._engine_sets import TOKENS, lists
from indexers.types import Fingerprints

STRING = {"type": "keyword", "index": False, "doc_values": True}
CHARACTERS = 128  # ASCII
# p and g carry +1 and −1 from one block to the next; the first row of the table rises by 1
SCRIPT = (
    "List eq = params.eq; String s = doc['s'].value; int m = (int)params.m, w = (m + 63) / 64, "
    "n = s.length(), d = m; long[] up = new long[w]; long[] down = new long[w]; "
    "for (int b = 0; b < w; ++b) { up[b] = -1L; } "
    "for (int i = 0; i < n; ++i) { long p = 1L, g = 0L; int at = s.charAt(i) * w; "
    "for (int b = 0; b < w; ++b) { long q = (long)eq.get(at + b), v = up[b], u = down[b], "
    "x = q | u; q |= g; long h = (((q & v) + v) ^ v) | q, r = u | ~(h | v), l = v & h; "
    "if (b == w - 1) { int z = (m - 1) & 63; d += (int)((r >>> z) & 1L) - (int)((l >>> z) & 1L); } "
    "long rise = r >>> 63, fall = l >>> 63; r = (r << 1) | p; l = (l << 1) | g; "
    "p = rise; g = fall; up[b] = l | ~(x | r); down[b] = r & x; } } "
    "return 1.0 / (1 + d);"
)


def properties(*, tokens: bool) -> dict[str, Any]:
    """Mapping of the fields."""
    return {"s": STRING, "t": TOKENS} if tokens else {"s": STRING}


def tails(fingerprints: Fingerprints, *, tokens: bool) -> list[bytes]:
    """The rest of each document's line, after the id."""
    assert fingerprints.strings is not None
    made = [b',"s":' + orjson.dumps(s) for s in fingerprints.strings.strings()]
    if tokens:
        assert fingerprints.hashes is not None
        made = [
            b'%b,"t":%b' % column for column in zip(made, lists(fingerprints.hashes), strict=True)
        ]
    return [line + b"}\n" for line in made]


def places(text: str) -> list[int]:
    """Bit i mod 64 of word [character, i // 64] where character i of the text is that one.

    Signed, in one list of 128 · ceil(length / 64) words.
    """
    bits = np.zeros((CHARACTERS, 64 * max(1, -(-len(text) // 64))), np.uint8)
    bits[np.frombuffer(text.encode("ascii"), np.uint8), np.arange(len(text))] = 1
    words: list[int] = np.packbits(bits, axis=1, bitorder="little").view("<i8").ravel().tolist()
    return words


def bodies(fingerprints: Fingerprints, k: int, *, tokens: bool) -> list[bytes]:
    """One body a query; those of queries that are not OK are not to be asked."""
    assert fingerprints.strings is not None
    texts = fingerprints.strings.strings()
    wheres = [EVERYTHING] * len(texts)
    if tokens:
        assert fingerprints.hashes is not None
        wheres = [terms("t", found) for found in lists(fingerprints.hashes)]
    return [
        sorted_by(SCRIPT, orjson.dumps({"eq": places(text), "m": len(text)}), where, k)
        for text, where in zip(texts, wheres, strict=True)
    ]
