"""Digests against ssdeep's own and the library's, statuses, and n-grams."""

import json

import numpy as np
import ppdeep
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexers.families import fuzzyhash
from indexers.families.fuzzyhash import FAMILY
from indexers.kernels import ctph, threads
from indexers.normaliser import normalise
from indexers.types import HashParams, Status, TableSize

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15
SIZE = TableSize(1, 1)
WORDS = ["context", "triggered", "piecewise", "hashing", "matches", "inputs", "homologies"]
LENGTHS = [0, 1, 6, 7, 8, 63, 64, 65, 191, 192, 193, 384, 385, 4096]


def hashed(texts, *, seed=123, n=3):
    return FAMILY.hasher(SIZE, HashParams(bits=0, seed=seed, shingle_size=n))(texts)


def strings(fp):
    return [fp.strings.take(np.array([i])).values.tobytes().decode("ascii") for i in range(len(fp))]


def digest(data):
    row = np.empty(ctph.WIDEST, np.uint8)
    return row[: ctph.digest(np.frombuffer(bytearray(data), np.uint8), row)].tobytes().decode()


def made_texts(count, words=40):
    source = np.random.default_rng(11)
    return [" ".join(source.choice(WORDS, words)) + f" {i}" for i in range(count)]


def repeats(data):
    period = data.find(data[:64], 1)
    return 0 < 8 * period <= len(data) and data[period:] == data[:-period]


def judged(text):
    """Status and digest as they are defined, by the library and sets."""
    data = normalise(text).encode("utf-8", "surrogatepass")
    if not data:
        return Status.EMPTY, ""
    found = ppdeep.hash(data)
    _, first, second = found.split(":")
    grams = {first[at : at + 3] for at in range(len(first) - 2)}
    tells = len(set(first)) >= 4 and 2 * len(grams) >= len(first) - 2
    if second and tells and not repeats(data):
        return Status.OK, found
    return Status.TOO_SHORT if len(data) < 32 else Status.LOW_ENTROPY, ""


def same_as_defined(texts):
    fp = hashed(texts)
    found = list(zip(fp.status.tolist(), strings(fp), strict=True))
    assert found == [judged(text) for text in texts]
    return fp


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # printed in the documentation of ssdeep's bindings for Python and Rust
        (
            "Also called fuzzy hashes, Ctph can match inputs that have homologies.",
            "3:AXGBicFlgVNhBGcL6wCrFQEv:AXGHsNhxLsr2C",
        ),
        (
            "Also called fuzzy hashes, CTPH can match inputs that have homologies.",
            "3:AXGBicFlIHBGcL6wCrFQEv:AXGH6xLsr2C",
        ),
        ("Hello there!", "3:aNRn:aNRn"),
        ("Hello, World!\n", "3:aaX8v:aV"),
        ("", "3::"),
    ],
)
def test_digests_are_those_of_ssdeep(text, expected):
    assert digest(text.encode()) == expected


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_digests_of_any_bytes(data):
    assert digest(data) == ppdeep.hash(data)


@settings(max_examples=150, deadline=None)
@given(
    length=st.sampled_from(LENGTHS),
    seed=st.integers(0, 2**32),
    values=st.sampled_from([1, 2, 4, 26, 256]),
    lowest=st.sampled_from([0, 97]),
    period=st.one_of(st.none(), st.integers(1, 300)),
    nulls=st.sampled_from([0, 1, 7, 8, 100]),
)
def test_digests_of_random_and_repeated_bytes(length, seed, values, lowest, period, nulls):
    drawn = np.random.default_rng(seed).integers(0, values, min(period or length, length))
    data = np.resize((drawn + lowest).astype(np.uint8), length).tobytes() + bytes(nulls)
    assert digest(data) == ppdeep.hash(data)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("piece", [b"\x00", b"\xff", b"a", b"ab", b"abcdefg", b"abcdefgh"])
def test_digests_of_one_piece_again_and_again(length, piece):
    data = (piece * length)[:length]
    assert digest(data) == ppdeep.hash(data)


@pytest.mark.parametrize("values", [3, 16, 256])
def test_digests_of_a_megabyte(values):
    data = np.random.default_rng(5).integers(0, values, 1_000_000).astype(np.uint8).tobytes()
    assert digest(data) == ppdeep.hash(data)


@pytest.mark.parametrize("nulls", [0, 7])  # after seven the rolling hash is 0
def test_pieces_beyond_those_that_fit_are_one(nulls):
    data = np.random.default_rng(5).integers(0, 256, 192 - nulls).astype(np.uint8).tobytes()
    data += bytes(nulls)
    assert [len(part) for part in digest(data).split(":")] == [1, 64, 32]
    assert digest(data) == ppdeep.hash(data)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.binary(min_size=1, max_size=12),
        st.binary(min_size=60, max_size=90),
        st.builds(lambda n: b"a" * n + b"b", st.integers(50, 80)),
    ),
    st.sampled_from([1, 2, 7, 8, 9, 30]),
    st.integers(-2, 2),
    st.sampled_from([b"", b"x"]),
)
def test_periods(piece, times, more, end):
    data = (piece * (times + 2))[: max(times * len(piece) + more, 0)] + end
    assert ctph.periodic(np.frombuffer(bytearray(data), np.uint8)) == repeats(data)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("abXé中😀 .\x00\t\x1c\x85\ud800", max_size=200), max_size=4))
