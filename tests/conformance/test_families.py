"""Laws that every family obeys, run on all that the registry finds."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers import registry
from indexers.atoms import prefix_values
from indexers.errors import SettingError
from indexers.kernels import threads
from indexers.types import HashParams, Status, TableSize

ROOT = Path(__file__).parents[2]
D = 48
TEXTS = st.lists(st.text("abcXY é中😀\x00.!", max_size=40), min_size=1, max_size=8)
HARD = [
    "\ud800 lone",
    "nul\x00byte",
    "😀" * 50,
    "中文文本指纹",
    "النص العربي",
    "!!!",
    "a",
    "한국어 문장",
]
LONG = "the quick brown fox jumps over a lazy dog and runs into the deep green forest at night"
# a family that only tells membership has no fingerprints
NAMES = [name for name in registry.family_names() if registry.family(name).forms]
OF_TEXT = [name for name in NAMES if registry.family(name).source == "text"]
OF_VECTORS = [name for name in NAMES if registry.family(name).source == "vector"]
WITH_TABLES = [name for name in NAMES if "lsh" in registry.family(name).kinds]


@pytest.fixture(params=NAMES, scope="module")
def family(request):
    return registry.family(request.param)


def params_of(family, **values):
    dimension = D if family.source == "vector" else None
    return HashParams(
        **{"bits": 128 if dimension is None else 24, "seed": 123} | values, dimension=dimension
    )


def size_of(family):
    return TableSize(4, 6) if family.max_num_tables else TableSize(1, 1)


def items_of(family, count=6):
    """Texts, or vectors, of which the second equals the first."""
    if family.source == "vector":
        made = np.random.default_rng(7).standard_normal((count, D)).astype(np.float32)
        made[1] = made[0]
        return made
    made = [f"{LONG} number {i} of {i * i} things that differ {'x' * i}" for i in range(count)]
    made[1] = made[0]
    return made


def fingerprints(family, items, **values):
    return family.hasher(size_of(family), params_of(family, **values))(items)


def arrays(fp):
    made = [fp.status, fp.codes, fp.keys]
    made += [] if fp.signatures is None else [fp.signatures]
    made += [] if fp.vectors is None else [fp.vectors]
    for ragged in (fp.hashes, fp.strings):
        made += [] if ragged is None else [ragged.indptr, ragged.values]
    return made


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(arrays(a), arrays(b), strict=True))


def test_is_found_by_its_name(family):
    assert registry.family(family.name) is family
    assert family.version >= 1
    assert family.source in ("text", "vector")


def test_what_it_declares_fits_together(family):
    dimension = D if family.source == "vector" else None
    sweep = family.sweep(dimension)
    assert set(family.kinds) <= {"lsh", "multihash", "flat", "hnsw", "tokens"}
    assert ("bits" in family.forms) == (sweep.bits is not None) == ("code" in family.reranks)
    assert ("lsh" in family.kinds) == bool(sweep.num_tables) == bool(sweep.hash_lengths)
    assert ("tokens" in family.kinds) <= ("sequence" in family.forms)
    assert ("hnsw" in family.kinds) <= bool({"bits", "vector"} & set(family.forms))
    assert max(sweep.num_tables, default=0) <= family.max_num_tables
    assert max(sweep.hash_lengths, default=0) <= family.max_hash_length
    assert list(sweep.hash_lengths) == sorted(set(sweep.hash_lengths))
    for rerank in set(family.reranks) - {"code", "signature"}:
        assert registry.fitting_form(family.name, rerank) is not None


def test_its_defaults_are_served(family):
    dimension = D if family.source == "vector" else None
    sweep = family.sweep(dimension)
    params = params_of(family, bits=sweep.bits or 64)
    for tables in sweep.num_tables or (1,):
        for length in sweep.hash_lengths or (1,):
            family.check(TableSize(tables, length), params)


def test_shapes_and_dtypes(family):
    fp = fingerprints(family, items_of(family, 3))
    tables, words = (0, 0) if not family.max_num_tables else (4, 6 if fp.atom == "row" else 1)
    assert (fp.status.shape, fp.status.dtype) == ((3,), np.uint8)
    assert fp.codes.dtype == np.uint8
    assert fp.bits == (params_of(family).bits if "bits" in family.forms else 0)
    assert (fp.keys.shape, fp.keys.dtype) == ((tables, words, 3), np.uint32)
    assert (fp.atom, len(fp)) == (family.atom, 3)
    assert set(fp.forms) == set(family.forms) - {"signature"}
    assert fp.status.tolist() == [Status.OK] * 3
    if fp.hashes is not None:
        assert (fp.hashes.values.dtype, len(fp.hashes)) == (np.uint64, 3)
    if fp.strings is not None:
        assert (fp.strings.values.dtype, len(fp.strings)) == (np.uint8, 3)
    if fp.vectors is not None:
        assert (fp.vectors.dtype, fp.vectors.shape) == (np.float32, (3, D))
        np.testing.assert_allclose(np.linalg.norm(fp.vectors, axis=1), 1, rtol=1e-6)


def test_nothing_to_hash(family):
    fp = fingerprints(family, items_of(family)[:0])
    assert len(fp) == 0
    assert set(fp.forms) == set(family.forms) - {"signature"}


@pytest.mark.parametrize("name", WITH_TABLES)
@settings(max_examples=15, deadline=None)
@given(tables=st.integers(1, 8), length=st.integers(1, 8))
def test_smaller_sizes_are_prefixes(name, tables, length):
    family = registry.family(name)
    divisors = [t for t in (1, 2, 4, 6, 8) if t >= tables]
    tables = tables if family.nested else divisors[0]
    most = 8 if family.nested else tables
    items, params = items_of(family), params_of(family)
    largest = family.hasher(TableSize(most, 8), params)(items)
    fp = family.hasher(TableSize(tables, length), params)(items)
    for h in range(1, length + 1):
        np.testing.assert_array_equal(
            prefix_values(fp.keys, fp.atom, h), prefix_values(largest.keys, fp.atom, h)[:tables]
        )
    np.testing.assert_array_equal(fp.codes, largest.codes)


def test_block_boundaries_and_order_do_not_matter(family):
    items = items_of(family)
    whole = fingerprints(family, items)
    rows = np.arange(len(items))
    for cut in (0, 1, 4):
        hasher = family.hasher(size_of(family), params_of(family))
        last, first = hasher(items[cut:]), hasher(items[:cut])
        assert same(first, whole.take(rows[:cut]))
        assert same(last, whole.take(rows[cut:]))


def test_threads_do_not_matter(family, monkeypatch):
    items = items_of(family, 300)
    one = fingerprints(family, items)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(5)))
    monkeypatch.setattr(threads, "SMALLEST", 1)
    assert same(fingerprints(family, items), one)


SCRIPT = """
import hashlib, json, sys
import numpy as np
from indexers.registry import family
from indexers.types import HashParams, TableSize
made = family(sys.argv[1])
items, params = json.loads(sys.argv[2]), HashParams(**json.loads(sys.argv[3]))
items = np.array(items, np.float32) if made.source == "vector" else items
fp = made.hasher(TableSize(*json.loads(sys.argv[4])), params)(items)
ragged = [r.values for r in (fp.hashes, fp.strings) if r is not None]
vectors = [] if fp.vectors is None else [fp.vectors]
whole = b"".join(a.tobytes() for a in [fp.status, fp.codes, fp.keys, *ragged, *vectors])
print(hashlib.sha256(whole).hexdigest())
"""


def test_another_process_gives_the_same(family):
    items = items_of(family)
    params, size = params_of(family), size_of(family)
    args = [
        json.dumps(items if family.source == "text" else items.tolist()),
        json.dumps({"bits": params.bits, "seed": 123, "dimension": params.dimension}),
        json.dumps([size.num_tables, size.hash_length]),
    ]
    told = []
    for hash_seed in ("0", "77"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, family.name, *args],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(done.stdout)
    assert told[0] == told[1] != ""


def test_the_seed_matters(family):
    if "vector" in family.forms or "string" in family.forms or family.name == "bihash":
        pytest.skip("what it compares has no seed")
    items = items_of(family)
    assert not same(fingerprints(family, items, seed=1), fingerprints(family, items, seed=2))


def test_equal_items_hash_alike_and_different_ones_do_not(family):
    fp = fingerprints(family, items_of(family))
    first, second, third = (fp.take(np.array([i])) for i in range(3))
    assert same(first, second)
    assert not same(first, third)


@pytest.mark.parametrize("name", OF_TEXT)
def test_texts_equal_after_normalising_hash_alike(name):
    family = registry.family(name)
    fp = fingerprints(family, [f"Caf\u00e9  Noir {LONG}", f" cafe\u0301\tnoir\n{LONG}"])
    assert same(fp.take(np.array([0])), fp.take(np.array([1])))


@pytest.mark.parametrize("name", OF_TEXT)
@pytest.mark.parametrize("unit", ["char", "word"])
def test_hard_texts(name, unit):
    family = registry.family(name)
    texts = [*HARD, "\t\n ", "", "word " * 200_000, "a" * 20_000, LONG]
    fp = fingerprints(family, texts, unit=unit)
    blank = len(HARD)
    assert fp.status[blank] == fp.status[blank + 1] == Status.EMPTY
    assert fp.status[-1] == Status.OK
    assert not fp.codes[blank : blank + 2].any()
    assert not fp.keys[:, :, blank : blank + 2].any()
    ok = np.flatnonzero(fp.status == Status.OK)
    assert len(
        {b"".join(a.tobytes() for a in arrays(fp.take(ok[i : i + 1]))) for i in range(len(ok))}
    ) == len(ok)


@pytest.mark.parametrize("name", OF_TEXT)
@settings(max_examples=15, deadline=None)
@given(texts=TEXTS)
def test_any_texts(name, texts):
    fp = fingerprints(registry.family(name), texts)
    assert len(fp) == len(texts)
    assert set(fp.status.tolist()) <= set(map(int, Status))


@pytest.mark.parametrize("name", OF_VECTORS)
def test_hard_vectors(name):
    family = registry.family(name)
    good = items_of(family)
    zero = good.copy()
    zero[2] = 0
    fp = fingerprints(family, zero)
    assert fp.status.tolist() == [0, 0, Status.EMPTY, 0, 0, 0]
    for value in (np.nan, np.inf):
        bad = good.copy()
        bad[3, 5] = value
        with pytest.raises(SettingError, match="3"):
            fingerprints(family, bad)
    with pytest.raises(SettingError, match=rf"{D}"):
        fingerprints(family, good[:, :-1])
    with pytest.raises(SettingError):
        fingerprints(family, good[0])


@pytest.mark.parametrize("name", OF_VECTORS)
def test_the_length_of_a_vector_does_not_matter(name):
    family = registry.family(name)
    items = items_of(family)
    long, short = fingerprints(family, items * 1024), fingerprints(family, items / 1024)
    assert same(long, short)


def refused(family, name, value):
    values = {"num_tables": 1, "hash_length": 1}
    size = TableSize(**values | ({name: value} if name in values else {}))
    given = {} if name in values else {name: value}
    with pytest.raises(SettingError) as caught:
        family.hasher(size, replace(params_of(family), **given))
    return caught.value.problems


@pytest.mark.parametrize(("name", "value"), [("seed", -1), ("seed", 2**32)])
def test_seeds_out_of_range_are_refused(family, name, value):
    assert any(f"{family.name}: {name} {value}" in line for line in refused(family, name, value))


@pytest.mark.parametrize("of", WITH_TABLES)
@pytest.mark.parametrize(
    ("name", "value"),
    [("num_tables", 0), ("num_tables", 10_000), ("hash_length", 0), ("hash_length", 1000)],
)
def test_sizes_out_of_range_are_refused(of, name, value):
    assert any(
        f"{of}: {name} {value}" in line for line in refused(registry.family(of), name, value)
    )


@pytest.mark.parametrize("of", [n for n in NAMES if "bits" in registry.family(n).forms])
@pytest.mark.parametrize("value", [0, -8, 100, 8192 + 8])
def test_bits_out_of_range_are_refused(of, value):
    assert any(
        f"{of}: bits {value}" in line for line in refused(registry.family(of), "bits", value)
    )


@pytest.mark.parametrize("of", OF_TEXT)
@pytest.mark.parametrize(
    ("name", "value"),
    [("shingle_size", 0), ("shingle_size", 8), ("window", 0), ("unit", "line"), ("weighting", "x")],
)
def test_features_out_of_range_are_refused(of, name, value):
    assert any(
        name in line and str(value) in line for line in refused(registry.family(of), name, value)
    )


@pytest.mark.parametrize("of", OF_VECTORS)
def test_vectors_without_a_dimension_are_refused(of):
    assert any("dimension" in line for line in refused(registry.family(of), "dimension", None))


def test_all_values_out_of_range_are_listed(family):
    params = replace(params_of(family), seed=-1, bits=7, shingle_size=0)
    with pytest.raises(SettingError) as caught:
        family.hasher(TableSize(0, 0), params)
    wanted = 1 + 2 * bool(family.max_num_tables) + ("bits" in family.forms)
    wanted += family.source == "text"
    assert len(caught.value.problems) == wanted


@pytest.mark.parametrize("name", [n for n in OF_TEXT if "unit" in registry.family(n).reads])
def test_characters_but_no_word_are_too_short_and_nothing_is_empty(name):
    texts = ["!!!", "\u3000… –", "", " \t\u3000", LONG]
    fp = fingerprints(registry.family(name), texts, unit="word")
    wanted = [Status.TOO_SHORT, Status.TOO_SHORT, Status.EMPTY, Status.EMPTY, Status.OK]
    assert fp.status.tolist() == wanted


def test_a_finite_code_is_read_whole_by_every_table():
    assert [n for n in NAMES if registry.family(n).finite] == ["bihash", "flyhash"]
    for name, bits in (("bihash", 24), ("flyhash", 64)):
        family = registry.family(name)
        fp = family.hasher(TableSize(3, bits), params_of(family, bits=bits))(items_of(family))
        ones = np.bitwise_count(fp.codes).sum(axis=1)
        np.testing.assert_array_equal(np.bitwise_count(fp.keys).sum(axis=1), [ones] * 3)


@pytest.mark.parametrize("name", [n for n in OF_TEXT if "weighting" in registry.family(n).reads])
def test_a_hasher_tells_what_it_learnt(name):
    family, items = registry.family(name), items_of(registry.family(name))

    def learnt(*blocks, weighting="idf"):
        hasher = family.hasher(size_of(family), params_of(family, weighting=weighting))
        for block in blocks:
            hasher.learn(block)
        hasher(["what comes later is not learnt"])
        return hasher.learnt()

    assert learnt(items) == learnt(items[:2], items[2:]) != ""
    assert len({learnt(), learnt(items), learnt(items[:4]), learnt(items, items)}) == 4
    assert learnt(items, weighting="tf") == ""


def test_what_has_no_weights_learns_nothing(family):
    assert family.hasher(size_of(family), params_of(family)).learnt() == ""


LIGHT = """
import sys
import indexers.families.{0}
assert "numba" not in sys.modules
"""


@pytest.mark.parametrize("name", OF_VECTORS)
def test_families_of_vectors_load_no_compiler(name):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", LIGHT.format(name)], env=env, check=True)
