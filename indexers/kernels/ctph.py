"""Context triggered piecewise hashing (Kornblum 2006) with the constants of ssdeep.

A piece ends where the rolling hash r of the last seven bytes is b - 1 modulo the block size b.
With c(0) the newest byte and zeros before the text, r is the sum modulo 2^32 of all c(i), of all
(7 - i) * c(i), and of the number whose base-32 digits c(i) are, carries left out (exclusive or).
A piece gives the character that the lowest six bits of its FNV hash (prime 0x01000193, start 39)
stand for in base64.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from indexers.types import I64, U8, U32

OK, EMPTY, TOO_SHORT, LOW_ENTROPY = (np.uint8(status) for status in range(4))
"""The values of `indexers.types.Status`, which compiled code does not know."""
FIRST, SECOND = 64, 32
"""The most characters of the two parts of a digest; the last stands for all that is left."""
WIDEST = 20 + 1 + FIRST + 1 + SECOND
"""The most bytes of a digest."""
ENOUGH_BYTES = 32
"""From here on a text whose digest is degenerate is not too short: it repeats itself."""
REPEATS = 8
"""A text that is this often the same piece has nothing to cut it by."""
_PROBE = 64
_LETTERS = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8
)
_FOLDED = np.frombuffer(
    bytes(32 if 9 <= c <= 13 or 28 <= c <= 31 else c + 32 * (65 <= c <= 90) for c in range(256)),
    np.uint8,
)
_SMALLEST = 3
_COLON, _ZERO, _SPACE = (np.uint8(ord(character)) for character in ":0 ")
_NONE = np.uint8(0)
_0, _1, _5, _7 = (np.uint64(n) for n in (0, 1, 5, 7))
_START, _PRIME = np.uint64(39), np.uint64(0x01000193)
_LOWEST_6, _LOWEST_32 = np.uint64(63), np.uint64(2**32 - 1)
# n is a multiple of three where n times the inverse of three modulo 2^64 is at most a third of it
_INVERSE, _THIRD = np.uint64(0xAAAAAAAAAAAAAAAB), np.uint64(0x5555555555555555)


@njit(cache=True, nogil=True)
def digest(text: U8, row: U8) -> int:
    """Write the digest of a text: `b:part:part`, the second part that of block size 2 * b.

    b is 3 * 2^k, the smallest whose 64-fold is no less than the bytes, halved while fewer than
    32 pieces end.

    Args:
        text: uint8 (bytes,), writable; any bytes.
        row: uint8 (`WIDEST`,), receives ASCII.

    Returns:
        The digest's length.
    """
    marks = np.empty(len(text), np.uint32)
    last = _roll(text, marks)
    doublings = 0
    while FIRST * (_SMALLEST << doublings) < len(text):
        doublings += 1
    while doublings > 0 and np.sum(marks >> doublings != 0) < FIRST // 2:
        doublings -= 1
    at = _number(_SMALLEST << doublings, row)
    first, second = _cut(text, marks, doublings, last != _1, row[at:])
    row[at + first] = _COLON
    for j in range(second):
        row[at + first + 1 + j] = row[at + FIRST + 1 + j]
    return at + first + 1 + second


@njit(cache=True, nogil=True)
def _roll(text: U8, marks: U32) -> np.uint64:
    """Mark what block sizes end a piece at each byte: 2^k where up to 3 * 2^k, else 0.

    Args:
        text: uint8.
        marks: uint32, as long; receives the marks.

    Returns:
        1 + the last rolling hash.
    """
    plain, weighted, shifted, after = _0, _0, _0, _1
    for i in range(len(text)):
        byte = np.uint64(text[i])
        weighted = weighted - plain + _7 * byte
        plain += byte
        if i >= 7:
            plain -= np.uint64(text[i - 7])
        shifted = shifted << _5 ^ byte
        # r is b - 1 modulo b where r + 1 is a multiple of b
        after = (plain + weighted + shifted & _LOWEST_32) + _1
        lowest_bit = after & (~after + _1)
        marks[i] = lowest_bit if after * _INVERSE <= _THIRD else _0
    return after


@njit(cache=True, nogil=True)
def _number(number: int, row: U8) -> int:
    """Write a number in decimal and a colon; the bytes written."""
    count, rest = 1, number
    while rest >= 10:
        rest //= 10
        count += 1
    for j in range(count):
        row[count - 1 - j] = _ZERO + np.uint8(number % 10)
        number //= 10
    row[count] = _COLON
    return count + 1


@njit(cache=True, nogil=True)
def _cut(text: U8, marks: U32, doublings: int, rest: bool, row: U8) -> tuple[int, int]:
    """Cut a text into pieces of block size 3 * 2^doublings, and of twice that.

    Args:
        text: uint8.
        marks: from `_roll`.
        doublings: from 0.
        rest: whether what follows the last piece gives a character too; else it does only
            where more pieces end than fit, up to the last such end.
        row: uint8, receives the first part from its start on, the second from `FIRST` + 1 on.

    Returns:
        Characters of the first part and of the second.
    """
    hash_1 = hash_2 = _START
    last_1 = last_2 = _NONE
    count_1 = count_2 = 0
    for i in range(len(text)):
        byte, mark = np.uint64(text[i]), marks[i] >> doublings
        hash_1, hash_2 = hash_1 * _PRIME ^ byte, hash_2 * _PRIME ^ byte
        if mark == 0:
            continue
        last_1 = _LETTERS[hash_1 & _LOWEST_6]
        if count_1 < FIRST - 1:
            row[count_1] = last_1
            count_1 += 1
            hash_1, last_1 = _START, _NONE
        if mark == 1:
            continue
        last_2 = _LETTERS[hash_2 & _LOWEST_6]
        if count_2 < SECOND - 1:
            row[FIRST + 1 + count_2] = last_2
            count_2 += 1
            hash_2, last_2 = _START, _NONE
    if rest:
        last_1, last_2 = _LETTERS[hash_1 & _LOWEST_6], _LETTERS[hash_2 & _LOWEST_6]
    row[count_1], row[FIRST + 1 + count_2] = last_1, last_2
    return count_1 + (last_1 != _NONE), count_2 + (last_2 != _NONE)


@njit(cache=True, nogil=True)
def digests(
    data: U8, starts: I64, lo: int, hi: int, texts: U8, rows: U8, lengths: I64, status: U8
) -> None:
    """Digests and statuses of documents lo to hi, ASCII folded on the way.

    The status is EMPTY where nothing is left after folding; LOW_ENTROPY where the text is one
    piece repeated, or its digest degenerate; TOO_SHORT where it is degenerate and the text has
    less than 32 bytes.

    Args:
        data: uint8, UTF-8 one after the other: ASCII as it is, else normalised.
        starts: int64 (n + 1,), byte offsets.
        lo: first document.
        hi: one past the last.
        texts: uint8, as long as `data`; overwritten.
        rows: uint8 (n, `WIDEST`), receives the digests; what is after a digest means nothing.
        lengths: int64 (n,), receives the digests' lengths; 0 where the status is not OK.
        status: uint8 (n,), receives values of `Status`.
    """
    for i in range(lo, hi):
        end = _fold(data, starts[i], starts[i + 1], texts)
        text = texts[starts[i] : end]
        length = 0 if len(text) == 0 or periodic(text) else digest(text, rows[i])
        good = length > 0 and _tells(rows[i, :length])
        lengths[i] = length if good else 0
        if good:
            status[i] = OK
        elif len(text) == 0:
            status[i] = EMPTY
        else:
            status[i] = TOO_SHORT if len(text) < ENOUGH_BYTES else LOW_ENTROPY


@njit(cache=True, nogil=True)
def _fold(data: U8, start: int, stop: int, texts: U8) -> int:
    """Normalise what is ASCII: lower case, runs of white space to one space, trimmed.

    Text start to stop is written from `start` on; returns where it then ends. It changes
    nothing in a text that is normalised already.
    """
    out, before = start, _SPACE
    for at in range(start, stop):
        byte = _FOLDED[data[at]]
        # without a branch: where words end cannot be predicted
        texts[out] = byte
        out += (byte != _SPACE) | (before != _SPACE)
        before = byte
    return out - 1 if out > start and before == _SPACE else out


@njit(cache=True, nogil=True)
def periodic(text: U8) -> bool:
    """Whether a text is one piece repeated, at least eight times (the last one may be cut).

    The piece ends where the text's first 64 bytes come again for the first time.
    """
    n = len(text)
    for period in range(1, min(n // REPEATS, n - _PROBE) + 1):
        same = 0
        while same < _PROBE and text[period + same] == text[same]:
            same += 1
        if same == _PROBE:
            while period + same < n and text[period + same] == text[same]:
                same += 1
            return period + same == n
    return False


@njit(cache=True, nogil=True)
def _tells(row: U8) -> bool:
    """Whether a digest tells its text from others: it has both parts, the first not degenerate.

    The first is with fewer than four different characters, or where fewer than half of its
    3-grams are different: pieces that repeat.
    """
    start = 0
    while row[start] != _COLON:
        start += 1
    start += 1
    end = start
    while row[end] != _COLON:
        end += 1
    if end + 1 == len(row):
        return False
    seen = np.zeros(128, np.bool_)
    for at in range(start, end):
        seen[row[at]] = True
    different, grams = int(np.sum(seen)), end - start - 2
    # every character but the last two starts a 3-gram: mostly enough to know, and quicker
    if different < 4 or 2 * (different - 2) >= grams:
        return different >= 4
    return 2 * _different_grams(row, start, end) >= grams


@njit(cache=True, nogil=True)
def _different_grams(row: U8, start: int, end: int) -> int:
    """How many 3-grams from start to end are different."""
    count = 0
    for at in range(start, end - 2):
        earlier = start
        while (
            row[earlier] != row[at]
            or row[earlier + 1] != row[at + 1]
            or row[earlier + 2] != row[at + 2]
        ):
            earlier += 1
        count += earlier == at
    return count