def test_texts_are_judged_as_defined(texts):
    same_as_defined(texts)


@settings(max_examples=60, deadline=None)
@given(
    st.text("aBc dé\n", min_size=1, max_size=90),
    st.integers(1, 20),
    st.sampled_from(["", "a", " b"]),
)
def test_texts_that_repeat_are_judged_as_defined(piece, times, end):
    same_as_defined([piece * times + end, (piece * times)[: -len(piece) // 2] + end])


def test_ascii_is_normalised_as_any_text():
    characters = "".join(map(chr, range(128)))
    for before in ("", " ", "A\t\x1c "):
        same_as_defined([before + characters, characters[::-1] + before, before])


@pytest.mark.parametrize(
    ("corpus", "field"), [("csfcube", "text"), ("scifact", "text"), ("debian-neardup", "text")]
)
def test_real_texts(data_dir, corpus, field):
    with (data_dir(corpus) / "corpus.jsonl").open(encoding="utf-8") as lines:
        texts = [json.loads(line)[field] for line, _ in zip(lines, range(300), strict=False)]
    assert (same_as_defined(texts).status == Status.OK).mean() > 0.9


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


@pytest.mark.parametrize(("n", "seed"), [(1, 0), (3, 123), (7, 2**32 - 1)])
def test_hashes_follow_the_formula(n, seed):
    fp = hashed(made_texts(3), seed=seed, n=n)
    for i, string in enumerate(strings(fp)):
        size, *parts = string.split(":")
        expected = []
        for part, block in zip(parts, (int(size), 2 * int(size)), strict=True):
            start = mix(mix(seed + GAMMA & MASK) + block * GAMMA & MASK)
            grams = [part[at : at + n] for at in range(max(len(part) - n + 1, 1))]
            spelt = (int.from_bytes(gram.encode("ascii"), "big") for gram in grams)
            expected += [mix(start + value & MASK) for value in spelt]
        assert fp.hashes.take(np.array([i])).values.tolist() == expected


def test_parts_meet_where_their_block_sizes_do():
    # the second part of the shorter text and the first of the longer have one block size
    source = np.random.default_rng(1)
    longer = " ".join(f"{value:x}" for value in source.integers(0, 2**32, 160))
    fp = hashed([longer[:700], longer])
    assert [string.split(":")[0] for string in strings(fp)] == ["12", "24"]
    first, second = (set(fp.hashes.take(np.array([i])).values.tolist()) for i in range(2))
    assert first & second


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", Status.EMPTY),
        (" \t\n", Status.EMPTY),
        ("a", Status.TOO_SHORT),
        ("!!!", Status.TOO_SHORT),
        ("\x00" * 20, Status.TOO_SHORT),
        ("\x00" * 1_000_000, Status.LOW_ENTROPY),
        ("a" * 20_000, Status.LOW_ENTROPY),
        ("a" * 20_000 + "b", Status.LOW_ENTROPY),
        ("lorem ipsum dolor sit amet " * 500, Status.LOW_ENTROPY),
        ("word " * 200_000, Status.LOW_ENTROPY),
        ("😀" * 50, Status.LOW_ENTROPY),
        ("the quick brown fox jumps over a lazy dog", Status.OK),
        ("中文文本指纹 한국어 문장 النص العربي", Status.OK),
        ("\ud800 lone surrogates are hashed too", Status.OK),
    ],
)
def test_statuses(text, status):
    fp = hashed([text])
    assert Status(fp.status[0]) is status
    assert bool(len(fp.strings.values)) == bool(len(fp.hashes.values)) == (status is Status.OK)


def test_a_text_of_a_megabyte():
    source = np.random.default_rng(2)
    text = " ".join(f"{value:x}" for value in source.integers(0, 2**32, 50_000))
    text = (text * 3)[:1_000_000]
    assert hashed([text]).status.tolist() == [Status.OK]


def test_status_values_are_those_of_all_families():
    told = (ctph.OK, ctph.EMPTY, ctph.TOO_SHORT, ctph.LOW_ENTROPY)
    assert told == (Status.OK, Status.EMPTY, Status.TOO_SHORT, Status.LOW_ENTROPY)


def test_no_texts():
    fp = hashed([])
    assert (len(fp), len(fp.strings), len(fp.hashes)) == (0, 0, 0)


@pytest.mark.parametrize("count", [1, 2, 3, 20])
def test_threads_and_neighbours_do_not_matter(monkeypatch, count):
    texts = [*made_texts(count), "", "\x00", "é中\n" * 50, " A \ud800 lone surrogate, and more"]
    alone = [strings(hashed([text]))[0] for text in texts]
    assert strings(hashed(texts)) == alone
    monkeypatch.setattr(fuzzyhash, "SMALLEST_BYTES", 1)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(3)))
    fp = hashed(texts)
    assert strings(fp) == alone
    assert fp.status.tolist() == [judged(text)[0] for text in texts]
