"""Steps of the kernels that work on several words an instruction.

They are written as vectors of LLVM, since compilers do not find them, or choose half the width.

Bit-sliced counters are 64 counters a word: the state of W words is one array of uint64, in rows
of W: ones, twos, fours, carry, then plane p of the counters in row 4 + p.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from indexers.types import U32, U64

CARRY, PLANES = 3, 4
"""Rows of the state."""
ROWS = 16
"""Rows of a signature that are lowered at once."""

_proxy = cast("Callable[..., Any]", cgutils.create_struct_proxy)
_I64, _I32 = ir.IntType(64), ir.IntType(32)


def _vector_at(builder: Any, data: Any, index: Any, lanes: int, of: Any = _I64) -> Any:
    place = builder.gep(data, [index])
    return builder.bitcast(place, ir.VectorType(of, lanes).as_pointer())


def _data(context: Any, builder: Any, array_type: Any, value: Any) -> Any:
    return _proxy(array_type)(context, builder, value=value).data


def _add_bits(builder: Any, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Sum and carry of three bits in every place."""
    half = builder.xor(a, b)
    carry = builder.or_(builder.and_(a, b), builder.and_(half, c))
    return builder.xor(half, c), carry


def _adder(lanes: int) -> Callable[[U64, U32, int, int, U64], None]:
    def typed(_: Any, words: Any, tokens: Any, at: Any, column: Any, state: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            words_type, tokens_type, at_type, column_type, state_type = signature.args
            table = _data(context, builder, words_type, args[0])
            ids = _data(context, builder, tokens_type, args[1])
            at = context.cast(builder, args[2], at_type, types.int64)
            column = context.cast(builder, args[3], column_type, types.int64)
            held = _data(context, builder, state_type, args[4])
            shape = _proxy(words_type)(context, builder, value=args[0]).shape
            width = builder.extract_value(shape, 1)

            def row(number: int) -> Any:
                place = builder.gep(ids, [builder.add(at, ir.Constant(_I64, number))])
                token = builder.zext(builder.load(place), _I64)
                index = builder.add(builder.mul(token, width), column)
                return builder.load(_vector_at(builder, table, index, lanes), align=8)

            counts = [
                _vector_at(builder, held, ir.Constant(_I64, lanes * i), lanes) for i in range(4)
            ]
            ones, twos, fours = (builder.load(count, align=8) for count in counts[:3])
            fours_in = []
            for half in (0, 4):
                ones, twos_a = _add_bits(builder, ones, row(half), row(half + 1))
                ones, twos_b = _add_bits(builder, ones, row(half + 2), row(half + 3))
                twos, carry = _add_bits(builder, twos, twos_a, twos_b)
                fours_in.append(carry)
            fours, eights = _add_bits(builder, fours, *fours_in)
            for place, value in zip(counts, (ones, twos, fours, eights), strict=True):
                builder.store(value, place, align=8)
            return context.get_dummy_value()

        return types.void(words, tokens, at, column, state), generate

    return cast("Callable[[U64, U32, int, int, U64], None]", intrinsic(typed))


def _rippler(lanes: int) -> Callable[[U64, int, int], bool]:
    def typed(_: Any, state: Any, source: Any, target: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            state_type, source_type, target_type = signature.args
            held = _data(context, builder, state_type, args[0])
            places = []
            for arg, arg_type in ((args[1], source_type), (args[2], target_type)):
                row = context.cast(builder, arg, arg_type, types.int64)
                index = builder.mul(row, ir.Constant(_I64, lanes))
                places.append(_vector_at(builder, held, index, lanes))
            added, count = (builder.load(place, align=8) for place in places)
            carry = builder.and_(added, count)
            builder.store(builder.xor(added, count), places[1], align=8)
            builder.store(carry, places[0], align=8)
            wide = ir.IntType(64 * lanes)
            return builder.icmp_unsigned("!=", builder.bitcast(carry, wide), wide(0))

        return types.boolean(state, source, target), generate

    return cast("Callable[[U64, int, int], bool]", intrinsic(typed))


def _lower_eight(_: Any, minima: Any, a: Any, b: Any, row: Any, hashes: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row = context.cast(builder, args[3], signature.args[3], types.int64)
        rows = [
            _vector_at(builder, _data(context, builder, kind, arg), row, ROWS, _I32)
            for kind, arg in zip(signature.args[:3], args[:3], strict=True)
        ]
        least, factors, summands = (builder.load(place, align=4) for place in rows)
        vector = ir.VectorType(_I32, ROWS)
        first = ir.Constant(ir.VectorType(_I32, ROWS), [0] * ROWS)
        for i in range(8):
            scalar = builder.extract_value(args[4], i)
            one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, _I32(0))
            every = builder.shuffle_vector(one, one, first)
            value = builder.add(builder.mul(factors, every), summands)
            least = builder.select(builder.icmp_unsigned("<", value, least), value, least)
        builder.store(least, rows[0], align=4)
        return context.get_dummy_value()

    return types.void(minima, a, b, row, hashes), generate


lower_eight = cast("Callable[[U32, U32, U32, int, tuple[U32, ...]], None]", intrinsic(_lower_eight))
"""(minima, a, b, row, hashes): take a[j] * h + b[j] modulo 2^32 of eight hashes h into minima[j]
for the ROWS rows j from `row` on; all arrays uint32 and contiguous."""

add_eight_by_2, add_eight_by_8 = _adder(2), _adder(8)
"""(words, tokens, at, column, state): add the words of eight tokens from `at` on.

words is uint64 (shingles, w), tokens uint32 (n,), both contiguous; columns `column` to
`column` + W - 1 are added to ones, twos and fours, and what overflows, each worth eight, is the
new carry (Harley-Seal, in Warren, Hacker's Delight, 5-1).
"""

ripple_by_2, ripple_by_8 = _rippler(2), _rippler(8)
"""(state, source, target): add row `source` to row `target`, keep in `source` what overflows,
and tell whether anything does."""
