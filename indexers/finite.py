"""Table keys of finite codes: table t reads the code in an order of its own.

The order of table t sorts the places 0 … bits − 1 by mix(mix(seed + t * gamma) + place * gamma)
modulo 2^64, ties by place; mix is the finalizer of splitmix64 and gamma its increment
(Steele, Lea, Flood 2014). It depends on (seed, t, bits) alone.
"""

from __future__ import annotations

import numpy as np

from indexers.atoms import GAMMA, mixed
from indexers.types import I64, U8, U32, U64, TableSize


def table_orders(num_tables: int, bits: int, seed: int) -> I64:
    """The places of the code in each table's order: int64 (num_tables, bits)."""
    tables = np.arange(num_tables, dtype=np.uint64)
    places: U64 = np.arange(bits, dtype=np.uint64)
    start = mixed(np.uint64(seed) + tables * GAMMA)
    values = mixed(start[:, None] + places * GAMMA)
    return np.argsort(values, axis=1, kind="stable").astype(np.int64)


def finite_keys(codes: U8, size: TableSize, seed: int) -> U32:
    """Keys of all tables: uint32 (num_tables, ceil(hash_length / 32), n), as `Fingerprints` tells.

    Args:
        codes: uint8 (n, bits / 8), big-endian packed.
        size: hash_length at most bits.
        seed: of the orders.
    """
    n, width = codes.shape
    words = -(-size.hash_length // 32)
    orders = table_orders(size.num_tables, 8 * width, seed)[:, : size.hash_length]
    bits = np.unpackbits(codes, axis=1)
    keys = np.zeros((size.num_tables, words, n), np.uint32)
    padded = np.zeros((n, 32 * words), np.uint8)
    for table, order in enumerate(orders):
        padded[:, : size.hash_length] = bits[:, order]
        packed = np.packbits(padded, axis=1).view(">u4")
        keys[table] = packed.T.astype(np.uint32)
    return keys
