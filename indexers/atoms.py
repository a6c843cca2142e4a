"""Nested table keys: the first h atoms of a key are the key of hash length h.

Atoms are bits or minhash rows; the layout of the key arrays is told in `Fingerprints`.
"""

from __future__ import annotations

import numpy as np

from indexers.errors import SettingError
from indexers.types import U32, U64, Atom

ATOMS_PER_WORD: dict[Atom, int] = {"bit": 32, "row": 1}

GAMMA = np.uint64(0x9E3779B97F4A7C15)
"""The increment of splitmix64: 2^64 over the golden ratio, odd."""
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(state: U64) -> U64:
    """The finalizer of splitmix64 (Steele, Lea, Flood 2014), a bijection on 64 bits."""
    state = (state ^ state >> np.uint64(30)) * MIX_1
    state = (state ^ state >> np.uint64(27)) * MIX_2
    return state ^ state >> np.uint64(31)


def prefix_values(keys: U32, atom: Atom, hash_length: int) -> U64:
    """The first atoms of every key as one number.

    Bits: the integer that the first `hash_length` bits spell, most significant first.
    Rows: v(0) = hash_length, v(j + 1) = mix(v(j) + gamma + row j) modulo 2^64, where mix is the
    finalizer of splitmix64 and gamma its increment; the value is v(hash_length).

    Args:
        keys: uint32 (num_tables, words, n).
        atom: what an atom is.
        hash_length: atoms to read, 1 to 32 bits, 1 to `words` rows.

    Returns:
        uint64 (num_tables, n).

    Raises:
        SettingError: the keys have fewer atoms.
    """
    longest = ATOMS_PER_WORD[atom] * keys.shape[1]
    if not 1 <= hash_length <= min(longest, 64):
        raise SettingError(
            f"hash_length {hash_length} is out of range: these keys have 1 to {longest} {atom}s"
        )
    if atom == "row":
        values = np.full((keys.shape[0], keys.shape[2]), hash_length, np.uint64)
        for row in range(hash_length):
            values = mixed(values + GAMMA + keys[:, row])
        return values
    values = keys[:, 0].astype(np.uint64)
    if hash_length <= 32:
        return values >> np.uint64(32 - hash_length)
    return (values << np.uint64(32) | keys[:, 1]) >> np.uint64(64 - hash_length)


def token(table: int, value: int, atom: Atom, hash_length: int) -> str:
    """The word that an engine stores for a value of `prefix_values`: `table:hex`.

    Hex digits are as many as the longest value needs: ceil(hash_length / 4) for bits, 16 for
    rows. Tables count from 0.
    """
    width = 16 if atom == "row" else -(-hash_length // 4)
    return f"{table}:{value:0{width}x}"
