"""Laws that every family obeys, run on all that the registry finds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers import registry
from indexers.atoms import prefix_values
from indexers.errors import SettingError
from indexers.kernels import threads
from indexers.types import Status, TableSize

ROOT = Path(__file__).parents[2]
TEXTS = st.lists(st.text("abcXY é中😀\x00.!", max_size=40), min_size=1, max_size=8)
HARD = ["\ud800 lone", "nul\x00byte", "😀" * 50, "中文文本指纹", "النص العربي", "!!!", "a", "\t\n "]


@pytest.fixture(params=registry.family_names(), scope="module")
def family(request):
    return registry.family(request.param)


def fingerprints(family, texts, tables=4, length=6, bits=128, seed=123):
    return family.hasher(TableSize(tables, length), bits=bits, seed=seed)(texts)


def same(a, b):
    return all(
        np.array_equal(x, y)
        for x, y in zip((a.status, a.codes, a.keys), (b.status, b.codes, b.keys), strict=True)
    )


def test_defaults_are_within_the_limits(family):
    assert 1 <= min(family.default_num_tables) <= max(family.default_num_tables)
    assert max(family.default_num_tables) <= family.max_num_tables
    assert max(family.default_hash_lengths) <= family.max_hash_length
    assert list(family.default_hash_lengths) == sorted(set(family.default_hash_lengths))
    assert family.default_bits % 64 == 0
    assert family.version >= 1


def test_shapes_and_dtypes(family):
    fp = fingerprints(family, ["one text", "another", ""])
    words = 1 if family.atom == "bit" else 6
    assert (fp.status.shape, fp.status.dtype) == ((3,), np.uint8)
    assert (fp.codes.shape, fp.codes.dtype) == ((3, 16), np.uint8)
    assert (fp.keys.shape, fp.keys.dtype) == ((4, words, 3), np.uint32)
    assert (fp.atom, fp.bits, len(fp)) == (family.atom, 128, 3)


def test_no_texts(family):
    fp = fingerprints(family, [])
    assert (len(fp), fp.codes.shape[1], fp.keys.shape[0]) == (0, 16, 4)


@settings(max_examples=20, deadline=None)
@given(texts=TEXTS, tables=st.integers(1, 8), length=st.integers(1, 8))
def test_smaller_sizes_are_prefixes(family, texts, tables, length):
    largest = fingerprints(family, texts, tables=8, length=8, bits=256)
    fp = fingerprints(family, texts, tables=tables, length=length, bits=64)
    for h in range(1, length + 1):
        np.testing.assert_array_equal(
            prefix_values(fp.keys, fp.atom, h), prefix_values(largest.keys, fp.atom, h)[:tables]
        )
    np.testing.assert_array_equal(fp.codes, largest.codes[:, :8])


@settings(max_examples=20, deadline=None)
@given(texts=TEXTS, cut=st.integers(0, 8))
def test_block_boundaries_and_order_do_not_matter(family, texts, cut):
    whole = fingerprints(family, texts)
    hasher = family.hasher(TableSize(4, 6), bits=128, seed=123)
    last, first = hasher(texts[cut:]), hasher(texts[:cut])
    rows = np.arange(len(texts))
    assert same(first, whole.take(rows[:cut]))
    assert same(last, whole.take(rows[cut:]))


def test_threads_do_not_matter(family, monkeypatch):
    texts = [f"text number {i} of {i % 7}" for i in range(300)]
    one = fingerprints(family, texts)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(5)))
    monkeypatch.setattr(threads, "SMALLEST", 1)
    assert same(fingerprints(family, texts), one)


SCRIPT = """
import json, sys
from indexers.registry import family
from indexers.types import TableSize
fp = family(sys.argv[1]).hasher(TableSize(4, 6), bits=128, seed=123)(json.loads(sys.argv[2]))
print(fp.codes.tobytes().hex() + fp.keys.tobytes().hex())
"""


def test_another_process_gives_the_same(family):
    texts = ["one text", "another text", "中文", ""]
    fp = fingerprints(family, texts)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, family.name, json.dumps(texts)],
        env={**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == fp.codes.tobytes().hex() + fp.keys.tobytes().hex()


def test_the_seed_matters(family):
    texts = ["some text to hash", "and some more of it"]
    assert not same(fingerprints(family, texts, seed=1), fingerprints(family, texts, seed=2))


def test_texts_equal_after_normalising_hash_alike(family):
    fp = fingerprints(family, ["Caf\u00e9  Noir", " cafe\u0301\tnoir\n"])
    assert same(fp.take(np.array([0])), fp.take(np.array([1])))


def test_hard_texts(family):
    fp = fingerprints(family, [*HARD, "word " * 200_000])
    assert fp.status.tolist() == [Status.OK] * 7 + [Status.EMPTY, Status.OK]
    assert not fp.codes[7].any()
    assert not fp.keys[:, :, 7].any()
    assert len({fp.keys[:, :, i].tobytes() for i in range(len(fp))}) == len(fp)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_tables", 0),
        ("num_tables", 10_000),
        ("hash_length", 0),
        ("hash_length", 1000),
        ("bits", 0),
        ("bits", 100),
        ("bits", 8192),
        ("seed", -1),
        ("seed", 2**32),
        ("shingle_size", 0),
        ("shingle_size", 8),
    ],
)
def test_values_out_of_range_are_refused(family, name, value):
    values = {"num_tables": 1, "hash_length": 1, "bits": 64, "seed": 1, "shingle_size": 3}
    values[name] = value
    size = TableSize(values.pop("num_tables"), values.pop("hash_length"))
    with pytest.raises(SettingError, match=rf"{family.name}: {name} {value} .* to \d+"):
        family.hasher(size, **values)


def test_all_values_out_of_range_are_listed(family):
    with pytest.raises(SettingError) as caught:
        family.hasher(TableSize(0, 0), bits=7, seed=-1, shingle_size=0)
    assert len(caught.value.problems) == 5
